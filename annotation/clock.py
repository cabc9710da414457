"""The clock of a writing session: pure functions from a state and an instant to the next state.

Instants are integer milliseconds since the epoch, durations integer milliseconds. Nothing here knows the
database: a caller locks its rows, asks for a `Settlement`, stores it, and makes the snapshots it names.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from operator import itemgetter
from typing import Protocol, TypeVar

GAP_MS = 300_000
"""A silence while running that is worth an event: offline, asleep, or a host clock that was set forward."""

STEP_BACK_MS = 1_000
"""A host clock this far behind the latest instant seen is worth an event; less is skew between processes."""

JUMP_MS = 5_000
"""A host clock that was set by this much is undone; less is not told from slow corrections."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def to_ms(moment: datetime) -> int:
    """Whole milliseconds since the epoch, by integer arithmetic."""
    return (moment - EPOCH) // MILLISECOND


def from_ms(ms: int) -> datetime:
    """The moment, in UTC."""
    return EPOCH + ms * MILLISECOND


class State(StrEnum):
    """Where a session stands; the last three are final, but for `reopen`."""

    READY = "ready"
    RUNNING = "running"
    PAUSED = "paused"
    SUBMITTED = "submitted"
    EXPIRED = "expired"
    VOIDED = "voided"


class Reason(StrEnum):
    """Why a work period began or ended, or the session itself."""

    START = "start"
    RESUME = "resume"
    PAUSE = "pause"
    LEASE = "lease"
    CLOCK_SET = "clock_set"
    SUBMITTED = State.SUBMITTED.value
    EXPIRED = State.EXPIRED.value
    VOIDED = State.VOIDED.value


class Policy(StrEnum):
    """Effect of a lost connection on the clock."""

    KEEP_RUNNING = "keep_running"
    AUTO_PAUSE = "auto_pause"


class Refusal(StrEnum):
    """Why a verb changed nothing beyond settling."""

    NOT_STARTED = "not_started"
    TIME_IS_UP = "time_is_up"
    OVER = "over"
    NOT_OVER = "not_over"
    WOULD_CUT = "would_cut"


HANDED_IN = frozenset({State.SUBMITTED, State.EXPIRED})
"""A session that ended by itself, with a text that counts."""
OVER = HANDED_IN | {State.VOIDED}
"""A session that ended in whatever way."""


@dataclass(frozen=True, slots=True)
class ClockState:
    """All that the clock of one session depends on.

    `run_started_at_ms` is set exactly while running; `limit_ms` contains the credits; `last_mark_ms` is the
    latest mark whose snapshot was asked for. A paused session always has time left.
    """

    limit_ms: int
    mark_every_ms: int
    state: State = State.READY
    grace_ms: int = 10_000
    disconnect_policy: Policy = Policy.KEEP_RUNNING
    lease_ms: int = 180_000
    acc_ms: int = 0
    run_started_at_ms: int | None = None
    clock_hwm_ms: int = 0
    last_seen_ms: int | None = None
    last_mark_ms: int = 0
    started_at_ms: int | None = None
    ended_at_ms: int | None = None
    end_reason: str = ""

    def __post_init__(self) -> None:
        if self.limit_ms < 1 or self.mark_every_ms < 1 or self.lease_ms < 1 or self.grace_ms < 0:
            raise ValueError("limit, mark interval and lease must be positive, the grace not negative")

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be written."""
        return self.state in OVER

    @property
    def deadline_ms(self) -> int | None:
        """The instant at which a running clock reaches its limit, if nobody pauses it."""
        if self.run_started_at_ms is None:
            return None
        return self.run_started_at_ms + self.limit_ms - self.acc_ms

    @property
    def lease_end_ms(self) -> int | None:
        """The instant at which a silent session pauses itself; None where it never does.

        A lease that outlasts the deadline has no say: the session then ends instead of pausing.
        """
        deadline = self.deadline_ms
        if deadline is None or self.last_seen_ms is None or self.disconnect_policy != Policy.AUTO_PAUSE:
            return None
        lease_end = self.last_seen_ms + self.lease_ms
        return lease_end if lease_end < deadline else None


@dataclass(frozen=True, slots=True)
class ClosedPeriod:
    """The open work period has ended: when, and why."""

    ended_at_ms: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class OpenedPeriod:
    started_at_ms: int
    acc_before_ms: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Settlement:
    """Outcome of a verb at instant `at_ms`; the caller stores all of it, also when the verb was refused.

    `closed` comes before `opened`. `marks` are the marks that active time is now strictly past and that no
    earlier settlement named; `final_ms` is set once, at the end, and takes the place of a mark exactly there.
    `gap_ms` and `stepped_back_ms` are 0 unless worth an event.
    """

    state: ClockState
    at_ms: int
    active_ms: int
    closed: ClosedPeriod | None = None
    opened: OpenedPeriod | None = None
    marks: tuple[int, ...] = ()
    final_ms: int | None = None
    refused: Refusal | None = None
    gap_ms: int = 0
    stepped_back_ms: int = 0


class Stamped(Protocol):
    """Anything with a server-given stamp of active time."""

    @property
    def active_ms(self) -> int: ...


R = TypeVar("R", bound=Stamped)


def advance(state: ClockState, now: int) -> int:
    """The session's instant: a host clock that steps back holds it, and never turns it back."""
    return max(now, state.clock_hwm_ms)


