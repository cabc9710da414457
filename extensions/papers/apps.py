"""The papers: their tables beside ours, folders to submit with one's own, and methods sections of archives."""

from __future__ import annotations

from django.apps import AppConfig


class PapersConfig(AppConfig):
    """Reproducing papers, and writing them."""

    name = "extensions.papers"

    def ready(self) -> None:
        """Write the methods sections."""
        from annotation.exports import archive
        from extensions.papers.methods import InWords

        archive.register(InWords())
