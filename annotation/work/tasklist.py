"""An annotator's own work: the task at hand, what else waits, what is blocked and why.

Nothing in here reads insights, scores or other people's work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.kinds import Text, kind_named
from annotation.labelling.trial import TrialProgress
from annotation.models import Annotator, Assignment, CreditRequest, Membership, RecruitmentLink, Session, Study
from annotation.people.earnings import Earned, LabellingJob, earned_by, labelling_jobs
from annotation.studies import consent
from annotation.studies.amounts import pay
from annotation.studies.tasks import task_counts
from annotation.writing import assigning, eligibility
from annotation.writing.eligibility import OTHER_FORM_FIRST, NotEligible, held_back
from annotation.writing.page_context import why_not
from annotation.writing.planning import PRACTICE_LIMIT_MS, limit_ms_of
from benchmarks.scoring.summhay import reading_minutes

ANSWERS_SHOWN = timedelta(days=14)
"""So long an answer about measured time stands on the page of tasks; it stays with its session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing to do: a summary to write, or all that is to be labelled in one study.

    `most` is what it can still pay; `blocked` says why it cannot be opened, and is empty where it can.
    """

    title: str
    task: Text
    study: Study | None
    url: str
    is_begun: bool
    due_at: datetime | None
    is_late: bool
    most: Decimal | None
    blocked: str = ""
    assignment: Assignment | None = None
    """For writing, with its `session`, if there is one, and times in ms."""
    session: Session | None = None
    limit_ms: int = 0
    used_ms: int = 0
    reading_minutes: float = 0.0
    job: LabellingJob | None = None
    """For label work."""

    @property
    def is_running(self) -> bool:
        return self.session is not None and self.session.state == Session.State.RUNNING


@dataclass(frozen=True, slots=True)
class Board:
    """Everything on the page of one's work. `rows` can be opened, the most urgent first; `blocked` cannot."""

    rows: tuple[Row, ...]
    blocked: tuple[Row, ...]
    practice: Session | None
    studies: tuple[Study, ...]
    has_consented: bool
    needs_practice: bool
    has_practice: bool
    fewer: tuple[Fewer, ...]
    """Studies of which tasks were passed on, until the person has read so."""
    answers: tuple[CreditRequest, ...]
    questions: tuple[Session, ...]
    """Finished sessions whose questions are open."""
    earned: Earned

    @property
    def practises_first(self) -> bool:
        """Whether practice is the task at hand: before writing, and for who is new and has no task yet."""
        if self.rows:
            return self.needs_practice and self.rows[0].job is None and not self.rows[0].is_begun
        return self.needs_practice and not self.earned.jobs

    @property
    def hero(self) -> Row | None:
        """The task at hand, once consent is given and unless practice is."""
        return self.rows[0] if self.rows and self.has_consented and not self.practises_first else None

    @property
    def others(self) -> tuple[Row, ...]:
        return self.rows[1:] if self.hero else self.rows

    @property
    def is_through(self) -> bool:
        """Whether something was done, and nothing waits, neither practice nor questions."""
        is_waiting = bool(self.rows or self.blocked or self.practice_under_way or self.questions)
        return not is_waiting and bool(self.earned.n_written or self.earned.done)

    @property
    def practice_under_way(self) -> Session | None:
        """The practice that was begun and is not over."""
        is_begun = self.practice is not None and self.practice.state != Session.State.READY
        return self.practice if is_begun else None

    @property
    def practice_is_running(self) -> bool:
        """Whether the clock of practice runs, so that no other can."""
        return self.practice is not None and self.practice.state == Session.State.RUNNING

    @property
    def waits_for(self) -> str:
        """Reason why rows of `others` without a button wait: all of them, or those of writing."""
        if not self.has_consented:
            return "consent"
        if self.practice_is_running or (self.rows and self.rows[0].is_running):
            return "session"
        return "practice" if self.needs_practice else ""


