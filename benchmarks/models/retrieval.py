"""Retrievers that were run on a haystack, and what servers answered them. Scores are `RetrieverRanking` rows."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings as django_settings
from django.db import models
from django.db.models import F, Q

from benchmarks.access.sight import FencedQuerySet
from benchmarks.models.corpora import Haystack
from benchmarks.states import RetrievalState


class Retrieval(models.Model):
    """A retriever with its settings on one haystack: one row, however often it is run.

    `n_done` and `n_total` count subtopics, `n_requests` what a server was sent since it was last asked for, tries
    that failed included, `max_requests` at most; `message` says why it failed.
    """

    State = RetrievalState

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    haystack = models.ForeignKey(Haystack, on_delete=models.CASCADE, related_name="retrievals")
    retriever = models.CharField(max_length=120)
    version = models.CharField(max_length=12, help_text="Hash of the retriever, its revision and its settings.")
    settings: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    n_done = models.PositiveIntegerField(default=0)
    n_total = models.PositiveIntegerField(default=0)
    n_requests = models.PositiveIntegerField(default=0)
    max_requests = models.PositiveIntegerField(null=True, blank=True)
    message = models.TextField(blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    SEEN_BY = "haystack"
    objects: ClassVar[models.Manager[Retrieval]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["haystack", "retriever", "created_at"]
        constraints = [
            models.UniqueConstraint(fields=["haystack", "retriever", "version"], name="retrieval_version_unique"),
            models.CheckConstraint(
                condition=Q(state__in=RetrievalState.values),
                name="retrieval_state_known",
            ),
            models.CheckConstraint(
                condition=Q(max_requests=None) | Q(n_requests__lte=F("max_requests")), name="retrieval_keeps_limit"
            ),
            models.CheckConstraint(condition=Q(n_done__lte=F("n_total")), name="retrieval_done_of_total"),
        ]

    def __str__(self) -> str:
        return f"{self.retriever}@{self.version}"


class RetrieverAnswer(models.Model):
    """A server's answer about a text, or a query and a document, by the hash of what was asked."""

    key = models.CharField(max_length=64, unique=True)
    content = models.BinaryField(help_text="Little-endian numbers.")

    def __str__(self) -> str:
        return self.key
