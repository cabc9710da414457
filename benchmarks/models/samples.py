"""Samples of sources: some of each of several datasets, drawn by seed and then fixed."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from benchmarks.access.sight import FencedQuerySet
from benchmarks.models.corpora import Haystack
from benchmarks.models.groups import group_field
from benchmarks.states import SampleRule


class SourceSample(models.Model):
    """Sources drawn by seed, `parts` says how many of each dataset; until it is drawn it has no members.

    With the rule *late* only such are drawn whose reference follows no sentence before a word (`from_word`), as
    MiddleSum does. A `problem` says why it could not be drawn.
    """

    Rule = SampleRule

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=80, unique=True)
    rule = models.CharField(max_length=4, choices=Rule, default=Rule.ANY)
    from_word = models.PositiveIntegerField(default=0)
    seed = models.PositiveIntegerField(default=0)
    parts: models.JSONField[Any, Any] = models.JSONField(default=dict)
    members: models.ManyToManyField[Haystack, Any] = models.ManyToManyField(
        Haystack, blank=True, related_name="samples"
    )
    problem = models.TextField(blank=True)
    drawn_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField()

    group = group_field()

    SEEN_BY = ("group", "members")
    objects: ClassVar[models.Manager[SourceSample]] = FencedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(rule__in=SampleRule.values), name="sourcesample_rule_known"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def n_wanted(self) -> int:
        """How many sources it asks for."""
        return sum(self.parts.values())
