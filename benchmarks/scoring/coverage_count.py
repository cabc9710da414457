"""Counting how often intervals hold a truth that is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from benchmarks.scoring.minutes import Minutes
from benchmarks.scoring.stat import Stat


@dataclass(frozen=True, slots=True)
class Held:
    """How one figure's intervals did in simulated worlds; `shown` is the share of worlds with one.

    `clusters` are subtopics, questions or sessions, `people` writers or annotators. `known_width` is the mean
    width that intervals would have if the variances were known, where that is computed.
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
    n_closed: int = 0
    held: int = 0
    width: float = 0.0
    known: float = 0.0

    def add(self, stat: Stat | Minutes, truth: float | None, *, known: float | None = None) -> None:
        """Count an interval; `known` is the width that it would have with known variances."""
        if stat.low is None or stat.high is None or truth is None:
            return
        self.mark(stat.low <= truth <= stat.high)
        if math.isfinite(stat.high - stat.low):
            self.n_closed += 1
            self.width += stat.high - stat.low
        self.known += known or 0.0

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
            mean_width=width if width is not None else (self.width / self.n_closed if self.n_closed else None),
            shown=self.n / repetitions,
            repetitions=repetitions,
            people=people,
            known_width=self.known / self.n if self.known else None,
        )
