"""What can be done to a writing session, by its writer, by an admin and by the passing of time.

Each verb owns its transaction, holds the session's row, settles the clock first, and is a no-op when the session
is there already. Saving is in `drafting`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from annotation import clock
from annotation.clock import Refusal, State
from annotation.models import (
    Annotator,
    Assignment,
    ClockCredit,
    CreditRequest,
    Exclusion,
    Exposure,
    LateNotes,
    Session,
    Snapshot,
    Study,
)
from annotation.studies.exposures import record_exposure
from annotation.writing import assigning, drafting, settling
from annotation.writing.drafting import Refused, SessionClosed, Status, TabLost, sha256_of, status_of
from annotation.writing.locking import (
    HEAVY,
    LockedSession,
    Sessions,
    clock_of,
    lapse_of,
    locked,
    rows_of,
    to_ms,
)
from annotation.writing.snapshots import FilledBy
from annotation.writing.starting import frozen_settings
from annotation.writing.wire import Message
from benchmarks import audit

MAX_NOTES_BYTES = 60 * 1024
REASONS = {
    Refusal.OVER: _("The session is over. It can be reopened or excluded, but not changed."),
    Refusal.NOT_OVER: _("The session is not over, so there is nothing to reopen."),
    Refusal.WOULD_CUT: _("That would leave less time than has already been worked."),
}


class NotAttested(Exception):
    """The promise to use no language model was not given."""


class OtherSession(Refused):
    """The person's clock runs in another session already; nobody is paid twice for the same minute."""

    code = "other_session"


class ClockRefused(Exception):
    """The clock can't be changed so; the text of the exception says why, in a sentence for an admin."""

    def __init__(self, reason: Refusal) -> None:
        self.reason = reason
        super().__init__(REASONS[reason])


class AlreadyAnswered(Exception):
    """Somebody else answered the request for time first; nothing was changed."""


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
        if clock.settle(clock_of(other), held.now_ms).state.state == State.RUNNING:
            raise OtherSession(status_of(held, tab_id))


def settle(*, session: Sessions, now: datetime, filled_by: FilledBy = FilledBy.REQUEST) -> Session:
    """Bring one session to `now` and give its row; nothing is locked or written unless something is due."""
    return settling.settle(session=session, now=now, filled_by=filled_by)


def settle_study(*, study: Study, now: datetime) -> int:
    """Settle all sessions of a study before it is shown or exported; gives how many had something due."""
    return settling.settle_due(
        now=now, filled_by=FilledBy.EXPORT, among=Session.objects.filter(assignment__study=study)
    )


def pause(*, session: Sessions, message: Message, now: datetime) -> Status:
    """Stop the clock, with the draft in the same transaction; in the grace it answers `time_is_up`."""

    def then(held: LockedSession, tab_id: str) -> Status:
        was_running = held.state.state == State.RUNNING
        done = held.take(clock.pause(held.state, held.now_ms))
        if was_running and held.state.state == State.PAUSED:
            writer = Annotator.objects.select_related("user").get(pk=held.row.annotator_id)
            audit.record(actor=writer.user, action="session.pause", target=held.row, now=held.now)
        return _answer(held, tab_id, done.refused)

    return drafting.carry(session=session, message=message, now=now, then=then)


def submit(*, session: Sessions, message: Message, now: datetime) -> Status:
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


def resume(*, session: Sessions, message: Message, now: datetime) -> Status:
    """Let the clock run again; it also claims the session for the tab. OtherSession or SessionClosed if not."""
    with transaction.atomic():
        owner = (
            session.annotator_id
            if isinstance(session, Session)
            else rows_of(session).only("annotator_id").get().annotator_id
        )
        Annotator.objects.select_for_update().get(pk=owner)
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


def claim_tab(*, session: Sessions, message: Message, now: datetime) -> tuple[Status, str]:
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


def heartbeat(*, session: Sessions, message: Message, now: datetime) -> Status:
    """A heartbeat, with events; it settles the clock and gives its state."""
    with locked(session, now=now) as held:
        drafting.touch(held, message.tab_id)
        drafting.record_events(held, message)
        return status_of(held, message.tab_id)


def record_events(*, session: Sessions, message: Message, now: datetime) -> Status:
    """Store the events of a browser, from any of its tabs, without a heartbeat."""
    with locked(session, now=now) as held:
        held.settle()
        drafting.record_events(held, message)
        return status_of(held, message.tab_id)


def look(*, session: Sessions, tab_id: str, now: datetime) -> Status:
    """How the session stands, without a sign of life: it writes only what is due."""
    row = settle(session=session, now=now)
    state = clock_of(row)
    t = clock.advance(state, to_ms(now))
    lapse = lapse_of(row) if row.state == Session.State.PAUSED else None
    return Status(
        state=row.state,
        active_ms=clock.active_ms(state, t),
        remaining_ms=clock.remaining_ms(state, t),
        limit_ms=row.limit_ms,
        next_mark_ms=clock.next_mark_ms(state, t),
        is_active_tab=row.active_tab == tab_id,
        paused_by=lapse.reason if lapse else "",
    )


