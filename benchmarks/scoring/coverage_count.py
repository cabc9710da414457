"""Counting how often intervals hold a truth that is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import NormalDist, fmean, stdev

from benchmarks.scoring.minutes import Minutes
from benchmarks.scoring.stat import Stat

Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Held:
    """How one figure's intervals did in simulated worlds; `shown` is the share of worlds with one.

    `clusters` are subtopics, questions or sessions, `people` writers or annotators. `known_width` is the width of
    intervals where the variances are known: 2 · 1.96 times the standard deviation of the error in these worlds.
    """

    figure: str
    clusters: int
    coverage: float | None
    mean_width: float | None
    shown: float
    repetitions: int
    world: str = "ordinary"
    people: int | None = None
    known_width: float | None = None

    def of(self, world: str) -> Held:
        """The same of a world by name."""
        return replace(self, world=world)


@dataclass(slots=True)
class Count:
    """Intervals so far: how many, how many held the truth, and how wide those are that have two ends."""

    n: int = 0
    held: int = 0
    widths: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def add(self, stat: Stat | Minutes, truth: float | None) -> None:
        """Count an interval, if there is one."""
        if stat.low is None or stat.high is None or truth is None:
            return
        self.mark(stat.low <= truth <= stat.high)
        if math.isfinite(stat.high - stat.low):
            self.widths.append(stat.high - stat.low)
        if stat.value is not None:
            self.errors.append(stat.value - truth)

    def mark(self, held: bool) -> None:
        """Count something that was right or wrong and has no width."""
        self.n += 1
        self.held += held

    def row(
        self,
        figure: str,
        clusters: int,
        repetitions: int,
        *,
        people: int | None = None,
        width: float | None = None,
    ) -> Held:
        """What was counted; `width` where there is one to tell that no interval has."""
        return Held(
            figure=figure,
            clusters=clusters,
            coverage=self.held / self.n if self.n else None,
            mean_width=width if width is not None or not self.widths else fmean(self.widths),
            shown=self.n / repetitions,
            repetitions=repetitions,
            people=people,
            known_width=2 * Z * stdev(self.errors) if len(self.errors) > 1 else None,
        )
