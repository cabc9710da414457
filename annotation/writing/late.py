"""Text that reached the server after the end of a session: kept complete, shown, never scored by itself.

The final snapshot stays what it is. A researcher may accept a late text, with a reason: it is then a second final
text with a name of its own, which enters figures only where somebody asks for it.
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse

from annotation import clock
from annotation.clock import Reason
from annotation.kinds import Waiting
from annotation.models import ActivePeriod, DraftRevision, LateDecision, Session, Study, TypedText
from annotation.studies.amounts import in_figures
from annotation.writing import packing
from annotation.writing.drafting import SessionClosed
from annotation.writing.locking import SCORING_TASK, LockedSession, locked
from annotation.writing.settling import Unchanged
from benchmarks import audit
from benchmarks.engine.wakeup import enqueue
from benchmarks.scoring.text import lines_from_text


class NotDecidable(Unchanged):
    """There is no such late text, or the session has not ended by itself: a decision has nothing to stand on."""

    def __init__(self) -> None:
        super().__init__("Only a text that arrived after the end of a session that counts can be decided on.")


@dataclass(frozen=True)
class LateText:
    """A text that came after the end, and what became of it; `n_new` counts words that the final text lacks."""

    revision: DraftRevision
    final_text: str
    is_accepted: bool
    decision: LateDecision | None

    @property
    def n_new(self) -> int:
        return new_words(self.final_text, self.revision.text)

    @property
    def is_declined(self) -> bool:
        """Whether the newest word on it is a no."""
        return self.decision is not None and not self.decision.is_accepted

    @property
    def n_copied(self) -> int:
        """Lines that have much in common with the documents, once an accepted text was compared."""
        lines = self.decision.copied_lines if self.decision else None
        return sum(line["is_flagged"] for line in lines or ())

    @property
    def changes(self) -> list[Change]:
        return changes(self.final_text, self.revision.text)


def new_words(before: str, after: str) -> int:
    """How many words of `after` are not in `before`, without bullet marks and citations."""
    return (Counter(_words(after)) - Counter(_words(before))).total()


def _words(text: str) -> Iterable[str]:
    words = (word for line in lines_from_text(text) for word in line.plain.lower().split())
    return (word for word in words if any(sign.isalnum() for sign in word))


def late_texts(session: Session) -> list[LateText]:
    """The texts that came after the end and are not what the session ended with, the newest first; two queries."""
    return late_texts_of([session])[session.pk]


def late_texts_of(sessions: Collection[Session]) -> dict[int, list[LateText]]:
    """The same of several sessions, by primary key; two queries for all of them."""
    late: dict[int, list[DraftRevision]] = {session.pk: [] for session in sessions}
    for row in DraftRevision.objects.filter(session__in=late, reject_code=SessionClosed.code).order_by("-pk"):
        late[row.session_id].append(row)
    with_late = [session for session, texts in late.items() if texts]
    made = LateDecision.objects.filter(session__in=with_late).order_by("pk") if with_late else ()
    decisions = {decision.revision_id: decision for decision in made}
    return {
        session.pk: [
            LateText(
                revision=row,
                final_text=session.draft_text,
                is_accepted=row.pk == session.late_text_id,
                decision=decisions.get(row.pk),
            )
            for row in _told_apart(session, late[session.pk], decisions)
        ]
        for session in sessions
    }


def _told_apart(
    session: Session, rows: Iterable[DraftRevision], decisions: Collection[int]
) -> list[DraftRevision]:
    """One row for each text that the session did not end with: the one that was decided on, else the newest."""
    by_text: dict[str, DraftRevision] = {}
    for row in rows:
        text = _plain(row.text)
        kept = by_text.setdefault(text, row)
        if row.pk == session.late_text_id or (row.pk in decisions and kept.pk not in decisions):
            by_text[text] = row
    of_others = [row for text, row in by_text.items() if text not in ("", _plain(session.draft_text))]
    return sorted(of_others, key=lambda row: -row.pk)


def _plain(text: str) -> str:
    """The text without what two browsers may write differently at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


def accept(*, session: Session, op_id: str, by: Any, reason: str, now: datetime) -> LateDecision:
    """Make a late text the second final text of its session; the one accepted before gives way.

    NotDecidable while the session runs or was voided, or where no late text has this operation. Accepting what is
    accepted changes nothing.
    """
    with locked(session, now=now) as held:
        revision = _decidable(held, op_id)
        newest = LateDecision.objects.filter(revision=revision).order_by("-pk").first()
        if newest is not None and held.row.late_text_id == revision.pk:
            return newest
        held.put(late_text_id=revision.pk)
        decision = _record(held, revision, is_accepted=True, by=by, reason=reason)
        enqueue(SCORING_TASK)
    return decision


