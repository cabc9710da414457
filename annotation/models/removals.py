"""Removals that a person asked for: who, when and how much, never any content."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.studies import Annotator, Study
from annotation.states import RemovalMode


class Removal(models.Model):
    """A person was erased, and their work deleted or made anonymous. `annotator` is empty for other accounts.

    The same is in a file of the machine and beside each backup, so that it can be done again after an older backup
    is restored.
    """

    Mode = RemovalMode

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    annotator = models.ForeignKey(
        Annotator, null=True, blank=True, on_delete=models.PROTECT, related_name="removals"
    )
    account = models.UUIDField(null=True, blank=True, editable=False, help_text="The identifier of the account.")
    mode = models.CharField(max_length=9, choices=Mode)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(mode__in=RemovalMode.values), name="removal_mode_known"),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.mode}"


class RemovedWork(models.Model):
    """How many of one thing a removal took out of a study; without a study for practice."""

    removal = models.ForeignKey(Removal, on_delete=models.CASCADE, related_name="work")
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="removed_work")
    what = models.CharField(max_length=20)
    n = models.PositiveIntegerField()

    class Meta:
        ordering = ["removal", "study", "what"]
        constraints = [
            models.UniqueConstraint(fields=["removal", "study", "what"], name="removedwork_once"),
            models.CheckConstraint(condition=Q(n__gte=1), name="removedwork_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.what}: {self.n}"
