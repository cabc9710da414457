"""Time and money: what a person has worked and earned in sessions, the same figures for both sides.

All active time is paid, whatever became of the session; practice is not, nor is anything in a study that pays
nothing. A clock credit is time to work in: it is paid once it is worked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from annotation.models import Assignment, Session, Study
from annotation.studies.amounts import paid_ms, pay

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Earning:
    """One session: its active time so far (ms), how much of it is paid, and what that comes to."""

    session: Session
    active_ms: int
    paid_ms: int
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Total:
    """What one study, or one person in it, comes to."""

    n_sessions: int
    active_ms: int
    amount: Decimal
    currency: str


def last_known_ms(session: Session) -> int:
    """Active time (ms) of a session when the server last heard of it; for pages that ask no clock."""
    return session.acc_ms if session.clock_hwm is None else session.active_ms_at(session.clock_hwm)


def earnings_of(sessions: Iterable[Session], now: datetime) -> list[Earning]:
    """One row per session of a study; the sessions carry their assignment and study."""
    rows = []
    for session in sessions:
        study = session.assignment.study
        if study is None:
            continue
        rows.append(earning_of(session, study, now))
    return rows


def earning_of(session: Session, study: Study, now: datetime) -> Earning:
    """What a session of a study has brought its writer until now."""
    worked, rate = session.active_ms_at(now), study.hourly_rate
    return Earning(session, worked, paid_ms(worked, rate), pay(worked, rate), study.currency)


def by_study(earnings: Iterable[Earning]) -> dict[Study | None, Total]:
    return _totals(earnings, lambda session: session.assignment.study)


def by_annotator(earnings: Iterable[Earning]) -> dict[int, Total]:
    """Totals per annotator id, within one study."""
    return _totals(earnings, lambda session: session.annotator_id)


def most_for(assignment: Assignment, limit_ms: int) -> Decimal | None:
    """What a task pays if all its time is used; None for practice."""
    return None if assignment.study is None else pay(limit_ms, assignment.study.hourly_rate)


def _totals(earnings: Iterable[Earning], key: Callable[[Session], Key]) -> dict[Key, Total]:
    totals: dict[Key, Total] = {}
    for row in earnings:
        totals[key(row.session)] = _add(totals.get(key(row.session)), row)
    return totals


def _add(total: Total | None, row: Earning) -> Total:
    if total is None:
        return Total(1, row.active_ms, row.amount, row.currency)
    return Total(total.n_sessions + 1, total.active_ms + row.active_ms, total.amount + row.amount, total.currency)
