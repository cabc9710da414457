"""Acts on a writing session, by its writer, by an admin and by the passing of time.

Each verb owns its transaction, holds the session's row, settles the clock first, and is a no-op when the session
is there already. Saving is in `drafting`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation import clock
from annotation.clock import Refusal, State
from annotation.models import (
    Annotator,
    Assignment,
    Exposure,
    LateNotes,
    Session,
    Study,
)
from annotation.studies.scope import record_exposure
from annotation.writing import assigning, drafting, settling
from annotation.writing.drafting import Message, Refused, SessionClosed, Status, TabLost, status_of
from annotation.writing.locking import (
    HEAVY,
    LockedSession,
    lapse_of,
    locked,
)
from annotation.writing.planning import frozen_settings
from benchmarks import audit
from benchmarks.io.published import sha256_of

MAX_NOTES_BYTES = 60 * 1024


class NotAttested(Exception):
    """The promise to use no language model was not given."""


class OtherSession(Refused):
    """The person's clock runs in another session already; nobody is paid twice for the same minute."""

    code = "other_session"


def start(*, assignment: Assignment, attested: bool, now: datetime) -> Session:
    """Begin the session of a task; a second click gives the same session.

    Raises NotAttested without the promise, NotEligible if the no-contamination rule, consent or practice stand
    in the way by now, OtherSession while the person's clock runs elsewhere.
    """
    with transaction.atomic():
        task = (
            Assignment.objects.select_for_update(of=("self",))
            .select_related("annotator__user", "study__writing_plan", "subtopic__haystack")
            .get(pk=assignment.pk)
        )
        row: Session | None = Session.objects.filter(assignment=task).first()
        if row is not None and row.state != Session.State.READY:
            return row
        if not attested:
            raise NotAttested
        assigning.ensure_still_eligible(assignment=task, now=now)
        if row is None:
            row = Session.objects.create(assignment=task, created_at=now, **frozen_settings(task))
        _begin(task, row, now)
    return Session.objects.get(pk=row.pk)


def _begin(task: Assignment, row: Session, now: datetime) -> None:
    Annotator.objects.select_for_update().get(pk=task.annotator_id)
    with locked(row, now=now) as held:
        _only_one_clock(held, tab_id="")
        held.take(clock.start(held.state, held.now_ms))
        held.put(attested_before_at=now)
    Assignment.objects.filter(pk=task.pk).update(state=Assignment.State.STARTED)
    if task.annotator.user is not None and not task.is_practice:
        record_exposure(
            user=task.annotator.user, haystack=task.subtopic.haystack, reason=Exposure.Reason.WRITING, now=now
        )


def _only_one_clock(held: LockedSession, tab_id: str) -> None:
    """Call it with the annotator's row locked, so that two starts can't pass each other."""
    others = Session.objects.filter(annotator=held.row.annotator_id, state=Session.State.RUNNING)
    for other in others.exclude(pk=held.row.pk).defer(*HEAVY):
        if clock.settle(other.clock_state, held.now_ms).state.state == State.RUNNING:
            raise OtherSession(status_of(held, tab_id))


def pause(*, session: Session, message: Message, now: datetime) -> Status:
    """Stop the clock, with the draft in the same transaction; in the grace it answers `time_is_up`."""

    def then(held: LockedSession, tab_id: str) -> Status:
        was_running = held.state.state == State.RUNNING
        done = held.take(clock.pause(held.state, held.now_ms))
        if was_running and held.state.state == State.PAUSED:
            writer = Annotator.objects.select_related("user").get(pk=held.row.annotator_id)
            audit.record(actor=writer.user, action="session.pause", target=held.row, now=held.now)
        return _answer(held, tab_id, done.refused)

    return drafting.carry(session=session, message=message, now=now, then=then)


def pause_all(*, annotator: Annotator, study: Study | None = None, by: Any, now: datetime) -> None:
    """Stop every clock of a person, or that in one study, from outside the page of a session."""
    running = Session.objects.filter(annotator=annotator, state=Session.State.RUNNING)
    if study is not None:
        running = running.filter(assignment__study=study)
    for row in running.defer(*HEAVY):
        with locked(row, now=now) as held:
            held.settle()
            if held.state.state == State.RUNNING:
                held.take(clock.pause(held.state, held.now_ms))
                audit.record(actor=by, action="session.pause", target=held.row, now=held.now)


def submit(*, session: Session, message: Message, now: datetime) -> Status:
    """End the session, with the draft in the same transaction; a refused draft means that it goes on.

    A session that expired first stays expired: SessionClosed.
    """

    def then(held: LockedSession, tab_id: str) -> Status:
        done = held.take(clock.submit(held.state, held.now_ms))
        return _answer(held, tab_id, done.refused)

    status = drafting.carry(session=session, message=message, now=now, then=then)
    if status.refused == Refusal.OVER:
        raise _closed(status)
    return status


