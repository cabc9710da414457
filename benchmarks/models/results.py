"""Results: the figures of one scope, as a worker computed them."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.db import models
from django.db.models import Q


class Result(models.Model):
    """The figures that one computation gave for its options, and the state of the next attempt.

    `name`, `options` and `groups` say what is computed, `key` is their hash. `version` is a digest of all that the
    stored figures were made of, empty before the first; `wanted` is the version that was asked for last. Where
    they differ the figures are stale, and either a worker is to compute them or it failed on that version
    (`failed`) for a `reason`.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=60)
    options: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    groups: models.JSONField[Any, Any] = models.JSONField(
        null=True,
        blank=True,
        help_text="The research groups, by primary key, in whose sight it is computed; empty: the whole site.",
    )
    key = models.CharField(max_length=64, unique=True)
    wanted = models.CharField(max_length=64)
    version = models.CharField(max_length=64, blank=True)
    failed = models.CharField(max_length=64, blank=True)
    reason = models.TextField(blank=True)
    figures = models.BinaryField(null=True, blank=True, help_text="JSON, compressed with zlib.")
    computed_at = models.DateTimeField(null=True, blank=True)
    took = models.DurationField(default=timedelta)
    memory = models.PositiveIntegerField(default=0, help_text="The most that its worker took until then, in MiB.")
    program = models.CharField(max_length=40, blank=True, help_text="The version of the program that computed it.")
    asked_at = models.DateTimeField()
    checked_at = models.DateTimeField(help_text="When the facts were last looked at.")
    looked_at = models.DateTimeField(db_index=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(max_length=32, blank=True)

    class Meta:
        ordering = ["-asked_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(figures=None, version="", computed_at=None)
                | (Q(figures__isnull=False, computed_at__isnull=False) & ~Q(version="")),
                name="result_figures_have_version",
            ),
            models.CheckConstraint(condition=~Q(reason="") | Q(failed=""), name="result_failure_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.key[:8]}"

    @property
    def is_fresh(self) -> bool:
        """Whether the figures are of the version that was asked for last."""
        return self.version == self.wanted

    @property
    def has_failed(self) -> bool:
        """Whether the version that was asked for last could not be computed."""
        return not self.is_fresh and self.failed == self.wanted
