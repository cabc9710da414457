"""Approvals of judges that researchers recorded: what a judge may stand in for, and on what that stands."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.studies import Study
from benchmarks.models import Judge
from benchmarks.scoring.approval import Verdict


class ApprovalQuerySet(models.QuerySet["JudgeApproval"]):
    def of_judges(self, judges: Any) -> ApprovalQuerySet:
        """Those of these judges and of other versions of them, the newest first, with judge and study."""
        names = Judge.objects.filter(pk__in=judges).order_by().values("name")
        approvals = self.filter(judge__name__in=names).select_related("judge", "study")
        return approvals.order_by("-made_at", "-pk")


class JudgeApproval(models.Model):
    """A judge's approval on the labels of a `study`, or of a `dataset` in all studies, as somebody recorded it.

    Append-only: a new one of the same judge and labels takes the place of the old one. `scope` is what it holds
    for (`annotation.approvals.computing`), `figures` what it stands on, as `report approval --json` has it;
    they go, and the approval expires, where labels that it stands on are removed.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="approvals")
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="approvals")
    dataset = models.CharField(max_length=300, blank=True)
    absolute = models.CharField(max_length=15, choices=[(verdict.value, verdict.value) for verdict in Verdict])
    ranking = models.CharField(max_length=15, choices=[(verdict.value, verdict.value) for verdict in Verdict])
    scope: models.JSONField[Any, Any] = models.JSONField(default=dict)
    figures: models.JSONField[Any, Any] = models.JSONField(default=dict)
    data_version = models.CharField(max_length=12)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField()
    labels_removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[Any] = ApprovalQuerySet.as_manager()

    class Meta:
        ordering = ["-made_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(study__isnull=False, dataset="") | Q(study__isnull=True) & ~Q(dataset=""),
                name="judgeapproval_of_a_study_or_a_dataset",
            ),
            models.CheckConstraint(
                condition=Q(absolute__in=list(Verdict), ranking__in=list(Verdict)),
                name="judgeapproval_verdicts_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge}: {self.absolute}, {self.ranking}"