def decline(*, session: Session, op_id: str, by: Any, reason: str, now: datetime) -> LateDecision:
    """Leave a late text out, also one that was accepted; NotDecidable as for `accept`."""
    with locked(session, now=now) as held:
        revision = _decidable(held, op_id)
        if held.row.late_text_id == revision.pk:
            held.put(late_text_id=None)
        return _record(held, revision, is_accepted=False, by=by, reason=reason)


def _decidable(held: LockedSession, op_id: str) -> DraftRevision:
    held.settle()
    if held.state.state not in clock.HANDED_IN:
        raise NotDecidable
    late = DraftRevision.objects.filter(session=held.row.pk, op_id=op_id, reject_code=SessionClosed.code).first()
    if late is None:
        raise NotDecidable
    return late


def _record(
    held: LockedSession, revision: DraftRevision, *, is_accepted: bool, by: Any, reason: str
) -> LateDecision:
    verdict = "accepted" if is_accepted else "declined"
    audit.record(
        actor=by,
        action=f"session.late_text_{verdict}",
        target=held.row,
        now=held.now,
        reason=reason,
        sha256=revision.sha256,
        received_at=revision.received_at.isoformat(),
    )
    return LateDecision.objects.create(
        session_id=held.row.pk, revision=revision, is_accepted=is_accepted, reason=reason, by=by, at=held.now
    )


def waiting(studies: Mapping[int, Study]) -> list[Waiting]:
    """Sessions with a text that arrived after the end and that nobody has decided on. One leads to its page."""
    undecided = DraftRevision.objects.filter(
        ~Exists(LateDecision.objects.filter(revision=OuterRef("pk"))),
        session=OuterRef("pk"),
        reject_code=SessionClosed.code,
    ).exclude(text="")
    rows = Session.objects.filter(
        Exists(undecided), assignment__study__in=studies, state__in=clock.HANDED_IN
    ).select_related("assignment")
    open_in: dict[int, list[Session]] = defaultdict(list)
    sessions = {row.pk: row for row in rows}
    for pk, texts in late_texts_of(sessions.values()).items():
        if any(text.decision is None for text in texts):
            open_in[sessions[pk].assignment.study_id].append(sessions[pk])
    return [
        Waiting(
            in_figures(len(late), "late text to review", "late texts to review"),
            reverse("annotation:session-results", args=[late[0].uid])
            if len(late) == 1
            else reverse("annotation:study-results", args=[studies[pk].uid]) + "#sessions",
            studies[pk].name,
        )
        for pk, late in open_in.items()
    ]


# As typed


_TYPED = ("rev", "accepted", "reject_code", "active_ms", "typed_at", "received_at", "offline_ms", "text")


def note_typed(*, now: datetime, sessions: QuerySet[Session, Session] | None = None) -> int:
    """Find texts as typed of sessions that are over, or of these, and store them; gives of how many sessions."""
    over = (Session.objects.all() if sessions is None else sessions).filter(state__in=clock.OVER, as_typed_at=None)
    due = list(over.order_by("pk").values_list("pk", flat=True)[: packing.BATCH])
    for pk in due:
        with transaction.atomic():
            row = Session.objects.select_for_update(of=("self",)).get(pk=pk)
            TypedText.objects.filter(session=row).delete()
            TypedText.objects.bulk_create(_as_typed(row))
            Session.objects.filter(pk=pk).update(as_typed_at=now)
    return len(due)


def _as_typed(session: Session) -> Iterator[TypedText]:
    """Second versions of snapshots, by the times that browsers gave.

    A browser's clock is set later by the shortest time that a text of the session took to arrive while there was a
    connection, so that a slow one makes nothing earlier than it was.
    """
    rows = packing.rows_of(packing.Table.REVISIONS, [session.pk], _TYPED)
    texts = [row for row in rows if row["accepted"] or row["reject_code"] == SessionClosed.code]
    stamps = _stamps(texts, list(session.periods.all()), session.ended_at)
    for snapshot in session.snapshots.all():
        place = clock.typed_by(stamps, snapshot.mark_ms)
        row = texts[place] if place is not None else None
        if row and row["typed_at"] and row["text"] != snapshot.text:
            kept = {name: row[name] for name in ("rev", "typed_at", "received_at", "text")}
            yield TypedText(session=session, snapshot=snapshot, **kept)


