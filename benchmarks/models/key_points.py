"""Answers of judges on key points: the two judgments that annotators give, and AutoDS scores. Append-only."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from benchmarks.models.judging import Judge, JudgeRun
from benchmarks.models.querysets import JudgedQuerySet
from benchmarks.models.questions import KeyPoint
from benchmarks.states import Grounded, Keyness, PointJudgment


class KeyPointVerdict(models.Model):
    """A judge's answer to one of the two judgments of verification; an empty one could not be used."""

    Judgment = PointJudgment

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="key_point_verdicts")
    key_point = models.ForeignKey(KeyPoint, on_delete=models.CASCADE, related_name="judgments")
    judgment = models.CharField(max_length=9, choices=Judgment)
    repeat = models.PositiveSmallIntegerField(default=0)
    answer = models.CharField(max_length=8, blank=True, help_text="Empty: invalid answer.")
    is_valid = models.BooleanField(default=True)
    input_sha256 = models.CharField(max_length=64, blank=True, help_text="Hash of what was judged.")
    run = models.ForeignKey(
        JudgeRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="key_point_verdicts"
    )
    call = models.ForeignKey(
        "benchmarks.JudgeCall", null=True, blank=True, on_delete=models.SET_NULL, related_name="key_point_verdicts"
    )
    raw: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    SEEN_BY = "key_point"
    objects = JudgedQuerySet.as_manager()

    class Meta:
        ordering = ["key_point", "judge", "judgment"]
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "key_point", "judgment", "repeat"], name="keypointverdict_unique"
            ),
            models.CheckConstraint(
                condition=Q(judgment=PointJudgment.GROUNDED.value, answer__in=Grounded.values)
                | Q(judgment=PointJudgment.KEY_POINT.value, answer__in=Keyness.values)
                | Q(judgment__in=PointJudgment.values, answer="", is_valid=False),
                name="keypointverdict_answer_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id}: {self.judgment} {self.answer or 'invalid'}"


class AutodsScore(models.Model):
    """How far a judge prefers yes to no when asked whether a point is key; the newest repeat counts.

    Without a value it has bounds, where one of the two answers was listed, or neither.
    """

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="autods_scores")
    key_point = models.ForeignKey(KeyPoint, on_delete=models.CASCADE, related_name="autods_scores")
    repeat = models.PositiveSmallIntegerField(default=0)
    value = models.FloatField(null=True, blank=True)
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    input_sha256 = models.CharField(max_length=64, blank=True, help_text="Hash of what was asked.")
    run = models.ForeignKey(
        JudgeRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="autods_scores"
    )
    call = models.ForeignKey(
        "benchmarks.JudgeCall", null=True, blank=True, on_delete=models.SET_NULL, related_name="autods_scores"
    )
    created_at = models.DateTimeField()

    SEEN_BY = "key_point"
    objects = JudgedQuerySet.as_manager()

    class Meta:
        ordering = ["key_point", "judge", "repeat"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "key_point", "repeat"], name="autodsscore_unique"),
            models.CheckConstraint(
                condition=Q(value=None) | Q(value__gte=0, value__lte=1), name="autodsscore_is_share"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id}: {self.value}"
