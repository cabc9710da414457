"""The tables of the site: users, which `accounts` defines, their tokens and webhooks, and signs of workers."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from summhay_site.accounts.models import User, validate_time_zone

__all__ = ["Delivery", "LastTime", "Token", "User", "Webhook", "WorkerHeartbeat", "validate_time_zone"]


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


class TokenQuerySet(models.QuerySet["Token"]):
    """Tokens by what they still open."""

    def live(self, now: datetime) -> TokenQuerySet:
        """Those that open what their person may read."""
        return self.filter(Q(ends_at=None) | Q(ends_at__gt=now), revoked_at=None, user__is_active=True)


class Token(models.Model):
    """Lets a program read what a person may read, or have summaries scored; only its hash is stored."""

    class Scope(models.TextChoices):
        READ = "read", "Read"
        SCORE = "score", "Score summaries"

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.READ)
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="In US dollars, of each judge."
    )
    sha256 = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[TokenQuerySet] = TokenQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["-made_at"]
        constraints = [models.CheckConstraint(condition=Q(scope__in=["read", "score"]), name="token_scope_known")]

    def __str__(self) -> str:
        return self.name


class Webhook(models.Model):
    """An address that is told of events that its person may see; what is due is looked for from `seen_at` on."""

    class Event(models.TextChoices):
        STUDY_CLOSED = "study.closed", "A study closes"
        FIGURES_CHANGED = "figures.changed", "Figures of a study change"
        RUN_ENDED = "run.ended", "A run ends"

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    events: models.JSONField[Any, Any] = models.JSONField(default=list)
    made_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["-made_at"]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """An event on its way to a webhook; `next_at` says when it is tried again, null when that is over."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=20)
    key = models.CharField(max_length=100, help_text="What makes an event one and the same.")
    body = models.TextField()
    made_at = models.DateTimeField()
    next_at = models.DateTimeField(null=True, blank=True, db_index=True)
    n_tries = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField(max_length=200, blank=True, help_text="Of the last try.")
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-made_at", "-pk"]
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["webhook", "key"], name="delivery_once")]

    def __str__(self) -> str:
        return f"{self.event} {self.made_at:%Y-%m-%d %H:%M}"
