"""The tables of the site: users, which `accounts` defines, and the heartbeat of the workers."""

from __future__ import annotations

from django.db import models

from summhay_site.accounts.models import User, validate_time_zone

__all__ = ["User", "WorkerHeartbeat", "validate_time_zone"]


class WorkerHeartbeat(models.Model):
    """The last heartbeat of each worker."""

    name = models.CharField(max_length=200, unique=True)
    at = models.DateTimeField()
    queues = models.JSONField(default=list, help_text="Names of the queues that it takes work from.")

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.name} {self.at:%Y-%m-%d %H:%M:%S}"
