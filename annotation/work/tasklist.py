"""What an annotator sees of the own work: tasks with time and pay, submitted texts, earnings.

Nothing in here reads insights, scores or other people's work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Min, Q

from annotation import clock
from annotation.kinds import Words, kind_named
from annotation.models import Annotator, Assignment, CreditRequest, LabelTask, Membership, Session, Study
from annotation.studies import consent
from annotation.studies.earnings import pay
from annotation.writing import assigning, earnings
from annotation.writing.planning import limit_ms_of
from annotation.writing.starting import PRACTICE_LIMIT_MS
from benchmarks.scoring.oracle import reading_minutes

PACE_NEEDS = 5
ANSWERS_SHOWN = timedelta(days=14)
"""So long an answer about measured time stands on the page of tasks; it stays with its session."""


@dataclass(frozen=True, slots=True)
class Task:
    """One row of the list; minutes of reading, limit in ms, and the most it can pay."""

    assignment: Assignment
    session: Session | None
    reading_minutes: float
    limit_ms: int
    used_ms: int
    most: Decimal | None
    currency: str
    is_barred: bool
    is_late: bool


@dataclass(frozen=True, slots=True)
class LabellingJob:
    """All label tasks of one study, as one row of the list; times in ms."""

    study: Study
    n: int
    n_done: int
    n_skipped: int
    n_open: int
    is_begun: bool
    worked_ms: int
    earned: Decimal

    @property
    def words(self) -> Words:
        """What tasks of its kind are called."""
        words = kind_named(self.study.kind).words
        assert words is not None  # noqa: S101  a kind with label tasks has words for them
        return words

    @property
    def minutes_left(self) -> float:
        """About how long the rest takes: at the person's own pace once five are done."""
        if self.n_done >= PACE_NEEDS:
            return self.n_open * self.worked_ms / self.n_done / 60_000
        return self.n_open * self.words.minutes

    @property
    def left(self) -> str:
        """How many tasks are left."""
        return str(self.words.left % {"n": self.n_open})

    @property
    def finished(self) -> str:
        """How many tasks are done."""
        return str(self.words.finished % {"n": self.n_done})


@dataclass(frozen=True, slots=True)
class Tally:
    """How many tasks a person has: those that can be opened or went on with, begun or not, and those done.

    A task is a text to write, or all that is to be labelled in one study; practice and what is barred are none.
    """

    to_do: int
    begun: int
    done: int
    next_due_at: datetime | None

    @property
    def open(self) -> int:
        """Tasks to do or begun."""
        return self.to_do + self.begun


@dataclass(frozen=True, slots=True)
class Board:
    """Everything on the page of tasks; `barred` are those that cannot be opened."""

    tally: Tally
    todo: tuple[Task, ...]
    barred: tuple[Task, ...]
    labelling: tuple[LabellingJob, ...]
    practice: Task | None
    studies: tuple[Study, ...]
    has_consented: bool
    needs_practice: bool
    has_practice: bool
    answers: tuple[CreditRequest, ...]
    questions: tuple[Session, ...]
    """Finished sessions whose questions are open."""

    @property
    def asks_for_practice(self) -> bool:
        """Whether practising comes first; it is for writing, so not for somebody who only labels."""
        return self.needs_practice and bool(self.todo or not self.labelling)

    @property
    def may_start(self) -> bool:
        """Whether nothing general has to be done first."""
        return self.has_consented and not self.needs_practice


def board(annotator: Annotator, now: datetime) -> Board:
    """The open tasks of a person, in the order in which they are due; a fixed number of queries."""
    own = Assignment.objects.filter(annotator=annotator)
    waiting = list(own.visible().unfinished().for_list().with_barred())
    members = {row.study_id: row for row in annotator.memberships.select_related("study")}
    tasks = [_task(row, members, now) for row in waiting]
    practice = [task for task in tasks if task.assignment.is_practice]
    real = [task for task in tasks if not task.assignment.is_practice]
    todo = [task for task in real if not task.is_barred]
    todo.sort(
        key=lambda task: (task.session is None, task.assignment.due_at is None, _due(task), task.assignment.pk)
    )
    return Board(
        tally=tally_of(annotator.user),
        todo=tuple(todo),
        barred=tuple(task for task in real if task.is_barred),
        labelling=tuple(job for job in labelling_jobs(annotator) if job.n_open),
        practice=practice[0] if practice else None,
        studies=tuple(
            row.study for row in members.values() if row.left_at is None and row.study.state == Study.State.OPEN
        ),
        has_consented=consent.is_given(annotator),
        needs_practice=assigning.needs_practice(annotator),
        has_practice=assigning.has_practice_corpus(),
        answers=tuple(
            CreditRequest.objects.filter(session__annotator=annotator).answered_since(now - ANSWERS_SHOWN)
        ),
        questions=tuple(
            Session.objects.filter(annotator=annotator)
            .with_open_questions()
            .select_related("assignment__subtopic__haystack", "assignment__study")
            .order_by("-ended_at", "-pk")
        ),
    )


