"""Findings of the server about a finished text, for review by researchers; never a reason by itself."""

from __future__ import annotations

from typing import Any

from django.db import models

from annotation.models.sessions import Snapshot


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
