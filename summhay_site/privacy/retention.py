"""What the site lets go of after the days that settings give; figures and disputes stay as they are.

Each `Part` has a setting `RETAIN_…_DAYS`; without it nothing goes. The audit log keeps how much went, and
nothing of what it was.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import LabelTask, Membership, PackedRows, Session, Study, TurnedAway
from annotation.writing import packing
from benchmarks.audit import record
from benchmarks.models import AuditEvent
from summhay_site.accounts.models import ANNOTATOR, User
from summhay_site.operations.erasing import FORMER, leave_no_trace, make_nameless

LET_GO = "data.let_go"
GONE = "gone-"
"""How the ids of people begin whose ids went."""


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of thing that goes: what is due at a time, and letting go of one row of it at another."""

    name: str
    words: str
    setting: str
    due: Callable[[datetime], QuerySet[Any]]
    let_go: Callable[[Any, datetime], Any]

    @property
    def days(self) -> int:
        """After how many days it goes; 0 means that it stays."""
        days: int = getattr(settings, self.setting)
        return days

    def rows(self, now: datetime) -> QuerySet[Any]:
        """What is due now."""
        rows = self.due(now - timedelta(days=self.days))
        return rows.order_by("pk") if self.days else rows.none()


def due(*, now: datetime) -> list[tuple[Part, int]]:
    """How much of each part would go now."""
    return [(part, part.rows(now).count()) for part in PARTS]


def let_go(*, now: datetime) -> dict[str, int]:
    """Let go of all that is due, row by row; gives how much of what went. Twice does no harm."""
    went: dict[str, int] = {}
    for part in PARTS:
        for pk in list(part.rows(now).values_list("pk", flat=True)):
            row = part.rows(now).filter(pk=pk).first()  # somebody may have come back meanwhile
            if row is not None:
                part.let_go(row, now)
                went[part.name] = went.get(part.name, 0) + 1
    if went:
        record(actor=None, action=LET_GO, target=None, now=now, **went)
        leave_no_trace()
    return went


def _details(before: datetime) -> QuerySet[Any]:
    return AuditEvent.objects.filter(at__lt=before).exclude(detail={}).exclude(action=LET_GO)


def _empty_details(row: AuditEvent, _now: datetime) -> None:
    AuditEvent.objects.filter(pk=row.pk).update(detail={})


def _events(before: datetime) -> QuerySet[Any]:
    packed = PackedRows.objects.filter(table=PackedRows.Table.EVENTS, n_rows__gt=0)
    return packed.filter(session__ended_at__lt=before)


def _searches(before: datetime) -> QuerySet[Any]:
    return _events(before).filter(search_words_gone_at=None)


def _turned_away(before: datetime) -> QuerySet[Any]:
    return TurnedAway.objects.filter(at__lt=before).exclude(panel_key__startswith=GONE)


def _forget_turned_away(row: TurnedAway, _now: datetime) -> None:
    row.panel_id = row.panel_key = f"{GONE}{secrets.token_hex(8)}"
    row.references = {}
    row.save(update_fields=["panel_id", "panel_key", "references"])


def _inactive(before: datetime) -> QuerySet[Any]:
    """Annotators who neither logged in nor worked since, and are in no study that is open."""
    of_person = {"annotator__user": OuterRef("pk")}
    at_work = (
        Membership.objects.filter(**of_person, left_at=None, study__state=Study.State.OPEN),
        LabelTask.objects.filter(**of_person, last_seen_at__gte=before),
        Session.objects.filter(**of_person, last_seen_at__gte=before),
    )
    people: QuerySet[Any] = User.objects.filter(
        Q(last_login=None) | Q(last_login__lt=before), date_joined__lt=before
    )
    people = people.filter(groups__name=ANNOTATOR, is_staff=False, is_superuser=False)
    people = people.exclude(
        Exists(User.groups.through.objects.filter(user=OuterRef("pk")).exclude(group__name=ANNOTATOR))
    )
    for rows in at_work:
        people = people.exclude(Exists(rows))
    return people.exclude(username__startswith=FORMER, name="", email="")


PARTS = (
    Part("audit_details", "details in the audit log", "RETAIN_AUDIT_DETAILS_DAYS", _details, _empty_details),
    Part(
        "search_words",
        "writing sessions whose search words go",
        "RETAIN_SEARCH_WORDS_DAYS",
        _searches,
        lambda row, now: packing.forget_search_words(pack_id=row.pk, now=now),
    ),
    Part(
        "session_events",
        "writing sessions whose events go, but for pastes and copies",
        "RETAIN_SESSION_EVENTS_DAYS",
        _events,
        lambda row, _now: packing.forget_events(pack_id=row.pk),
    ),
    Part(
        "turned_away",
        "people of a panel for whom there was no place",
        "RETAIN_TURNED_AWAY_DAYS",
        _turned_away,
        _forget_turned_away,
    ),
    Part(
        "inactive",
        "annotators whose name and address go",
        "RETAIN_INACTIVE_DAYS",
        _inactive,
        lambda row, now: make_nameless(user=row, now=now),
    ),
)
