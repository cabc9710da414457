"""Ratings of summaries by judges, from 1 to 5, a row for each aspect; append-only, as verdicts are."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from benchmarks.models.judging import Judge, JudgeRun
from benchmarks.models.querysets import JudgedQuerySet
from benchmarks.models.summaries import Summary
from benchmarks.scoring.likert import HIGHEST, LOWEST


class SummaryRating(models.Model):
    """A judge's rating of a summary on one aspect; without a value its answer could not be used."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="ratings")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="ratings")
    aspect = models.CharField(max_length=15)
    repeat = models.PositiveSmallIntegerField(default=0)
    value = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Empty: invalid answer.")
    is_valid = models.BooleanField(default=True)
    input_sha256 = models.CharField(max_length=64, blank=True, help_text="Hash of what was rated.")
    run = models.ForeignKey(JudgeRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="ratings")
    call = models.ForeignKey(
        "benchmarks.JudgeCall", null=True, blank=True, on_delete=models.SET_NULL, related_name="ratings"
    )
    raw: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    SEEN_BY = "summary"
    objects = JudgedQuerySet.as_manager()

    class Meta:
        ordering = ["summary", "judge", "aspect"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "summary", "aspect", "repeat"], name="summaryrating_unique"),
            models.CheckConstraint(condition=~Q(aspect=""), name="summaryrating_aspect_named"),
            models.CheckConstraint(
                condition=Q(is_valid=True, value__isnull=False, value__gte=LOWEST, value__lte=HIGHEST)
                | Q(is_valid=False, value=None),
                name="summaryrating_value_iff_valid",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id}: {self.aspect} {self.value or 'invalid'}"
