"""Work and earnings of a person in all studies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Sum
from django.db.models.functions import TruncDate
from django.utils.timezone import localdate

from annotation import clock
from annotation.kinds import Words, kind_named
from annotation.labelling.trial import TrialProgress, progress_of
from annotation.models import Annotator, LabelTask, Session, Study
from annotation.studies.amounts import pay
from annotation.writing import results

PACE_NEEDS = 5


@dataclass(frozen=True, slots=True)
class LabellingJob:
    """All label tasks of one study; times in ms. `n_blocked` of the open ones wait for something else."""

    study: Study
    n: int
    n_open: int
    n_done: int = 0
    n_skipped: int = 0
    n_blocked: int = 0
    is_begun: bool = False
    worked_ms: int = 0
    earned: Decimal = Decimal(0)
    trial: TrialProgress | None = None
    """How the person stands in the trial that has to come first; None where nothing does."""

    @property
    def words(self) -> Words:
        words = kind_named(self.study.kind).words
        assert words is not None  # noqa: S101  a kind with label tasks has words for them
        return words

    @property
    def minutes_each(self) -> float:
        """About how long a task takes: at the person's own pace once five are done."""
        is_known = self.n_done >= PACE_NEEDS
        return self.worked_ms / self.n_done / 60_000 if is_known else self.words.minutes

    @property
    def minutes_left(self) -> float:
        """About how long the rest takes."""
        return self.n_open * self.minutes_each

    @property
    def waiting(self) -> str:
        return str(self.words.items % {"n": self.n_open})

    @property
    def left(self) -> str:
        return str(self.words.left % {"n": self.n_open})

    @property
    def finished(self) -> str:
        return str(self.words.finished % {"n": self.n_done})


def labelling_jobs(annotator: Annotator) -> list[LabellingJob]:
    """The label work of a person, the nearest date first; three queries, and two for each trial to come."""
    tasks = LabelTask.objects.filter(annotator=annotator).visible()
    rows = {row["study"]: row for row in tasks.by_study()}
    waiting = tasks.unfinished().with_blocked().filter(is_blocked=True).order_by().values("study")
    blocked = {row["study"]: row["n"] for row in waiting.annotate(n=Count("pk"))}
    jobs = [
        LabellingJob(
            study=study,
            n=row["n"],
            n_done=row["n_done"],
            n_skipped=row["n_skipped"],
            n_open=n_open(row),
            n_blocked=blocked.get(study.pk, 0) if n_open(row) else 0,
            is_begun=row["n"] > row["n_todo"],
            worked_ms=row["worked_ms"],
            earned=pay(row["worked_ms"], study.hourly_rate),
            trial=_trial(study, annotator) if study.has_trial and row["n"] == row["n_todo"] else None,
        )
        for study in Study.objects.filter(pk__in=rows)
        for row in [rows[study.pk]]
    ]
    return sorted(jobs, key=lambda job: (job.study.due_at is None, job.study.due_at or job.study.created_at))


def _trial(study: Study, annotator: Annotator) -> TrialProgress | None:
    progress = progress_of(study, annotator)
    return None if progress.is_passed else progress


def n_open(row: Mapping[str, Any]) -> int:
    """How much is left to label in a study, of a row of `by_study`."""
    return row["n_todo"] + row["n_begun"] if row["study__state"] == Study.State.OPEN else 0


N_DAYS = 14


@dataclass(frozen=True, slots=True)
class Day:
    """A day where the reader is: active time (ms), amounts by currency, height (%) beside the longest day."""

    on: date
    worked_ms: int
    amounts: Sequence[tuple[str, Decimal]]
    height: int

    @property
    def top(self) -> int:
        """Where its bar begins, from above (%)."""
        return 100 - self.height


def last_days(annotator: Annotator, earned: Earned, *, now: datetime) -> list[Day]:
    """The last fourteen days, today as the last.

    A session belongs to the day on which it began, the time of a label task to the day on which it was begun, as
    in `annotation.studies.rhythm`; what was earned on a day is rounded for each study. Two queries.
    """
    first = localdate(now) - timedelta(days=N_DAYS - 1)
    worked: dict[date, int] = defaultdict(int)
    amounts: dict[date, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for row in earned.sessions:
        if row.session.started_at and (on := localdate(row.session.started_at)) >= first:
            worked[on] += row.active_ms
            amounts[on][row.currency] += row.amount
    rows = (
        LabelTask.objects.filter(annotator=annotator, active_ms__gt=0)
        .annotate(on=TruncDate("begun_at"))
        .filter(on__gte=first)
        .order_by()
        .values_list("on", "study")
        .annotate(ms=Sum("active_ms"))
    )
    studies = Study.objects.in_bulk({study for _on, study, _ms in rows})
    for on, study, ms in rows:
        worked[on] += ms
        amounts[on][studies[study].currency] += pay(ms, studies[study].hourly_rate)
    longest = max(worked.values(), default=0)
    days = [first + timedelta(days=each) for each in range(N_DAYS)]
    return [
        Day(
            on,
            worked[on],
            sorted(amounts[on].items()),
            max(2, round(100 * worked[on] / longest)) if worked[on] else 0,
        )
        for on in days
    ]


@dataclass(frozen=True, slots=True)
class Earned:
    """Paid sessions, newest first, and label work; practice is neither."""

    sessions: tuple[results.Earning, ...]
    jobs: tuple[LabellingJob, ...]

    @property
    def totals(self) -> list[tuple[str, Decimal]]:
        """Currency and amount, one for each currency in which something was earned or could have been."""
        amounts: dict[str, Decimal] = defaultdict(Decimal)
        for row in self.sessions:
            amounts[row.currency] += row.amount
        for job in self.jobs:
            amounts[job.study.currency] += job.earned
        return sorted(amounts.items())

    @property
    def worked_ms(self) -> int:
        return sum(row.active_ms for row in self.sessions) + sum(job.worked_ms for job in self.jobs)

    @property
    def n_written(self) -> int:
        """Summaries that were handed in, also by a clock that ran out."""
        return sum(row.session.state in clock.HANDED_IN for row in self.sessions)

    @property
    def done(self) -> list[LabellingJob]:
        return [job for job in self.jobs if job.n_done]


def earned_by(annotator: Annotator, now: datetime, *, jobs: Sequence[LabellingJob] | None = None) -> Earned:
    """All that a person has worked; `jobs` where they are known already. One query, or four."""
    sessions = (
        Session.objects.filter(annotator=annotator, assignment__is_practice=False)
        .exclude(started_at=None)
        .select_related("assignment__study", "assignment__subtopic")
        .order_by("-started_at")
    )
    jobs = labelling_jobs(annotator) if jobs is None else jobs
    return Earned(
        sessions=tuple(results.earnings_of(sessions, now)), jobs=tuple(job for job in jobs if job.worked_ms)
    )