def _stamps(
    texts: Sequence[Mapping[str, Any]], periods: Sequence[ActivePeriod], ended_at: datetime | None
) -> list[tuple[float, float]]:
    """Active times (ms) at which texts arrived and were typed; one typed after the end never was."""
    timed = [row for row in texts if row["accepted"] and row["typed_at"]]
    lags = [row["received_at"] - row["typed_at"] for row in timed if not row["offline_ms"]]
    lag = min(lags or [row["received_at"] - row["typed_at"] for row in timed], default=timedelta())
    stamps: list[tuple[float, float]] = []
    for row in texts:
        at = row["typed_at"] and row["typed_at"] + lag
        if row["accepted"] or (at and ended_at and at <= ended_at):
            typed: float = _active_at(Point("", row["active_ms"], "", at), periods)
        else:
            typed = math.inf
        stamps.append((row["active_ms"] if row["accepted"] else math.inf, typed))
    return stamps


# Timeline


class Mark(NamedTuple):
    """Something that happened at a point of active time."""

    lane: str
    per_mille: float
    label: str


class Pause(NamedTuple):
    """A stretch without the clock running, in wall-clock seconds; None while it goes on."""

    per_mille: float
    started_at: datetime
    seconds: int | None
    reason: str


class Timeline(NamedTuple):
    """Everything that is drawn; `end_per_mille` is the active time used."""

    end_per_mille: float
    pauses: Sequence[Pause]
    marks: Sequence[Mark]


class Point(NamedTuple):
    """An event, save or snapshot at a point of active time; `at` is when it happened, where that is known."""

    kind: str
    active_ms: int
    label: str
    at: datetime | None = None


def build(
    *,
    limit_ms: int,
    active_ms: int,
    periods: Sequence[ActivePeriod],
    points: Iterable[Point],
    is_paused: bool = False,
) -> Timeline:
    """Place everything on the axis of active time; with `is_paused` a pause goes on after the last period."""
    scale = max(limit_ms, active_ms, 1)

    def place(value: int) -> float:
        return round(1000 * value / scale, 2)

    pauses = []
    for before, after in itertools.pairwise(periods):
        if before.ended_at is not None and before.end_reason != Reason.CLOCK_SET:
            seconds = int((after.started_at - before.ended_at).total_seconds())
            pauses.append(Pause(place(after.acc_before_ms), before.ended_at, seconds, before.end_reason))
    if is_paused and periods and periods[-1].ended_at is not None:
        pauses.append(Pause(place(active_ms), periods[-1].ended_at, None, periods[-1].end_reason))
    marks = [Mark(_lane(point.kind), place(_active_at(point, periods)), point.label) for point in points]
    marks.sort(key=attrgetter("per_mille"))
    return Timeline(place(active_ms), pauses, marks)


def _active_at(point: Point, periods: Sequence[ActivePeriod]) -> int:
    """Active time (ms) when it happened; what the server noted at the receipt where only that is known."""
    if point.at is None:
        return point.active_ms
    active = 0
    for period in periods:
        if point.at < period.started_at:
            break
        until = point.at if period.ended_at is None else min(point.at, period.ended_at)
        active = period.acc_before_ms + (until - period.started_at) // timedelta(milliseconds=1)
    return min(active, point.active_ms)


def _lane(kind: str) -> str:
    if kind in {"save", "rejected", "snapshot", "search"}:
        return kind
    flags = {"paste", "paste_blocked", "copy", "cut", "drag", "clock_jump", "gap", "translated"}
    return "flag" if kind in flags else "event"


class Change(NamedTuple):
    """A stretch of text that stayed (`equal`), came (`insert`) or went (`delete`)."""

    kind: str
    text: str


def changes(before: str, after: str) -> list[Change]:
    """Changes between two texts, word by word."""
    old, new = (re.findall(r"\s+|[^\s]+", text) for text in (before, after))
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    head, tail = new[:start], new[len(new) - end :]
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    stretches = [("equal", head)]
    for kind, a_from, a_to, b_from, b_to in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            stretches.append(("equal", new[b_from:b_to]))
        else:
            stretches += [("delete", old[a_from:a_to]), ("insert", new[b_from:b_to])]
    return [Change(kind, "".join(words)) for kind, words in (*stretches, ("equal", tail)) if words]


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many words two texts begin with together; comparing only the rest keeps long texts quick."""
    pairs = zip(old, new, strict=False)
    return next((at for at, (first, other) in enumerate(pairs) if first != other), min(len(old), len(new)))