def board(annotator: Annotator, now: datetime) -> Board:
    """The work of a person at a time; a fixed number of queries."""
    jobs = labelling_jobs(annotator)
    waiting = list(
        Assignment.objects.filter(annotator=annotator)
        .visible()
        .unfinished()
        .select_related("study__writing_plan", "subtopic__haystack", "annotator", "session")
    )
    practice = next((row for row in waiting if row.is_practice), None)
    members = {row.study_id: row for row in annotator.memberships.select_related("study")}
    rows = [*_labelling_rows(jobs, now), *_writing_rows(annotator, waiting, members, now)]
    rows.sort(key=_urgency)
    sessions = Session.objects.filter(annotator=annotator)
    answered = CreditRequest.objects.filter(session__annotator=annotator)
    job_of_study = {job.study.pk: job for job in jobs}
    suggestions = []
    for member in members.values():
        study, before = member.study, member.n_tasks_before
        if before is None or member.left_at is not None or study.state != Study.State.OPEN:
            continue
        n = task_counts(study)[annotator.pk]
        if n < before:
            is_writing = kind_named(study.kind).words is None
            less = pay(int((before - n) * _ms_each(annotator, member, job_of_study)), study.hourly_rate)
            suggestions.append(Fewer(study, n, before, less or None, is_writing))
    return Board(
        rows=tuple(row for row in rows if not row.blocked),
        blocked=tuple(row for row in rows if row.blocked),
        practice=getattr(practice, "session", None),
        studies=tuple(
            row.study for row in members.values() if row.left_at is None and row.study.state == Study.State.OPEN
        ),
        has_consented=consent.is_given(annotator),
        needs_practice=assigning.needs_practice(annotator),
        has_practice=assigning.has_practice_corpus(),
        fewer=tuple(suggestions),
        answers=tuple(answered.answered_since(now - ANSWERS_SHOWN)),
        questions=tuple(
            sessions.with_open_questions()
            .select_related("assignment__subtopic__haystack", "assignment__study")
            .order_by("-ended_at", "-pk")
        ),
        earned=earned_by(annotator, now, jobs=jobs),
    )


def offers_of(link: RecruitmentLink, n: int, now: datetime) -> list[Any]:
    """The `n` tasks of somebody who would join by a link now, as `_work_offer.html` shows them.

    None where people share all there is: each who joins later takes some.
    """
    study = link.study
    if kind_named(study.kind).words is None:
        limit_ms = study.writing_plan.limit_ms
        return [{"study": study, "limit_ms": limit_ms, "most": pay(limit_ms, study.hourly_rate)}] * n
    trial = TrialProgress((), study.trial_tries) if study.has_trial else None
    jobs = [LabellingJob(study, n, n_open=n, trial=trial)] if link.max_tasks else []
    return _labelling_rows(jobs, now)


def after_practice(annotator: Annotator, now: datetime, *, practised_for: str) -> Row | None:
    """The writing task with this uid, from which practice was asked for, or else the most urgent one."""
    writing = [row for row in board(annotator, now).rows if row.assignment]
    return min(writing, key=lambda row: str(getattr(row.assignment, "uid", "")) != practised_for, default=None)


def contacts(annotator: Annotator) -> list[str]:
    """The addresses of the studies that a person takes part in, or else of those that they have left."""
    members = annotator.memberships.exclude(study__contact="").order_by("study__contact")
    present = members.filter(left_at=None).values_list("study__contact", flat=True).distinct()
    return list(present) or list(members.values_list("study__contact", flat=True).distinct())


def _labelling_rows(jobs: Iterable[LabellingJob], now: datetime) -> list[Row]:
    return [
        Row(
            title=job.study.name,
            task=job.words.task,
            study=job.study,
            url=reverse("annotation:label-go", args=[job.study.uid]),
            is_begun=job.is_begun,
            due_at=job.study.due_at,
            is_late=job.study.due_at is not None and job.study.due_at < now,
            most=pay(int(job.minutes_left * 60_000), job.study.hourly_rate),
            blocked=_why_blocked(job),
            job=job,
        )
        for job in jobs
        if job.n_open
    ]


