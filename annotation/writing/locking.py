"""The stored clock: a session row under its lock, its state as `annotation.clock` wants it, and back again.

Every verb works inside `locked`, settles first, and has all changes of the row written in one UPDATE at the end.
Snapshots follow from the accepted revisions: whoever makes them, and whenever, makes the same ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation import clock
from annotation.clock import ClockState, Reason, Settlement, State
from annotation.models import ActivePeriod, Assignment, DraftRevision, Session, SessionEvent, Snapshot
from benchmarks.engine.wakeup import enqueue

WORTH_KEEPING_MS = 1_000
"""A difference smaller than this is the slow correction by which clocks are kept right."""
MACHINES = 8
"""At most so many are remembered."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Reading:
    """Of which start of which machine, and when that was by its present clock (ms since the epoch).

    The system counts the time since it was started, sleep included. The difference to wall-clock time stays the
    same until somebody, or a time server, sets the clock. Linux only; elsewhere nothing is known.
    """

    machine: str
    started_ms: int


@lru_cache(maxsize=1)
def _machine() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def reading() -> Reading | None:
    """The clock of this machine now; None where it cannot tell."""
    if not _machine() or not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    since = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return Reading(_machine(), (time.time_ns() - since) // 1_000_000)


def set_by_ms(known: dict[str, int] | None, read: Reading | None) -> int:
    """By how much this machine's clock was set since `known` was noted (ms); 0 where nothing is known of it."""
    if read is None or not known:
        return 0
    by_ms = read.started_ms - known.get(read.machine, read.started_ms)
    return by_ms if abs(by_ms) >= clock.JUMP_MS else 0


def kept(known: dict[str, int], read: Reading) -> dict[str, int] | None:
    """Readings of all machines with this one; None if it adds nothing worth keeping."""
    before = known.get(read.machine)
    if before is not None and abs(read.started_ms - before) < WORTH_KEEPING_MS:
        return None
    others = [(name, started) for name, started in known.items() if name != read.machine]
    return dict([*others[-MACHINES + 1 :], (read.machine, read.started_ms)])


SCORING_TASK = "annotation.tasks.score_snapshots"


class FilledBy(StrEnum):
    """Who came by first once a snapshot was due."""

    REQUEST = "request"
    WORKER = "worker"
    EXPORT = "export"


@dataclass(frozen=True, slots=True)
class _Stamp:
    """An accepted revision without its text."""

    pk: int
    active_ms: int


def materialise(
    *,
    session_id: int,
    marks: Sequence[int],
    final_ms: int | None,
    filled_by: FilledBy,
    now: datetime,
) -> int:
    """Store the snapshots at `marks` and, at the end, the final one; a snapshot that is there stays untouched.

    Call it under the lock of the session, with marks that active time is strictly past. Gives how many were due.
    """
    wanted = [*((mark, Snapshot.Kind.MARK) for mark in marks)]
    if final_ms is not None:
        wanted.append((final_ms, Snapshot.Kind.FINAL))
    if not wanted:
        return 0
    last_ms = max(mark for mark, _ in wanted)
    accepted = DraftRevision.objects.filter(session=session_id, accepted=True, active_ms__lte=last_ms)
    stamps = [_Stamp(*row) for row in accepted.order_by("rev").values_list("pk", "active_ms")]
    chosen = {mark: clock.snapshot_at(stamps, mark) for mark, _ in wanted}
    texts = dict(
        DraftRevision.objects.filter(pk__in={stamp.pk for stamp in chosen.values() if stamp}).values_list(
            "pk", "text"
        )
    )
    Snapshot.objects.bulk_create(
        [
            Snapshot(
                session_id=session_id,
                mark_ms=mark,
                kind=kind,
                revision_id=stamp.pk if stamp else None,
                text=texts[stamp.pk] if stamp else "",
                staleness_ms=mark - stamp.active_ms if stamp else None,
                filled_by=filled_by,
                created_at=now,
            )
            for mark, kind in wanted
            for stamp in [chosen[mark]]
        ],
        ignore_conflicts=True,
    )
    enqueue(SCORING_TASK)  # the table of snapshots is the outbox; a lost message is a delay until the next sweep
    return len(wanted)


LARGEST_MS = 2**31 - 1
SERVER_TAB = "@server"
"""No browser can call itself so: its identifiers have no such sign."""

UNUSED = ("config", "document_numbers", "notes_text", "read_documents", "marked_passages")
HEAVY = (*UNUSED, "draft_text")
"""Columns that the clock never needs."""


def _moment(ms: int | None) -> datetime | None:
    return None if ms is None else clock.from_ms(ms)


COLUMN = {
    "run_started_at_ms": "run_started_at",
    "clock_hwm_ms": "clock_hwm",
    "last_seen_ms": "last_seen_at",
    "started_at_ms": "started_at",
    "ended_at_ms": "ended_at",
}
STATE_FIELDS = tuple(each.name for each in fields(ClockState))


def changed_columns(before: ClockState, after: ClockState) -> dict[str, Any]:
    """The columns of `Session` that differ between two states."""
    changed: dict[str, Any] = {}
    for name in STATE_FIELDS:
        value = getattr(after, name)
        if value == getattr(before, name):
            continue
        column = COLUMN.get(name)
        changed[column or name] = _moment(value) if column else value.value if name == "state" else value
    return changed


@dataclass(frozen=True, slots=True)
class Lapse:
    """The pause that a session is in: who made it, and when its last period ended."""

    reason: str
    at_ms: int

    @property
    def is_lease(self) -> bool:
        """Whether the clock paused itself because the browser fell silent."""
        return self.reason == Reason.LEASE


@dataclass
class LockedSession:
    """One session while its row is locked; `row` has what the clock needs and the draft."""

    row: Session
    now: datetime
    filled_by: FilledBy
    before: ClockState
    state: ClockState
    now_ms: int
    columns: dict[str, Any] = field(default_factory=dict)
    _lapse: Lapse | None = None

    @property
    def at_ms(self) -> int:
        """The session's instant: `now`, or later if it has seen a later one."""
        return clock.advance(self.state, self.now_ms)

    @property
    def active_ms(self) -> int:
        return clock.active_ms(self.state, self.at_ms)

    def claimed(self, at_ms: int | None) -> datetime | None:
        """A moment by the browser's clock, moved into the time between the session's start and this message."""
        if at_ms is None:
            return None
        earliest = self.row.started_at or self.now
        return min(max(clock.from_ms(at_ms), earliest), self.now)

    def settle(self) -> Settlement:
        """Bring the clock to now and store what became due."""
        return self.take(clock.settle(self.state, self.now_ms))

    def touch(self) -> Settlement:
        """Settle, and note that the browser is there."""
        return self.take(clock.touch(self.state, self.now_ms))

    def take(self, done: Settlement) -> Settlement:
        """Store what a verb of the clock did: periods, snapshots, events now; columns at the end."""
        if done.closed:
            self._close(done.closed)
        if done.opened:
            self._open(done.opened)
        materialise(
            session_id=self.row.pk,
            marks=done.marks,
            final_ms=done.final_ms,
            filled_by=self.filled_by,
            now=self.now,
        )
        was_over, self.state = self.state.is_over, done.state
        if done.gap_ms:
            self.note("gap", ms=done.gap_ms, by="server")
        if done.stepped_back_ms:
            self.note("clock_jump", back_ms=done.stepped_back_ms)
        if done.state.is_over and not was_over and done.state.state != State.VOIDED:
            Assignment.objects.filter(pk=self.row.assignment_id).update(state=Assignment.State.DONE)
        return done

    def look_at_host_clock(self) -> None:
        """Let no setting of this machine's clock become working time; call it before any verb."""
        known, read = self.row.host_clocks or {}, reading()
        if read is None or self.state.is_over:
            return
        if by_ms := set_by_ms(known, read):
            self.take(clock.host_clock_set(self.state, self.now_ms, by_ms=by_ms))
            self.note("clock_jump", by_ms=by_ms)
        if (by_now := kept(known, read)) is not None:
            self.put(host_clocks=by_now)

    def put(self, **columns: Any) -> None:
        """Change columns of the row; they are written when the lock is given back."""
        for name, value in columns.items():
            setattr(self.row, name, value)
        self.columns.update(columns)

    def note(self, kind: str, **payload: Any) -> None:
        """Append an event that the server itself saw."""
        events = SessionEvent.objects.filter(session=self.row.pk, tab_id=SERVER_TAB)
        last = events.aggregate(last=Max("client_seq"))["last"] or 0
        SessionEvent.objects.create(
            session_id=self.row.pk,
            tab_id=SERVER_TAB,
            client_seq=last + 1,
            type=kind,
            at_server=self.now,
            active_ms=self.active_ms,
            payload=payload,
        )

    def lapse(self) -> Lapse | None:
        """The pause that the session is in; None unless it is paused."""
        if self.state.state != State.PAUSED:
            return None
        if self._lapse is None:
            self._lapse = lapse_of(self.row)
        return self._lapse

    def flush(self) -> None:
        """Write every changed column in one UPDATE, or nothing."""
        changed = changed_columns(self.before, self.state)
        if changed:
            due = _moment(clock.next_due_at(self.state))
            if due != self.row.next_due_at:
                changed["next_due_at"] = due
            for name, value in changed.items():
                setattr(self.row, name, value)
        if changed or self.columns:
            Session.objects.filter(pk=self.row.pk).update(**self.columns, **changed)
            self.columns, self.before = {}, self.state

    def _close(self, closed: clock.ClosedPeriod) -> None:
        ActivePeriod.objects.filter(session=self.row.pk, ended_at=None).update(
            ended_at=clock.from_ms(closed.ended_at_ms), end_reason=closed.reason.value
        )
        self._lapse = Lapse(closed.reason.value, closed.ended_at_ms)

    def _open(self, opened: clock.OpenedPeriod) -> None:
        last = ActivePeriod.objects.filter(session=self.row.pk).aggregate(last=Max("seq"))["last"] or 0
        ActivePeriod.objects.create(
            session_id=self.row.pk,
            seq=last + 1,
            started_at=clock.from_ms(opened.started_at_ms),
            acc_before_ms=opened.acc_before_ms,
            start_reason=opened.reason.value,
        )


@contextmanager
def locked(
    session: Session,
    *,
    now: datetime,
    filled_by: FilledBy = FilledBy.REQUEST,
    skip_locked: bool = False,
) -> Iterator[LockedSession]:
    """Hold one session's row in a transaction of its own; an exception inside undoes everything.

    PostgreSQL locks the row; SQLite lets one writer in at a time (its transactions begin IMMEDIATE). Raises
    Session.DoesNotExist where it is gone, or held by somebody else and to be skipped.
    """
    with transaction.atomic():
        rows = Session.objects.select_for_update(skip_locked=skip_locked).defer(*UNUSED)
        row = rows.get(pk=session.pk)
        state = row.clock_state
        held = LockedSession(
            row=row, now=now, filled_by=filled_by, before=state, state=state, now_ms=clock.to_ms(now)
        )
        held.look_at_host_clock()
        yield held
        held.flush()


def lapse_of(row: Session) -> Lapse | None:
    """The end of a session's last closed period; None before the first."""
    last = ActivePeriod.objects.filter(session=row.pk, ended_at__isnull=False).order_by("-seq").first()
    return Lapse(last.end_reason, clock.to_ms(last.ended_at)) if last and last.ended_at else None
