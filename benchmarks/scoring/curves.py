"""Progress of writing sessions over active time (Figure 3): each session, and the mean with its band.

Two rules for sessions that ended before a mark, both named, since they answer different questions.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.scoring.components import Cell, over_writers
from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.formulas import SHARE
from benchmarks.scoring.means import bootstrap_mean
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import MEASURES, Scores, UnknownMeasure

Measures = Mapping[str, float | None]
"""The five measures of one snapshot; a measure is None where it is undefined."""


class CurveRule(StrEnum):
    """What a session that has ended counts for at later marks: its last value, or nothing."""

    CARRIED_FORWARD = "carried_forward"
    STILL_AT_WORK = "still_at_work"


class BadCurve(ValueError):
    """Marks that are not in order, or a session scored after its end."""


@dataclass(frozen=True, slots=True)
class SessionCurve:
    """The scored snapshots of one session.

    `points` map active milliseconds to the measures of the snapshot there, None where it has no score yet; the
    final snapshot stands at `end_ms`, the active time when the session ended (or so far, where it `is_running`:
    then nothing is carried forward). `writer` wrote on `subtopic`; None is nobody in particular.
    """

    key: str
    end_ms: int
    points: Mapping[int, Measures | None]
    is_running: bool = False
    writer: Hashable = None
    subtopic: Hashable = None

    def __post_init__(self) -> None:
        if late := [mark for mark in self.points if mark > self.end_ms]:
            raise BadCurve(f"session {self.key} ended at {self.end_ms} ms and has a score at {max(late)} ms")

    def at(self, mark_ms: int, rule: CurveRule) -> Measures | None:
        """Measures at a mark: of the snapshot there, or the final one where the rule carries it forward."""
        if mark_ms <= self.end_ms:
            return self.points.get(mark_ms)
        return self.points.get(self.end_ms) if self.counts_at(mark_ms, rule) else None

    def counts_at(self, mark_ms: int, rule: CurveRule) -> bool:
        """Whether the session belongs to the mean at a mark, scored or not."""
        return mark_ms <= self.end_ms or (rule is CurveRule.CARRIED_FORWARD and not self.is_running)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The mean over sessions at one mark.

    `n_sessions` belong there under the rule, `n_unscored` of them have no score yet; `mean.n_items` are those
    with a value (a citation figure is undefined while nothing is covered).
    """

    mark_ms: int
    mean: Stat
    n_sessions: int
    n_unscored: int


@dataclass(frozen=True, slots=True)
class SessionPoint:
    """One session at one mark; `is_carried` says that it had ended before."""

    key: str
    mark_ms: int
    value: float | None
    is_carried: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """One measure over active time under one rule."""

    measure: str
    rule: CurveRule
    points: tuple[CurvePoint, ...]
    sessions: tuple[SessionPoint, ...]


def measures_of(scores: Scores) -> dict[str, float | None]:
    """The five measures of a scored summary, as a curve takes them."""
    return {name: scores.measure(name).value for name in MEASURES}


def marks(*, limit_ms: int, mark_every_ms: int) -> tuple[int, ...]:
    """The marks of a full session, the limit as the last one."""
    return (*range(mark_every_ms, limit_ms, mark_every_ms), limit_ms)


def progress(
    sessions: Sequence[SessionCurve],
    *,
    measure: str,
    at_marks: Sequence[int],
    rule: CurveRule,
    resampling: Resampling = DEFAULT,
) -> Curve:
    """Mean of `measure` over sessions at each mark (milliseconds of active time).

    From 5 writers on its interval is for writers and subtopics like these, else sessions are resampled.
    """
    if measure not in MEASURES:
        raise UnknownMeasure(f"{measure!r} is none of {', '.join(MEASURES)}")
    if sorted(set(at_marks)) != list(at_marks):
        raise BadCurve("marks must ascend")
    means: list[CurvePoint] = []
    points: list[SessionPoint] = []
    for mark in at_marks:
        present = [session for session in sessions if session.counts_at(mark, rule)]
        scored = [(session, session.at(mark, rule)) for session in present]
        here = [
            SessionPoint(session.key, mark, figures.get(measure), mark > session.end_ms)
            for session, figures in scored
            if figures is not None
        ]
        cells = [
            Cell(session.writer, session.subtopic, value)
            for session, figures in scored
            if session.writer is not None and figures and (value := figures.get(measure)) is not None
        ]
        values = [point.value for point in here]
        means.append(
            CurvePoint(
                mark_ms=mark,
                mean=over_writers(
                    _mean(values, n_sessions=len(present), n_scored=len(here), rule=rule, resampling=resampling),
                    cells,
                    bounds=SHARE,
                    level=resampling.level,
                ),
                n_sessions=len(present),
                n_unscored=len(present) - len(here),
            )
        )
        points.extend(here)
    return Curve(measure=measure, rule=rule, points=tuple(means), sessions=tuple(points))


def _mean(
    values: Sequence[float | None], *, n_sessions: int, n_scored: int, rule: CurveRule, resampling: Resampling
) -> Stat:
    method = f"mean over sessions, {rule.value.replace('_', ' ')}"
    reason = "no session lasted until here"
    if n_sessions:
        reason = "nothing covered yet" if n_scored else "not scored yet"
    return bootstrap_mean(values, resampling=resampling, method=method, reason=reason, bounds=SHARE)