def _why_blocked(job: LabellingJob) -> str:
    """Why nothing of a job can be opened; empty where something can."""
    if job.n_blocked == job.n_open:
        return _("You still have a writing task on the same documents. This opens once it is submitted.")
    if job.trial is not None and job.trial.is_out:
        return _("The trial asks for more right answers than you had. The researcher can allow another try.")
    return ""


def _writing_rows(
    annotator: Annotator, waiting: Sequence[Any], members: dict[int, Membership], now: datetime
) -> list[Row]:
    reasons = _reasons(annotator, waiting)
    rows = []
    for row in waiting:
        if row.is_practice:
            continue
        session: Session | None = getattr(row, "session", None)
        limit, is_begun = _limit_ms(row, session, members), _has_begun(session)
        rows.append(
            Row(
                title=row.subtopic.query,
                task=_("Write a summary"),
                study=row.study,
                url=reverse("annotation:session", args=[session.uid])
                if session is not None and is_begun
                else reverse("annotation:session-start", args=[row.uid]),
                is_begun=is_begun,
                due_at=row.due_at,
                is_late=row.due_at is not None and row.due_at < now,
                most=None if row.study is None else pay(limit, row.study.hourly_rate),
                blocked=reasons.get(row.pk, ""),
                assignment=row,
                session=session,
                limit_ms=limit,
                used_ms=session.active_ms_at(now) if session is not None else 0,
                reading_minutes=reading_minutes(row.n_words),
            )
        )
    return rows


def _reasons(annotator: Annotator, unfinished: Sequence[Any]) -> dict[int, str]:
    """Why tasks that nobody has begun cannot be started, as their start pages say it; by id."""
    waiting = [row for row in unfinished if not row.is_practice and not _has_begun(getattr(row, "session", None))]
    if not waiting:
        return {}
    [first, *_others] = waiting
    assert first.study is not None  # noqa: S101  practice was left out
    person = eligibility.load_people([annotator], study=first.study, starting=first)[annotator.pk]
    # Whoever leaves a study loses the tasks that wait there, so a task that is left has a member. Consent that
    # was withdrawn is said of all work.
    person = replace(person, is_member=True, is_active=annotator.is_active)
    later = held_back(unfinished)
    obstacles = {
        row.pk: (
            *eligibility.obstacles_to(person, row.subtopic, row.study),
            *([OTHER_FORM_FIRST] if row.pk in later else []),
        )
        for row in waiting
    }
    return {pk: str(why_not(NotEligible(these))["obstacle"]) for pk, these in obstacles.items() if these}


def _limit_ms(row: Any, session: Session | None, members: dict[int, Membership]) -> int:
    if session is not None:
        return session.limit_ms
    if row.study is None:
        return PRACTICE_LIMIT_MS
    return limit_ms_of(plan=row.study.writing_plan, annotator=row.annotator, membership=members.get(row.study.pk))


def _has_begun(session: Session | None) -> bool:
    return session is not None and session.state != Session.State.READY


def _urgency(row: Row) -> tuple[Any, ...]:
    """Order by what runs first, then what is begun, then by date, then as it was given."""
    given_at = row.assignment.created_at if row.assignment else row.study.created_at if row.study else row.due_at
    due = row.due_at.timestamp() if row.due_at else 0.0
    return (
        not row.is_running,
        not row.is_begun,
        row.due_at is None,
        due,
        given_at,
        row.assignment.pk if row.assignment else 0,
    )


@dataclass(frozen=True, slots=True)
class Fewer:
    """A study in which somebody has `n` tasks now, `n_before` when they last knew; `less` is what it pays less.

    Pay is about that for label work, at most that for writing, and None where nothing is paid.
    """

    study: Study
    n: int
    n_before: int
    less: Decimal | None
    is_writing: bool


def _ms_each(annotator: Annotator, member: Membership, jobs: Mapping[int, LabellingJob]) -> float:
    """How long a task takes, as the page of one's work reckons it (ms); of writing the limit."""
    words = kind_named(member.study.kind).words
    if words is None:
        return limit_ms_of(plan=member.study.writing_plan, annotator=annotator, membership=member)
    job = jobs.get(member.study_id)
    return (job.minutes_each if job is not None else words.minutes) * 60_000
