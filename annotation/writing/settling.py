"""Settle sessions by the passing of time alone: one on sight, or all that are due.

Snapshots follow from the accepted revisions, so that a request, the worker and an export make the same ones.
"""

from __future__ import annotations

import logging
from datetime import datetime

from django.db.models import Q
from django.db.models.query import QuerySet

from annotation.models import Session, Study
from annotation.writing import host_clock
from annotation.writing.locking import locked
from annotation.writing.snapshots import FilledBy

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
    return is_past or host_clock.set_by_ms(row.host_clocks, host_clock.reading()) != 0


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
