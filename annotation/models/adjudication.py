"""Decisions of researchers where people disagree. A separate record: labels stay, and agreement never sees it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.studies import Study
from benchmarks.models import Insight, Summary
from benchmarks.scoring.summhay import COVERED, Coverage


class Adjudication(models.Model):
    """Who decided, when and why; `was_blind` says that names and judges were hidden when it was made.

    Append-only: a new decision supersedes the old one. The current ones are the gold set of the study.
    """

    note = models.TextField(blank=True)
    was_blind = models.BooleanField(default=False)
    is_current = models.BooleanField(default=True)
    supersedes = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField()

    class Meta:
        abstract = True
        ordering = ["study", "pk"]


class CoverageAdjudication(Adjudication):
    """The decided coverage of an insight by a summary, in a study, with the covering lines, counted from 1."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="coverage_adjudications")
    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="adjudications")
    insight = models.ForeignKey(Insight, on_delete=models.PROTECT, related_name="adjudications")
    coverage = models.CharField(max_length=7)
    lines: models.JSONField[Any, Any] = models.JSONField(default=list)
    is_linked = models.BooleanField()

    class Meta(Adjudication.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["study", "summary", "insight"],
                condition=Q(is_current=True),
                name="coverageadjudication_one_current",
            ),
            models.CheckConstraint(
                condition=Q(coverage=Coverage.NONE.value, is_linked=False)
                | Q(coverage__in=list(COVERED), is_linked=True),
                name="coverageadjudication_covered_iff_linked",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.summary_id}/{self.insight_id}: {self.coverage}"
