"""Sessions settled by the passing of time, one on sight or all that are due, and what is changed later.

Snapshots follow from the accepted revisions, so that a request, the worker and an export make the same ones.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.query import QuerySet

from annotation import clock
from annotation.clock import Refusal, State
from annotation.models import Assignment, ClockCredit, CreditRequest, Exclusion, Session, Snapshot, Study
from annotation.writing import locking
from annotation.writing.locking import FilledBy, LockedSession, locked
from annotation.writing.packing import unpack
from benchmarks import audit

BATCH = 500

logger = logging.getLogger(__name__)


def settle(*, session: Session, now: datetime) -> Session:
    """Bring one session to `now` and give its row; nothing is locked or written unless something is due."""
    if not is_due(session, now):
        return session
    with locked(session, now=now) as held:
        held.settle()
    return Session.objects.get(pk=session.pk)


def is_due(row: Session, now: datetime) -> bool:
    """Whether time has changed something since the row was written, or this machine's clock was set."""
    if row.state != Session.State.RUNNING:
        return False
    is_past = row.next_due_at is None or row.next_due_at <= now
    return is_past or locking.set_by_ms(row.host_clocks, locking.reading()) != 0


def settle_due(
    *,
    now: datetime,
    filled_by: FilledBy = FilledBy.WORKER,
    among: QuerySet[Session, Session] | None = None,
) -> int:
    """Settle every session that is due, each in a transaction of its own; gives how many were settled.

    Without `among` it takes at most a batch, and leaves a session that somebody else holds to them. One that
    fails does not stop the others.
    """
    rows = Session.objects.all() if among is None else among
    due = rows.filter(Q(next_due_at__lte=now) | Q(next_due_at=None), state=Session.State.RUNNING)
    settled = 0
    for pk in due.order_by("next_due_at").values_list("pk", flat=True)[: BATCH if among is None else None]:
        try:
            with locked(Session(pk=pk), now=now, filled_by=filled_by, skip_locked=among is None) as held:
                held.settle()
            settled += 1
        except Session.DoesNotExist:
            logger.debug("session %s is in other hands", pk)
        except Exception:
            logger.exception("session %s could not be settled", pk)
    return settled


def settle_study(*, study: Study, now: datetime) -> int:
    """Settle all sessions of a study before it is shown or exported; gives how many had something due."""
    return settle_due(now=now, filled_by=FilledBy.EXPORT, among=Session.objects.filter(assignment__study=study))


# Changing what was recorded


REASONS = {
    Refusal.OVER: "The session is over. It can be reopened or excluded, but not changed.",
    Refusal.NOT_OVER: "The session is not over, so there is nothing to reopen.",
    Refusal.WOULD_CUT: "That would leave less time than has already been worked.",
}


class Unchanged(Exception):
    """Nothing was changed; the text says why, in a sentence for researchers."""


class ClockRefused(Unchanged):
    def __init__(self, reason: Refusal) -> None:
        self.reason = reason
        super().__init__(REASONS[reason])


class AlreadyAnswered(Unchanged):
    """Somebody else answered the request for time first."""

    def __init__(self) -> None:
        super().__init__("This request was already answered. Nothing was changed.")


def void(*, session: Session, by: Any, reason: str, now: datetime) -> Session:
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
    session: Session,
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
    session: Session,
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
            unpack(session_id=held.row.pk)
            final = Snapshot.objects.filter(session=held.row.pk, kind=Snapshot.Kind.FINAL)
            final.delete()
            held.put(late_text_id=None, as_typed_at=None)
            Assignment.objects.filter(pk=held.row.assignment_id).update(state=Assignment.State.STARTED)
            _record_credit(held, by=by, delta_ms=delta_ms, reason=reason, request=request)
            held.note("reopened", delta_ms=delta_ms)
    return _row_or_refusal(held, done.refused)


def _record_credit(
    held: LockedSession, *, by: Any, delta_ms: int, reason: str, request: CreditRequest | None
) -> None:
    credit = ClockCredit.objects.create(
        session_id=held.row.pk, delta_ms=delta_ms, reason=reason, by=by, at=held.now
    )
    if request is not None:
        still_open = CreditRequest.objects.filter(pk=request.pk, session=held.row.pk, answered_at=None)
        if not still_open.update(credit=credit, answer=reason, answered_at=held.now):
            raise AlreadyAnswered
    details = {} if request is None else {"minutes": request.minutes, "request": request.reason}
    audit.record(
        actor=by,
        action="session.credit",
        target=held.row,
        now=held.now,
        delta_ms=delta_ms,
        reason=reason,
        **details,
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
    details = {"minutes": request.minutes, "request": request.reason}
    audit.record(
        actor=by, action="session.credit_declined", target=request.session, now=now, answer=answer, **details
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
