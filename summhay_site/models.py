"""The tables of the site: users, which `accounts` defines, heartbeats of workers, and what was last done when."""

from __future__ import annotations

from django.db import models

from summhay_site.accounts.models import User, validate_time_zone

__all__ = ["LastTime", "User", "WorkerHeartbeat", "validate_time_zone"]


class WorkerHeartbeat(models.Model):
    name = models.CharField(max_length=200, unique=True)
    at = models.DateTimeField()
    queues = models.JSONField(default=list, help_text="Names of the queues that it takes work from.")
    ahead_s = models.FloatField(
        default=0, db_default=0, help_text="How far its clock is ahead of the database's, in seconds."
    )

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.name} {self.at:%Y-%m-%d %H:%M:%S}"


class LastTime(models.Model):
    """When something was last done that is done at most so often: a backup, a mail about a problem."""

    name = models.CharField(max_length=200, unique=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} {self.at:%Y-%m-%d %H:%M:%S}"
