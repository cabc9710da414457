"""How long people take to a share of a system's joint score; sessions that end before count as long as they ran.

A session that gives up, or runs out of time, below the level is censored at its last mark: it would have taken
longer, nobody knows how much. Kaplan and Meier's curve takes it along as long as it was at work.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.intervals import MIN_CLUSTERS, MIN_ITEMS, SAME
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.students_t import t_interval
from benchmarks.scoring.sums import BadShape, Bools, Floats

SHARES = (0.5, 0.7, 0.9)
"""Levels, as shares of the system's joint score."""
METHOD = "restricted mean of Kaplan and Meier's curve"
NO_SESSION = "no session on a subtopic of the system"


@dataclass(frozen=True, slots=True)
class Session:
    """A session's scores at its marks, minutes of active time in ascending order; None where it is not scored.

    `target` is the system's score on the subtopic of the session; `writer` wrote it.
    """

    writer: Hashable
    marks: tuple[float, ...]
    scores: tuple[float | None, ...]
    target: float


@dataclass(frozen=True, slots=True)
class Step:
    """From this minute on `survival` of sessions are still below the level; `n_at_risk` were before it."""

    minute: float
    survival: float
    n_at_risk: int
    n_reached: int


@dataclass(frozen=True, slots=True)
class TimeToScore:
    """How long it takes to a share of the system's joint score.

    `mean` is the restricted mean: minutes spent below the level up to the `limit`. The sessions that ended below
    it did so at the minutes of `censored`.
    """

    share: float
    steps: tuple[Step, ...]
    mean: Stat
    n_reached: int
    censored: tuple[float, ...]
    n_writers: int
    limit: float

    @property
    def n_censored(self) -> int:
        """How many sessions ended below the level."""
        return len(self.censored)

    def below(self, minute: float) -> float:
        """The share of sessions that are still below the level after a minute."""
        return next((step.survival for step in reversed(self.steps) if step.minute <= minute), 1.0)


def time_to_score(
    sessions: Sequence[Session], *, share: float, limit: float, resampling: Resampling | None = DEFAULT
) -> TimeToScore:
    """When sessions first reach a share of the system's score, up to `limit` minutes.

    The interval is over writers (over sessions where each writer has one), by jackknife and Student's t. Beyond
    the last session the curve stays where it is.
    """
    reached = [first_reaching(session, share * session.target) for session in sessions]
    minutes = np.array([minute for minute, _is_there in reached])
    is_reached = np.array([is_there for _minute, is_there in reached], dtype=bool)
    writers = [session.writer for session in sessions]
    n_reached = int(is_reached.sum())
    return TimeToScore(
        share=share,
        steps=kaplan_meier(minutes, is_reached),
        mean=restricted_mean(minutes, is_reached, writers, limit=limit, resampling=resampling),
        n_reached=n_reached,
        censored=tuple(sorted(minutes[~is_reached].tolist())),
        n_writers=len(set(writers)),
        limit=limit,
    )


def first_reaching(session: Session, level: float) -> tuple[float, bool]:
    """The first mark with a score at the level or above, else the last mark; and whether it was reached.

    At a level of 0 that is the start.
    """
    if not session.marks or len(session.marks) != len(session.scores):
        raise BadShape(f"{len(session.scores)} scores at {len(session.marks)} marks")
    if level <= 0:
        return 0.0, True
    for minute, score in zip(session.marks, session.scores, strict=True):
        if score is not None and score >= level - SAME:
            return float(minute), True
    return float(session.marks[-1]), False


def kaplan_meier(minutes: Floats, is_reached: Bools) -> tuple[Step, ...]:
    """The share of sessions that are still below, after each minute at which some are not any more.

    A session that ends at the same minute as another reaches the level was at work when that happened.
    """
    steps, survival = [], 1.0
    for minute in np.unique(minutes[is_reached]):
        n_at_risk = int((minutes >= minute).sum())
        n_reached = int((is_reached & (minutes == minute)).sum())
        survival *= 1 - n_reached / n_at_risk
        steps.append(Step(float(minute), survival, n_at_risk, n_reached))
    return tuple(steps)


def restricted_mean(
    minutes: Floats,
    is_reached: Bools,
    writers: Sequence[Hashable],
    *,
    limit: float,
    resampling: Resampling | None = DEFAULT,
) -> Stat:
    """The mean of minutes below the level up to `limit`, with its interval over writers."""
    if not len(minutes):
        return Stat.undefined(NO_SESSION, method=METHOD)
    groups: dict[Hashable, int] = {}
    of = np.array([groups.setdefault(writer, len(groups)) for writer in writers])
    value, n = _area(minutes, is_reached, limit), len(groups)
    only_these = n if n < MIN_CLUSTERS else None
    stat = Stat(value, n_items=len(minutes), n_clusters=n, method=METHOD, only_these=only_these)
    if resampling is None:
        return stat
    if len(minutes) < MIN_ITEMS:
        return replace(stat, interval_reason=f"no interval under {MIN_ITEMS} sessions")
    if n < MIN_CLUSTERS:
        return replace(stat, interval_reason=f"no interval under {MIN_CLUSTERS} writers")
    without = np.array([_area(minutes[of != at], is_reached[of != at], limit) for at in range(n)])
    se = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if se < SAME:
        return replace(stat, interval_reason="the same without any writer")
    low, high = t_interval(value, se, n - 1, resampling.level)
    return replace(stat, low=max(0.0, low), high=min(limit, high), method=f"{METHOD}, jackknife over writers")


def _area(minutes: Floats, is_reached: Bools, limit: float) -> float:
    """The area under the curve up to the limit."""
    area, before, survival = 0.0, 0.0, 1.0
    for step in kaplan_meier(minutes, is_reached):
        if step.minute >= limit:
            break
        area += survival * (step.minute - before)
        before, survival = step.minute, step.survival
    return area + survival * (limit - before)
