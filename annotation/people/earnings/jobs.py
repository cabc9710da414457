"""Label work of a person: all tasks of one study as one job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count

from annotation.kinds import Words, kind_named
from annotation.labelling.trial.progress import TrialProgress, progress_of
from annotation.models import Annotator, LabelTask, Study
from annotation.studies.earnings import pay

PACE_NEEDS = 5


@dataclass(frozen=True, slots=True)
class LabellingJob:
    """All label tasks of one study; times in ms. `n_blocked` of the open ones wait for something else."""

    study: Study
    n: int
    n_done: int
    n_skipped: int
    n_open: int
    n_blocked: int
    is_begun: bool
    worked_ms: int
    earned: Decimal
    trial: TrialProgress | None = None
    """How the person stands in the trial that has to come first; None where nothing does."""

    @property
    def words(self) -> Words:
        """What tasks of its kind are called."""
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
    def left(self) -> str:
        """How many tasks are left."""
        return str(self.words.left % {"n": self.n_open})

    @property
    def finished(self) -> str:
        """How many tasks are done."""
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
