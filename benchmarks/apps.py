"""The app of corpora, summaries, judges and scores."""

from __future__ import annotations

from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    """Corpora, summaries, judges and scores."""

    name = "benchmarks"
