"""A person's way through a study: all their tasks in order, where they are, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from annotation.models import Annotator, LabelTask, Study

OPEN_STATES = (LabelTask.State.TODO, LabelTask.State.BEGUN)


@dataclass(frozen=True, slots=True)
class Stop:
    """One task on the way; `number` counts from 1."""

    number: int
    uid: UUID
    state: str
    is_flagged: bool

    @property
    def label(self) -> str:
        """Its state in words."""
        return str(LabelTask.State(self.state).label)

    @property
    def is_open(self) -> bool:
        """Whether something is left to answer that was not skipped."""
        return self.state in OPEN_STATES


@dataclass(frozen=True, slots=True)
class Course:
    """All stops of a person in a study, and the index of the one they are at (None: at none of them)."""

    stops: tuple[Stop, ...]
    at: int | None = None

    @property
    def number(self) -> int:
        """The number of the present stop."""
        return 0 if self.at is None else self.stops[self.at].number

    @property
    def n_done(self) -> int:
        """How many are done."""
        return sum(stop.state == LabelTask.State.DONE for stop in self.stops)

    @property
    def n_skipped(self) -> int:
        """How many were skipped."""
        return sum(stop.state == LabelTask.State.SKIPPED for stop in self.stops)

    @property
    def n_open(self) -> int:
        """How many are left."""
        return sum(stop.is_open for stop in self.stops)

    @property
    def previous(self) -> Stop | None:
        """The stop before this one."""
        return self.stops[self.at - 1] if self.at else None

    @property
    def next(self) -> Stop | None:
        """The stop after this one."""
        if self.at is None or self.at + 1 >= len(self.stops):
            return None
        return self.stops[self.at + 1]

    @property
    def next_open(self) -> Stop | None:
        """The next one with something left to answer, after the last the first again; never the present one."""
        start = -1 if self.at is None else self.at
        around: Sequence[Stop] = (*self.stops[start + 1 :], *self.stops[: max(0, start)])
        return next((stop for stop in around if stop.is_open), None)


def course_of(*, study: Study, annotator: Annotator, at: Any = None) -> Course:
    """The way of a person through a study, by one query; `at` is the task they are at."""
    rows = LabelTask.objects.filter(study=study, annotator=annotator).order_by("position")
    stops = tuple(
        Stop(number, *row) for number, row in enumerate(rows.values_list("uid", "state", "is_flagged"), 1)
    )
    index = next((i for i, stop in enumerate(stops) if at is not None and stop.uid == at.uid), None)
    return Course(stops, index)