def resume(*, session: Session, message: Message, now: datetime) -> Status:
    """Let the clock run again; it also claims the session for the tab. OtherSession or SessionClosed if not."""
    with transaction.atomic():
        Annotator.objects.select_for_update().get(pk=session.annotator_id)
        with locked(session, now=now) as held:
            done = held.settle()
            if held.state.state == State.PAUSED:
                _only_one_clock(held, message.tab_id)
            done = held.take(clock.resume(held.state, held.now_ms))
            drafting.record_events(held, message)
            if done.refused is None:
                held.put(active_tab=message.tab_id)
            status = _answer(held, message.tab_id, done.refused)
    if status.refused == Refusal.OVER:
        raise _closed(status)
    return status


def _answer(held: LockedSession, tab_id: str, refused: Refusal | None) -> Status:
    return replace(status_of(held, tab_id), refused=refused.value if refused else "")


def _closed(status: Status) -> SessionClosed:
    return SessionClosed(status, your_text="", server_text="")


def claim_tab(*, session: Session, message: Message, now: datetime) -> tuple[Status, str]:
    """Make this the tab that writes, and give it the draft with its revision; the older one turns read-only."""
    with locked(session, now=now) as held:
        held.touch()
        if not held.state.is_over:
            held.put(active_tab=message.tab_id)
        drafting.record_events(held, message)
        status = replace(status_of(held, message.tab_id), rev=held.row.draft_rev)
    if held.state.is_over:
        raise _closed(replace(status, rev=None))
    return status, held.row.draft_text


def heartbeat(*, session: Session, message: Message, now: datetime) -> Status:
    """A heartbeat, with events; it settles the clock and gives its state."""
    with locked(session, now=now) as held:
        drafting.touch(held, message.tab_id)
        drafting.record_events(held, message)
        return status_of(held, message.tab_id)


def record_events(*, session: Session, message: Message, now: datetime) -> Status:
    """Store the events of a browser, from any of its tabs, without a heartbeat."""
    with locked(session, now=now) as held:
        held.settle()
        drafting.record_events(held, message)
        return status_of(held, message.tab_id)


def look(*, session: Session, tab_id: str, now: datetime) -> Status:
    """How the session stands, without a sign of life: it writes only what is due."""
    row = settling.settle(session=Session.objects.get(pk=session.pk), now=now)
    state = row.clock_state
    lapse = lapse_of(row) if row.state == Session.State.PAUSED else None
    at_ms = clock.advance(state, clock.to_ms(now))
    return drafting.status_at(state, at_ms, is_active_tab=row.active_tab == tab_id, lapse=lapse)


def write_notes(
    *,
    session: Session,
    tab_id: str,
    text: str,
    now: datetime,
    op_id: str = "",
    typed_at_ms: int | None = None,
) -> Status:
    """Keep the unscored notes, of the tab that writes, until the session ends.

    Notes that came after the end or from another tab are stored beside them, once for each `op_id`, before
    SessionClosed or TabLost is raised.
    """
    if len(text.encode()) > MAX_NOTES_BYTES:
        raise drafting.DraftTooLong

    def store_apart(held: LockedSession, code: str) -> None:
        LateNotes.objects.get_or_create(
            session_id=held.row.pk,
            op_id=op_id or sha256_of(text)[:40],
            defaults={
                "tab_id": tab_id,
                "text": text,
                "typed_at": held.claimed(typed_at_ms),
                "received_at": held.now,
                "reject_code": code,
            },
        )

    return _put(session, tab_id, now, if_refused=store_apart, notes_text=text)


def mark_read(*, session: Session, tab_id: str, numbers: Sequence[int], now: datetime) -> Status:
    """Keep which documents the person has marked as read."""
    return _put(session, tab_id, now, read_documents=list(numbers))


def mark_passages(*, session: Session, tab_id: str, passages: Sequence[Sequence[int]], now: datetime) -> Status:
    """Keep the passages that the person has marked for themselves; they are never scored."""
    return _put(session, tab_id, now, marked_passages=[list(each) for each in passages])


def _put(
    session: Session,
    tab_id: str,
    now: datetime,
    if_refused: Callable[[LockedSession, str], None] | None = None,
    **columns: Any,
) -> Status:
    with locked(session, now=now) as held:
        drafting.touch(held, tab_id)
        is_mine = held.row.active_tab in {"", tab_id}
        if is_mine and not held.state.is_over:
            held.put(**columns)
        elif if_refused is not None:
            if_refused(held, SessionClosed.code if held.state.is_over else TabLost.code)
        status = status_of(held, tab_id)
    if held.state.is_over:
        raise _closed(status)
    if not is_mine:
        raise TabLost(status, your_text="", server_text="")
    return status
