"""The app of corpora, summaries, judges and scores."""

from __future__ import annotations

from django.apps import AppConfig

from benchmarks.web.forms import use_own_words

use_own_words()  # not in `ready`: forms of other apps may be loaded before it


class BenchmarksConfig(AppConfig):
    """Corpora, summaries, judges and scores."""

    name = "benchmarks"

    def ready(self) -> None:
        """Make the formats of import known."""
        from benchmarks.io import formats, haystacks, questions, sources

        formats.register(haystacks.SUMMHAY)
        formats.register(questions.LONG2RAG)
        formats.register(sources.SOURCES)
        formats.register(sources.SOURCE_SCORES)
