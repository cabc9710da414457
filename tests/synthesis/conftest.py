"""The model server that tests of syntheses ask over real HTTP; nothing is collected where the extension is off."""

from __future__ import annotations

from django.conf import settings

from tests.benchmarks.conftest import server

__all__ = ["server"]
collect_ignore_glob = [] if "synthesis" in settings.EXTENSIONS else ["*.py"]
