"""The admin of corpora, summaries, judges and calls: to look at. What may change, changes on the pages."""

from __future__ import annotations

from benchmarks.web.readonly import register_tables

register_tables("benchmarks")
