"""Verdicts of judges on responses and key points, and the points that a judge takes a response apart into."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from benchmarks.access.sight import FencedQuerySet
from benchmarks.models.judging import Judge, JudgeRun
from benchmarks.models.questions import KeyPoint, Response
from benchmarks.scoring.keypoints import ENTAILMENTS
from benchmarks.states import PointPremise


class Extraction(models.Model):
    """A judge has taken a response apart into points, perhaps none."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="extractions")
    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="extractions")
    is_valid = models.BooleanField(default=True)
    input_sha256 = models.CharField(max_length=64, blank=True)
    run = models.ForeignKey(JudgeRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="extractions")
    call = models.ForeignKey(
        "benchmarks.JudgeCall", null=True, blank=True, on_delete=models.SET_NULL, related_name="extractions"
    )
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
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
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
    run = models.ForeignKey(
        JudgeRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="point_verdicts"
    )
    call = models.ForeignKey(
        "benchmarks.JudgeCall", null=True, blank=True, on_delete=models.SET_NULL, related_name="point_verdicts"
    )
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
