"""Active time of people on the subtopics of systems: what a score is worth, and when sessions get there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.writing.results import SessionResult
from benchmarks.scoring.curves import SessionCurve, marks
from benchmarks.scoring.minutes import Minutes, drawn_through, minutes_worth
from benchmarks.scoring.survival import SHARES, TimeToScore, time_to_score
from benchmarks.scoring.survival import Session as Marks


@dataclass(frozen=True, slots=True)
class ActiveTime:
    """Joint scores of sessions at the marks of any of them, shape (sessions, marks), with whose they are.

    `at_marks` are minutes, `limit` the longest time that a session had; `own` are the marks of each session with
    its scores there.
    """

    at_marks: tuple[float, ...]
    values: Any
    subtopics: tuple[int, ...]
    writers: tuple[int, ...]
    limit: float
    own: tuple[Mapping[float, float | None], ...]

    def worth(self, targets: Mapping[int, float]) -> Minutes | None:
        """The active minutes that a system's scores by subtopic are worth, on those that both have."""
        return minutes_worth(
            self.values,
            marks=self.at_marks,
            subtopics=self.subtopics,
            targets=targets,
            writers=self.writers,
        )

    def to_shares(self, targets: Mapping[int, float]) -> tuple[TimeToScore, ...]:
        """How long sessions take to shares of a system's score on their subtopic; empty without a common one."""
        sessions = [
            Marks(writer, tuple(curve), tuple(curve.values()), targets[subtopic])
            for writer, subtopic, curve in zip(self.writers, self.subtopics, self.own, strict=True)
            if subtopic in targets
        ]
        if not sessions:
            return ()
        return tuple(time_to_score(sessions, share=share, limit=self.limit) for share in SHARES)


def active_time(sessions: Sequence[SessionResult]) -> ActiveTime | None:
    """That of sessions whose final text is scored; None without any."""
    known = [result for result in sessions if result.last is not None and result.last.score is not None]
    if not known:
        return None
    limit = max(result.session.limit_ms for result in known)
    every = {result.session.mark_every_ms for result in known}
    at_marks = sorted({mark / 60_000 for step in every for mark in marks(limit_ms=limit, mark_every_ms=step)})
    curves = tuple(_joint(result.curve) for result in known)
    return ActiveTime(
        at_marks=tuple(at_marks),
        values=np.array([drawn_through(scores, at_marks) for scores in curves]),
        subtopics=tuple(result.session.assignment.subtopic_id for result in known),
        writers=tuple(result.session.annotator_id for result in known),
        limit=limit / 60_000,
        own=curves,
    )


def _joint(curve: SessionCurve) -> dict[float, float | None]:
    """The joint score of a session at its marks, in active minutes."""
    return {
        mark / 60_000: measures["joint"] if measures else None for mark, measures in sorted(curve.points.items())
    }
