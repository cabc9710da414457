"""Servers that tests of syntheses ask over real HTTP; nothing is collected where the extension is off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.conf import settings as site

if TYPE_CHECKING:
    from tests.synthesis.scripted_questions import SearchServer

collect_ignore_glob = [] if "synthesis" in site.EXTENSIONS else ["*.py"]


@pytest.fixture
def engine(settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[SearchServer]:
    """A search server that the settings list, asked again without a wait."""
    from extensions.synthesis import collecting
    from tests.synthesis.scripted_questions import searching

    monkeypatch.setattr(collecting, "BACKOFF_S", 0.0)
    with searching() as search_server:
        settings.SEARCH_URLS = [search_server.address]
        yield search_server
