"""Once a session is over: what its writer answers, remarks, asks for and has earned."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from annotation.models import CreditRequest, Session, SessionReport
from annotation.writing import earnings


def earned(*, session: Session, now: datetime) -> earnings.Earning | None:
    """What a session has earned; None for practice and in a study that pays nothing."""
    study = session.assignment.study
    return earnings.earning_of(session, study, now) if study and study.hourly_rate else None


@transaction.atomic
def report(
    *, session: Session, time_was_enough: bool, used_no_model: bool, comment: str, now: datetime
) -> SessionReport:
    """Store the answers; the first ones stay, so that a second click changes nothing."""
    answers, _made = SessionReport.objects.get_or_create(
        session=session,
        defaults={
            "time_was_enough": time_was_enough,
            "used_no_model": used_no_model,
            "comment": comment,
            "at": now,
        },
    )
    return answers


def decline_questions(*, session: Session, now: datetime) -> bool:
    """Note that the person leaves the questions unanswered, so that nobody asks again; tells if that is new."""
    open_ones = Session.objects.with_open_questions().filter(pk=session.pk)
    return bool(Session.objects.filter(pk__in=open_ones.values("pk")).update(questions_declined_at=now))


def ask_for_time(*, session: Session, reason: str, minutes: int | None, now: datetime) -> CreditRequest:
    """Store a remark on the measured time; with `minutes`, the wish to get them back. An admin answers it."""
    return CreditRequest.objects.create(session=session, minutes=minutes, reason=reason, at=now)
