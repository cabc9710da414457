"""Named reads of corpora, summaries and verdicts."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Count


class HaystackQuerySet(models.QuerySet[Any]):
    """Reads of haystacks."""

    def current(self) -> HaystackQuerySet:
        """Leave out what was archived."""
        return self.filter(archived_at=None)

    def for_work(self) -> HaystackQuerySet:
        """Haystacks that a study may use: current, and not the practice corpus."""
        return self.current().filter(is_practice=False)

    def with_counts(self) -> HaystackQuerySet:
        """Add n_subtopics, n_insights and n_summaries."""
        rows: HaystackQuerySet = self.annotate(
            n_subtopics=Count("subtopics", distinct=True),
            n_insights=Count("subtopics__insights", distinct=True),
            n_summaries=Count("summaries", distinct=True),
        )
        return rows


class SubtopicQuerySet(models.QuerySet[Any]):
    """Reads of subtopics."""

    def with_counts(self) -> SubtopicQuerySet:
        """Add n_insights and n_summaries."""
        rows: SubtopicQuerySet = self.annotate(
            n_insights=Count("insights", distinct=True), n_summaries=Count("summaries", distinct=True)
        )
        return rows


class SummaryQuerySet(models.QuerySet[Any]):
    """Reads of summaries."""

    def of_systems(self) -> SummaryQuerySet:
        """Leave out the drafts and finals of writing sessions."""
        return self.exclude(origin="session")


class VerdictQuerySet(models.QuerySet[Any]):
    """Reads of verdicts."""

    def valid(self) -> VerdictQuerySet:
        """Leave out answers that could not be used; they are counted elsewhere."""
        return self.filter(is_valid=True)