def active_ms(state: ClockState, t: int) -> int:
    """Active time at instant `t`: never less than the closed periods, never more than the limit."""
    if state.run_started_at_ms is None:
        return state.acc_ms
    lease_end = state.lease_end_ms
    until = t if lease_end is None else min(t, lease_end)
    return max(state.acc_ms, min(state.limit_ms, state.acc_ms + until - state.run_started_at_ms))


def remaining_ms(state: ClockState, t: int) -> int:
    """Active time left at instant `t`."""
    return state.limit_ms - active_ms(state, t)


def pauses_in_ms(state: ClockState, t: int) -> int | None:
    """How long after instant `t` a session pauses itself if its browser stays silent; None where it never does."""
    lease_end = state.lease_end_ms
    return None if lease_end is None else max(0, lease_end - t)


def next_mark_ms(state: ClockState, t: int) -> int | None:
    """The first mark that active time is not yet strictly past; None where only the end is left."""
    if state.is_over:
        return None
    every = state.mark_every_ms
    mark = max(1, -(-active_ms(state, t) // every)) * every
    return mark if mark < state.limit_ms else None


def next_due_at(state: ClockState) -> int | None:
    """When the clock next changes by itself, seen from its latest instant: a mark, the lease's end, the end.

    A mark is due one millisecond late, since a save in its own millisecond still belongs to it.
    """
    deadline = state.deadline_ms
    if deadline is None or state.run_started_at_ms is None:
        return None
    due = [deadline + state.grace_ms]
    if (mark := next_mark_ms(state, state.clock_hwm_ms)) is not None:
        due.append(state.run_started_at_ms + mark - state.acc_ms + 1)
    if (lease_end := state.lease_end_ms) is not None:
        due.append(lease_end)
    return min(due)


def due_marks(state: ClockState, *, after: int = 0) -> tuple[int, ...]:
    """Marks above `after` that are due at the state's latest instant: those strictly below active time.

    It stays strict when the session is over, since the final snapshot takes the place of a mark at the end.
    """
    every = state.mark_every_ms
    return tuple(range((after // every + 1) * every, active_ms(state, state.clock_hwm_ms), every))


def final_mark(state: ClockState) -> int | None:
    """Where the final snapshot stands: the active time of a session that was started and is over."""
    return state.acc_ms if state.is_over and state.started_at_ms is not None else None


def snapshot_at(revisions: Sequence[R], mark_ms: int) -> R | None:
    """The last revision stamped at or before the mark; None before the first.

    `revisions` are the accepted ones in order, so that their stamps never decrease.
    """
    position = bisect_right(revisions, mark_ms, key=lambda revision: revision.active_ms)
    return revisions[position - 1] if position else None


def typed_by(stamps: Sequence[tuple[float, float]], mark_ms: int) -> int | None:
    """The place of the last text that had been typed by a mark, whenever it arrived; None before the first.

    `stamps` are active times (ms) at which texts arrived, never decreasing, and were typed, at most that. The text
    recorded at the mark (`snapshot_at`) is the earliest answer; those after it count up to the first typed later.
    """
    place = bisect_right(stamps, mark_ms, key=itemgetter(0))
    while place < len(stamps) and stamps[place][1] <= mark_ms:
        place += 1
    return place - 1 if place else None


def settle(state: ClockState, now: int) -> Settlement:
    """Bring the clock to `now`: close a lapsed lease, end a session past its grace, name the marks passed.

    Settling early, late, often or never in between leads to the same state.
    """
    t = advance(state, now)
    back = t - now if t - now >= STEP_BACK_MS else 0
    settled, closed = replace(state, clock_hwm_ms=t), None
    deadline, lease_end = state.deadline_ms, state.lease_end_ms
    if lease_end is not None and t >= lease_end:
        settled, closed = _close(settled, at=lease_end, state=State.PAUSED, reason=Reason.LEASE)
    elif deadline is not None and t >= deadline + state.grace_ms:
        settled, closed = _close(settled, at=deadline, state=State.EXPIRED, reason=Reason.EXPIRED)
        settled = replace(settled, ended_at_ms=deadline, end_reason=Reason.EXPIRED.value)
    arrival = Settlement(state=state, at_ms=t, active_ms=0, stepped_back_ms=back)
    return _then(arrival, settled, closed=closed)


def host_clock_set(state: ClockState, now: int, *, by_ms: int) -> Settlement:
    """Go on by a host clock that was set by so much since it was last looked at, forward or (negative) back.

    Settles at `now` as the old setting would have it, and goes on from there by the new one: the open period ends
    by the old and another begins by the new, so that active time has neither gained nor lost.
    """
    by_old = advance(state, now - by_ms)
    settled = settle(state, by_old)
    if settled.state.is_over:
        return settled
    if settled.state.state != State.RUNNING:
        return replace(settled, state=replace(settled.state, clock_hwm_ms=now), at_ms=now)
    stopped, closed = _close(settled.state, at=by_old, state=State.PAUSED, reason=Reason.CLOCK_SET)
    seen = settled.state.last_seen_ms
    gone_on = _open(replace(settled, at_ms=now), replace(stopped, clock_hwm_ms=now), reason=Reason.CLOCK_SET)
    seen_ms = now if seen is None else seen + now - by_old
    return replace(gone_on, state=replace(gone_on.state, last_seen_ms=seen_ms), closed=closed)


def start(state: ClockState, now: int) -> Settlement:
    """Open the first period; nothing happens to a session that was started before."""
    settled = settle(state, now)
    if settled.state.state != State.READY:
        return _unchanged(settled)
    return _open(settled, replace(settled.state, started_at_ms=settled.at_ms), reason=Reason.START)


def resume(state: ClockState, now: int) -> Settlement:
    """Open another period of a paused session, also of one whose lease is only now found to have lapsed."""
    settled = settle(state, now)
    if settled.state.state != State.PAUSED:
        return _unchanged(settled)
    return _open(settled, settled.state, reason=Reason.RESUME)


def pause(state: ClockState, now: int) -> Settlement:
    """Close the open period; in the grace there is no time left to keep for later, so it is refused."""
    settled = settle(state, now)
    if settled.state.state != State.RUNNING:
        return _unchanged(settled)
    if settled.active_ms >= state.limit_ms:
        return replace(settled, refused=Refusal.TIME_IS_UP)
    paused, closed = _close(settled.state, at=settled.at_ms, state=State.PAUSED, reason=Reason.PAUSE)
    return _then(settled, paused, closed=closed)


def submit(state: ClockState, now: int) -> Settlement:
    """End a running or paused session by the person's own wish."""
    settled = settle(state, now)
    return _unchanged(settled) if settled.state.state == State.READY else _end(settled, State.SUBMITTED)


def void(state: ClockState, now: int) -> Settlement:
    """End a session that shall not count; one that ended by itself is excluded from figures instead."""
    return _end(settle(state, now), State.VOIDED)


def touch(state: ClockState, now: int) -> Settlement:
    """Settle, then note a sign of life, which renews the lease of a session that is still running."""
    settled = settle(state, now)
    if settled.state.state != State.RUNNING:
        return settled
    seen = settled.state.last_seen_ms
    gap = 0 if seen is None else settled.at_ms - seen
    touched = replace(settled.state, last_seen_ms=settled.at_ms)
    return replace(settled, state=touched, gap_ms=gap if gap >= GAP_MS else 0)


def credit(state: ClockState, now: int, *, delta_ms: int) -> Settlement:
    """Move the limit of a session that is not over; it must stay above the time already worked.

    Credited in its grace, a session goes on as if the limit had always been there.
    """
    settled = settle(state, now)
    if settled.state.is_over:
        return replace(settled, refused=Refusal.OVER)
    if settled.state.limit_ms + delta_ms <= settled.active_ms:
        return replace(settled, refused=Refusal.WOULD_CUT)
    return _then(settled, replace(settled.state, limit_ms=settled.state.limit_ms + delta_ms))


def reopen(state: ClockState, now: int, *, delta_ms: int) -> Settlement:
    """Give time back to a submitted or expired session, as paused; its final snapshot is void from now on.

    Only this verb undoes an end. The latest instant becomes `now` even if that is earlier: a host clock that
    once ran far ahead must not hold the reopened session still.
    """
    settled = settle(state, now)
    if settled.state.state not in HANDED_IN:
        return replace(settled, refused=Refusal.OVER if settled.state.is_over else Refusal.NOT_OVER)
    limit_ms = settled.state.limit_ms + delta_ms
    if limit_ms <= settled.state.acc_ms:
        return replace(settled, refused=Refusal.WOULD_CUT)
    going_on = replace(settled.state, state=State.PAUSED, limit_ms=limit_ms, clock_hwm_ms=now)
    paused = replace(going_on, ended_at_ms=None, end_reason="")
    return replace(settled, state=paused, at_ms=now, final_ms=None)


def _unchanged(settled: Settlement) -> Settlement:
    """Settle without a change: the verb is refused before the start and after the end."""
    if settled.state.state == State.READY:
        return replace(settled, refused=Refusal.NOT_STARTED)
    return replace(settled, refused=Refusal.OVER) if settled.state.is_over else settled


def _close(running: ClockState, *, at: int, state: State, reason: Reason) -> tuple[ClockState, ClosedPeriod]:
    started, deadline = running.run_started_at_ms, running.deadline_ms
    if started is None or deadline is None:
        raise ValueError("only a running session has a period to close")
    at = min(at, deadline)
    closed = replace(running, state=state, acc_ms=running.acc_ms + at - started, run_started_at_ms=None)
    return closed, ClosedPeriod(ended_at_ms=at, reason=reason)


def _open(settled: Settlement, state: ClockState, *, reason: Reason) -> Settlement:
    t = settled.at_ms
    opened = replace(state, state=State.RUNNING, run_started_at_ms=t, last_seen_ms=t)
    period = OpenedPeriod(started_at_ms=t, acc_before_ms=state.acc_ms, reason=reason)
    return replace(_then(settled, opened), opened=period)


def _end(settled: Settlement, verdict: State) -> Settlement:
    if settled.state.is_over:
        return settled if settled.state.state == verdict else replace(settled, refused=Refusal.OVER)
    ended, closed = settled.state, None
    if ended.state == State.RUNNING:
        ended, closed = _close(ended, at=settled.at_ms, state=verdict, reason=Reason(verdict.value))
    ended = replace(ended, state=verdict, ended_at_ms=settled.at_ms, end_reason=verdict.value)
    return _then(settled, ended, closed=closed)


def _then(settled: Settlement, state: ClockState, *, closed: ClosedPeriod | None = None) -> Settlement:
    """The settlement after one more change at the same instant, with the marks and the end it brings."""
    marks = due_marks(state, after=settled.state.last_mark_ms)
    if marks:
        state = replace(state, last_mark_ms=marks[-1])
    return replace(
        settled,
        state=state,
        active_ms=active_ms(state, settled.at_ms),
        closed=closed or settled.closed,
        marks=settled.marks + marks,
        final_ms=settled.final_ms if settled.state.is_over else final_mark(state),
    )
