"""Verdicts of judges on responses and key points, and their ratings of summaries; append-only.

A judge takes a response apart into points, gives the two judgments on key points that annotators give, and AutoDS
scores. Ratings run from 1 to 5, a row for each aspect.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from benchmarks.access.sight import FencedQuerySet
from benchmarks.models.calls import JudgeCall
from benchmarks.models.groups import account_field, kept_without
from benchmarks.models.judging import Judge, JudgeRun
from benchmarks.models.querysets import JudgedQuerySet
from benchmarks.models.questions import KeyPoint, Response
from benchmarks.models.summaries import Summary
from benchmarks.scoring.keypoints import ENTAILMENTS
from benchmarks.scoring.likert import HIGHEST, LOWEST
from benchmarks.states import Grounded, Keyness, PointJudgment, PointPremise


class Extraction(models.Model):
    """A judge has taken a response apart into points, perhaps none."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="extractions")
    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="extractions")
    is_valid = models.BooleanField(default=True)
    input_sha256 = models.CharField(max_length=64, blank=True)
    run = kept_without(JudgeRun, "extractions")
    call = kept_without(JudgeCall, "extractions")
    raw: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    SEEN_BY = "response"
    objects: ClassVar[models.Manager[Extraction]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["response", "judge"]
        constraints = [models.UniqueConstraint(fields=["judge", "response"], name="extraction_once")]

    def __str__(self) -> str:
        return f"{self.response_id} by {self.judge_id}"


class ResponsePoint(models.Model):
    """One point that a response makes, as extracted; people can check it, nobody edits it."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    extraction = models.ForeignKey(Extraction, on_delete=models.CASCADE, related_name="points")
    number = models.PositiveIntegerField()
    text = models.TextField()

    SEEN_BY = "extraction"
    objects: ClassVar[models.Manager[ResponsePoint]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["extraction", "number"]
        constraints = [
            models.UniqueConstraint(fields=["extraction", "number"], name="responsepoint_number_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="responsepoint_number_from_1"),
        ]

    def __str__(self) -> str:
        return self.text if len(self.text) <= 120 else self.text[:119] + "…"


class ResponsePointCheck(models.Model):
    """Somebody read a point beside its response: does the response say it? The newest of each person counts."""

    point = models.ForeignKey(ResponsePoint, on_delete=models.CASCADE, related_name="checks")
    is_right = models.BooleanField()
    note = models.TextField(blank=True)
    made_by = account_field()
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["point", "pk"]

    def __str__(self) -> str:
        return f"{self.point_id}: {self.is_right}"


class PointVerdict(models.Model):
    """A judge's answer on one point; append-only.

    `premise` names the text that does or does not say it: the response (a key point: recall), or the documents or
    the key points of the question (a point of the response: precision). `score` is the judge's own measure.
    """

    Premise = PointPremise

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="point_verdicts")
    premise = models.CharField(max_length=10, choices=Premise)
    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="point_verdicts")
    key_point = models.ForeignKey(
        KeyPoint, null=True, blank=True, on_delete=models.CASCADE, related_name="verdicts"
    )
    point = models.ForeignKey(
        ResponsePoint, null=True, blank=True, on_delete=models.CASCADE, related_name="verdicts"
    )
    repeat = models.PositiveSmallIntegerField(default=0)
    answer = models.CharField(
        max_length=7,
        choices=[(answer, answer) for answer in ENTAILMENTS],
        blank=True,
        help_text="Empty: invalid answer.",
    )
    score = models.FloatField(null=True, blank=True)
    is_valid = models.BooleanField(default=True)
    is_imported = models.BooleanField(default=False)
    input_sha256 = models.CharField(max_length=64, blank=True, help_text="Hash of what was judged.")
    run = kept_without(JudgeRun, "point_verdicts")
    call = kept_without(JudgeCall, "point_verdicts")
    raw: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    SEEN_BY = "response"
    objects: ClassVar[models.Manager[PointVerdict]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["response", "key_point", "judge"]
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "response", "key_point", "repeat"],
                condition=Q(premise=PointPremise.RESPONSE.value),
                name="pointverdict_recall_unique",
            ),
            models.UniqueConstraint(
                fields=["judge", "premise", "point", "repeat"],
                condition=~Q(premise=PointPremise.RESPONSE.value),
                name="pointverdict_support_unique",
            ),
            models.CheckConstraint(
                condition=Q(premise=PointPremise.RESPONSE.value, key_point__isnull=False, point=None)
                | Q(
                    premise__in=[PointPremise.DOCUMENTS.value, PointPremise.KEY_POINTS.value],
                    key_point=None,
                    point__isnull=False,
                ),
                name="pointverdict_point_fits_premise",
            ),
            models.CheckConstraint(
                condition=Q(answer__in=list(ENTAILMENTS)) | Q(answer="", is_valid=False),
                name="pointverdict_answer_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id}: {self.answer or 'invalid'}"


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
    run = kept_without(JudgeRun, "key_point_verdicts")
    call = kept_without(JudgeCall, "key_point_verdicts")
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
    run = kept_without(JudgeRun, "autods_scores")
    call = kept_without(JudgeCall, "autods_scores")
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


class SummaryRating(models.Model):
    """A judge's rating of a summary on one aspect; without a value its answer could not be used."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="ratings")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="ratings")
    aspect = models.CharField(max_length=15)
    repeat = models.PositiveSmallIntegerField(default=0)
    value = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Empty: invalid answer.")
    is_valid = models.BooleanField(default=True)
    input_sha256 = models.CharField(max_length=64, blank=True, help_text="Hash of what was rated.")
    run = kept_without(JudgeRun, "ratings")
    call = kept_without(JudgeCall, "ratings")
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
