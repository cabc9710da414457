"""The audit log: who did what to which object, append-only."""

from __future__ import annotations

from typing import Any

from django.db import models

from benchmarks.models.groups import account_field


class AuditEvent(models.Model):
    """One act of a person that others may want to trace."""

    at = models.DateTimeField(db_index=True)
    actor = account_field()
    action = models.CharField(max_length=60, db_index=True)
    object_type = models.CharField(max_length=60)
    object_uid = models.CharField(max_length=64, blank=True, db_index=True)
    object_name = models.CharField(max_length=200, blank=True)
    detail: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.action} {self.object_name or self.object_uid}"
