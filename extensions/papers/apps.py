"""The papers: their tables beside ours, folders to submit with one's own, and methods sections of archives."""

from __future__ import annotations

from django.apps import AppConfig


class PapersConfig(AppConfig):
    name = "extensions.papers"

    def ready(self) -> None:
        from annotation.exports import archive
        from extensions.papers.methods import InWords

        archive.register(InWords())