def tally_of(user: Any) -> Tally:
    """The tasks of a user, counted alike on every page; two queries."""
    writing = Assignment.objects.for_annotator(user).visible().filter(is_practice=False).with_barred()
    counts = writing.filter(is_barred=False).aggregate(
        to_do=Count("pk", filter=Q(state=Assignment.State.ASSIGNED)),
        begun=Count("pk", filter=Q(state=Assignment.State.STARTED)),
        done=Count("pk", filter=Q(state=Assignment.State.DONE)),
        due=Min("due_at", filter=Q(state__in=[Assignment.State.ASSIGNED, Assignment.State.STARTED])),
    )
    rows = list(LabelTask.objects.for_annotator(user).visible().by_study())
    left = [row for row in rows if _n_open(row)]
    due = [counts["due"], *(row["study__due_at"] for row in left)]
    return Tally(
        to_do=counts["to_do"] + sum(not _is_begun(row) for row in left),
        begun=counts["begun"] + sum(map(_is_begun, left)),
        done=counts["done"] + sum(not _n_open(row) and row["n_done"] > 0 for row in rows),
        next_due_at=min((each for each in due if each), default=None),
    )


def _n_open(row: Mapping[str, Any]) -> int:
    """How much is left to label in a study, of a row of `by_study`."""
    return row["n_todo"] + row["n_begun"] if row["study__state"] == Study.State.OPEN else 0


def _is_begun(row: Mapping[str, Any]) -> bool:
    return bool(row["n"] > row["n_todo"])


def labelling_jobs(annotator: Annotator) -> list[LabellingJob]:
    """The label tasks of a person, a row a study, those with the nearest date first; two queries."""
    rows = {row["study"]: row for row in LabelTask.objects.filter(annotator=annotator).visible().by_study()}
    studies = Study.objects.filter(pk__in=rows)
    jobs = [
        LabellingJob(
            study=study,
            n=row["n"],
            n_done=row["n_done"],
            n_skipped=row["n_skipped"],
            n_open=_n_open(row),
            is_begun=_is_begun(row),
            worked_ms=row["worked_ms"],
            earned=pay(row["worked_ms"], study.hourly_rate),
        )
        for study in studies
        for row in [rows[study.pk]]
    ]
    return sorted(jobs, key=lambda job: (job.study.due_at is None, job.study.due_at or job.study.created_at))


def contacts(annotator: Annotator) -> list[str]:
    """The addresses of the studies that a person takes part in."""
    members = annotator.memberships.filter(left_at=None).exclude(study__contact="")
    return list(members.order_by("study__contact").values_list("study__contact", flat=True).distinct())


def finished_sessions(annotator: Annotator) -> Any:
    """Sessions of a person that are over, newest first."""
    return (
        Session.objects.filter(annotator=annotator, state__in=clock.OVER)
        .select_related("assignment__study", "assignment__subtopic__haystack")
        .order_by("-ended_at", "-pk")
    )


def own_earnings(annotator: Annotator, now: datetime) -> list[earnings.Earning]:
    """Every paid session of a person with its time and amount, newest first."""
    sessions = (
        Session.objects.filter(annotator=annotator, assignment__is_practice=False)
        .exclude(started_at=None)
        .select_related("assignment__study", "assignment__subtopic")
        .order_by("-started_at")
    )
    return earnings.earnings_of(sessions, now)


def _task(row: Any, members: dict[int, Membership], now: datetime) -> Task:
    session: Session | None = getattr(row, "session", None)
    study = row.study
    limit = PRACTICE_LIMIT_MS
    if session is not None:
        limit = session.limit_ms
    elif study is not None:
        limit = limit_ms_of(plan=study.writing_plan, annotator=row.annotator, membership=members.get(study.pk))
    return Task(
        assignment=row,
        session=session,
        reading_minutes=reading_minutes(row.n_words),
        limit_ms=limit,
        used_ms=earnings.active_ms(session, now) if session is not None else 0,
        most=earnings.most_for(row, limit),
        currency=study.currency if study is not None else "",
        is_barred=row.is_barred,
        is_late=row.due_at is not None and row.due_at < now,
    )


def _due(task: Task) -> float:
    due = task.assignment.due_at
    return due.timestamp() if due is not None else 0.0
