"""Research groups, whose corpora, studies and results somebody sees, keys to rows that may go, the audit log."""

from __future__ import annotations

import uuid
from typing import Any, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from benchmarks.access.sight import FencedQuerySet, Sight

Row = TypeVar("Row", bound=models.Model)


def kept_without(to: type[Row], name: str = "+", **more: Any) -> models.ForeignKey[Row | None, Row | None]:
    """A row that this one outlives, and is null then; `name` is that of the way back."""
    field: Any = models.ForeignKey(to, null=True, blank=True, on_delete=models.SET_NULL, related_name=name, **more)
    return field  # type: ignore[no-any-return]


def account_field() -> Any:
    """Somebody's account; null once it is gone, and where a command did it."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )


class ResearchGroupQuerySet(FencedQuerySet[Any]):
    def current(self) -> ResearchGroupQuerySet:
        """Leave out what was archived."""
        return self.filter(archived_at=None)


class ResearchGroup(models.Model):
    """Researchers and annotators who share what belongs to it; what belongs to no group is the whole site's."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=80)
    members: models.ManyToManyField[Any, Any] = models.ManyToManyField(
        settings.AUTH_USER_MODEL, related_name="research_groups", blank=True
    )
    created_by = account_field()
    created_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True, blank=True)

    objects = ResearchGroupQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(Lower("name"), name="researchgroup_name_unique_in_any_case"),
            models.CheckConstraint(condition=~Q(name=""), name="researchgroup_has_name"),
        ]

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def SEEN_BY(sight: Sight) -> Q:
        return Q(pk__in=sight.groups)


def group_field(related_name: str = "+") -> Any:
    """The research group that something belongs to; null is the whole site.

    Groups are archived, never deleted, so that nothing changes hands by a deletion.
    """
    return models.ForeignKey(
        ResearchGroup, null=True, blank=True, on_delete=models.PROTECT, related_name=related_name
    )


class AuditEvent(models.Model):
    """One act of a person that others may want to trace; append-only."""

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