def write_notes(
    *,
    session: Sessions,
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


def mark_read(*, session: Sessions, tab_id: str, numbers: Sequence[int], now: datetime) -> Status:
    """Keep which documents the person has marked as read."""
    return _put(session, tab_id, now, read_documents=list(numbers))


def _put(
    session: Sessions,
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


def void(*, session: Sessions, by: Any, reason: str, now: datetime) -> Session:
    """End a session that shall not count and free its place; nothing of it is deleted.

    ClockRefused on a session that ended by itself: that one is excluded from figures instead.
    """
    with locked(session, now=now) as held:
        done = held.take(clock.void(held.state, held.now_ms))
        if done.refused is None and held.before.state != State.VOIDED:
            held.put(void_reason=reason)
            Assignment.objects.filter(pk=held.row.assignment_id).update(
                state=Assignment.State.WITHDRAWN, withdrawn_reason=reason, withdrawn_at=now
            )
            audit.record(actor=by, action="session.void", target=held.row, now=now, reason=reason)
    return _row_or_refusal(held, done.refused)


def credit_clock(
    *,
    session: Sessions,
    by: Any,
    delta_ms: int,
    reason: str,
    now: datetime,
    request: CreditRequest | None = None,
) -> Session:
    """Move the limit of a session that is not over, as an audited row; past periods are never edited.

    ClockRefused if it is over (see `reopen`) or if less than the time already worked would be left.
    """
    with locked(session, now=now) as held:
        done = held.take(clock.credit(held.state, held.now_ms, delta_ms=delta_ms))
        if done.refused is None:
            _record_credit(held, by=by, delta_ms=delta_ms, reason=reason, request=request)
    return _row_or_refusal(held, done.refused)


def reopen(
    *,
    session: Sessions,
    by: Any,
    delta_ms: int,
    reason: str,
    now: datetime,
    request: CreditRequest | None = None,
) -> Session:
    """Give time back to a session that is over: it becomes paused, with every text it had.

    The final snapshot goes, since the end it stands for did not take place, and with it the late text that was
    accepted beside it; both follow from the revisions, which stay. ClockRefused on a session that is not over,
    was voided, or would have no time left.
    """
    with locked(session, now=now) as held:
        done = held.take(clock.reopen(held.state, held.now_ms, delta_ms=delta_ms))
        if done.refused is None:
            final = Snapshot.objects.filter(session=held.row.pk, kind=Snapshot.Kind.FINAL)
            final.delete()
            held.put(late_text_id=None)
            Assignment.objects.filter(pk=held.row.assignment_id).update(state=Assignment.State.STARTED)
            _record_credit(held, by=by, delta_ms=delta_ms, reason=reason, request=request)
            held.note("reopened", delta_ms=delta_ms)
    return _row_or_refusal(held, done.refused)


def _record_credit(
    held: LockedSession, *, by: Any, delta_ms: int, reason: str, request: CreditRequest | None
) -> None:
    given = ClockCredit.objects.create(
        session_id=held.row.pk, delta_ms=delta_ms, reason=reason, by=by, at=held.now
    )
    if request is not None:
        still_open = CreditRequest.objects.filter(pk=request.pk, session=held.row.pk, answered_at=None)
        if not still_open.update(credit=given, answer=reason, answered_at=held.now):
            raise AlreadyAnswered
    asked = {} if request is None else {"minutes": request.minutes, "request": request.reason}
    audit.record(
        actor=by,
        action="session.credit",
        target=held.row,
        now=held.now,
        delta_ms=delta_ms,
        reason=reason,
        **asked,
    )


def _row_or_refusal(held: LockedSession, refused: Refusal | None) -> Session:
    if refused is not None:
        raise ClockRefused(refused)
    return Session.objects.get(pk=held.row.pk)


@transaction.atomic
def grant_request(*, request: CreditRequest, delta_ms: int, answer: str, by: Any, now: datetime) -> Session:
    """Give the time asked for, or another amount; a session that is over opens again, paused.

    AlreadyAnswered if somebody was first, ClockRefused for a voided session. The row stays locked from the look
    at its state on, so that a session can't end in between.
    """
    row = Session.objects.select_for_update(of=("self",)).get(pk=request.session_id)
    row = settle(session=row, now=now)
    give = reopen if row.state in clock.OVER else credit_clock
    return give(session=row, by=by, delta_ms=delta_ms, reason=answer, now=now, request=request)


@transaction.atomic
def decline_request(*, request: CreditRequest, answer: str, by: Any, now: datetime) -> bool:
    """Answer a request for time without giving any; an answered one stays as it is. Tells whether it was open."""
    still_open = CreditRequest.objects.filter(pk=request.pk, answered_at=None)
    if not still_open.update(answer=answer, answered_at=now):
        return False
    asked = {"minutes": request.minutes, "request": request.reason}
    audit.record(
        actor=by, action="session.credit_declined", target=request.session, now=now, answer=answer, **asked
    )
    return True


@transaction.atomic
def exclude(*, session: Session, by: Any, reason: str, now: datetime) -> Exclusion:
    """Leave a session out of figures; it keeps the reason it has if it is out already."""
    row, is_new = Exclusion.objects.get_or_create(
        session=session, lifted_at=None, defaults={"reason": reason, "by": by, "at": now}
    )
    if is_new:
        audit.record(actor=by, action="session.exclude", target=session, now=now, reason=reason)
    return row


@transaction.atomic
def lift_exclusion(*, session: Session, by: Any, now: datetime) -> bool:
    """Let a session count again; the row of the exclusion stays. Tells whether there was one."""
    lifted = Exclusion.objects.filter(session=session, lifted_at=None).update(lifted_at=now)
    if lifted:
        audit.record(actor=by, action="session.include", target=session, now=now)
    return bool(lifted)
