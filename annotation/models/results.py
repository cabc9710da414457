"""Findings about finished texts, approvals of judges that researchers recorded, results that anybody may read."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, ClassVar

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.html import escape

from annotation.models.sessions import Snapshot
from annotation.models.studies import Study
from benchmarks.models import Judge
from benchmarks.models.groups import account_field
from benchmarks.scoring.approval import Verdict


class CopyCheck(models.Model):
    """How much of a final text stands in the shown documents, per bullet; a prompt for review."""

    snapshot = models.OneToOneField(Snapshot, on_delete=models.CASCADE, related_name="copy_check")
    lines: models.JSONField[Any, Any] = models.JSONField(
        default=list, help_text="Per bullet: line, containment, alignment (0–100), document, is_flagged."
    )
    n_flagged = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["snapshot"]

    def __str__(self) -> str:
        return f"{self.snapshot_id}: {self.n_flagged} flagged"


class GrowthCheck(models.Model):
    """Saves of a finished text that brought more words than were typed in the time; a prompt for review."""

    snapshot = models.OneToOneField(Snapshot, on_delete=models.CASCADE, related_name="growth_check")
    jumps: models.JSONField[Any, Any] = models.JSONField(
        default=list, help_text="Per save: rev, active_ms, n_words, seconds, per_second, source, is_flagged …"
    )
    n_flagged = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["snapshot"]

    def __str__(self) -> str:
        return f"{self.snapshot_id}: {self.n_flagged} flagged"


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
    made_by = account_field()
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


class PublicationQuerySet(models.QuerySet["Publication"]):
    def live(self) -> PublicationQuerySet:
        """Those that anybody may read."""
        return self.filter(revoked_at=None, made_by__is_active=True)

    def take_back(self, now: datetime) -> int:
        """Let nobody read them any more, and keep nothing of what they showed; how many there were."""
        return self.filter(revoked_at=None).update(revoked_at=now, fixed="", fixed_chart="")

    def forget(self, annotator: Any, *, now: datetime, with_work: bool = False) -> None:
        """Take back fixed ones that name a person or, once the work has gone, show figures of it."""
        shown = Q(fixed__contains=escape(annotator.label))
        if with_work:
            shown |= Q(study__memberships__annotator=annotator)
        self.filter(pk__in=self.exclude(fixed="").filter(shown).values("pk")).take_back(now)


class Publication(models.Model):
    """The first look at the results of a study, or at the leaderboard where there is none, as `made_by` sees them.

    `query` holds their conditions as an address does. A publication that does not follow the data shows `fixed`,
    the HTML of what was published, and `fixed_chart`, that of its chart.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    address = models.CharField(
        max_length=60,
        unique=True,
        validators=[
            RegexValidator(r"^[a-z0-9][a-z0-9-]{2,}\Z", "Three or more small letters, digits or hyphens.")
        ],
    )
    title = models.CharField(max_length=200)
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="publications")
    query = models.CharField(max_length=2000, blank=True)
    shows_names = models.BooleanField(default=False)
    shows_card = models.BooleanField(default=False, db_default=False)
    shows_pay = models.BooleanField(default=False, db_default=False)
    is_indexed = models.BooleanField(default=False)
    follows = models.BooleanField(default=True)
    fixed = models.TextField(blank=True)
    fixed_chart = models.TextField(blank=True)
    data_version = models.CharField(max_length=12, blank=True)
    made_by = account_field()
    made_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[PublicationQuerySet] = PublicationQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-made_at"]

    def __str__(self) -> str:
        return self.title
