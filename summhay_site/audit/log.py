"""Queries of the audit log, for its page and its download."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import orjson
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchmarks.models import AuditEvent

FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(9000, 1, 1)
"""Later or earlier days are ignored: in some time zones their midnight is out of range."""
COLUMNS = ("at", "who", "action", "object_type", "object_uid", "object_name", "detail")


@dataclass(frozen=True)
class Wanted:
    """Which events to show; an empty field does not filter. Days are in the time zone of the reader."""

    action: str = ""
    actor: str = ""
    object: str = ""
    since: date | None = None
    until: date | None = None


def read_actions() -> list[str]:
    """All actions that the log holds, sorted."""
    return list(AuditEvent.objects.order_by("action").values_list("action", flat=True).distinct())


def read_events(wanted: Wanted) -> QuerySet[Any]:
    """Events with their actors, the newest first."""
    rows = AuditEvent.objects.select_related("actor")
    if wanted.action:
        rows = rows.filter(action=wanted.action)
    if wanted.actor:
        rows = rows.filter(actor__username__iexact=wanted.actor)
    if wanted.object:
        rows = rows.filter(Q(object_name__icontains=wanted.object) | Q(object_uid=wanted.object))
    if wanted.since and wanted.since > FIRST_DAY:
        rows = rows.filter(at__gte=_midnight(wanted.since))
    if wanted.until and wanted.until < LAST_DAY:
        rows = rows.filter(at__lt=_midnight(wanted.until + timedelta(days=1)))
    return rows


def table(rows: QuerySet[Any]) -> Iterator[tuple[str, ...]]:
    """The rows of the download, in `COLUMNS`; times are UTC, details JSON."""
    for event in rows.iterator(chunk_size=500):
        yield (
            event.at.isoformat(),
            event.actor.get_username() if event.actor else "",
            event.action,
            event.object_type,
            event.object_uid,
            event.object_name,
            orjson.dumps(event.detail).decode(),
        )


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
