"""What a figure is: a formula over sums, its bounds, why it may be undefined, and what a share is made of.

The figure and its interval are computed by `intervals`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.sums import Bools, Floats, divide

Formula = Callable[[Floats], Floats]
"""From totals of shape (resamples, sums) to values of shape (resamples,), NaN where undefined."""
SHARE, COEFFICIENT = (0.0, 1.0), (-1.0, 1.0)
"""Bounds of shares, and of correlations and kappas."""
RARE_SHARE = 0.2
"""Share of the labels under which those outside the commonest category are rare."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """How a figure is computed from totals, what this is called, and why it may be undefined.

    `bounds` are the least and the greatest value it can have, None where there are none: an interval at a bound
    is made from them when the figure is the same in every resample. `is_attenuated` where chance in the items
    pulls the figure towards 0, and resampling does so once more: the interval then also takes in the percentiles
    mirrored at the value (the basic bootstrap), which errs the other way. `minority` gives from totals the share
    of labels outside the commonest category, where chance is taken from how often labels are given.
    `is_correlation` where Fisher's transformation makes its scatter even.
    """

    method: str
    formula: Formula
    reason: str
    bounds: tuple[float, float] | None = None
    is_attenuated: bool = False
    minority: Callable[[Floats], Floats] | None = None
    is_correlation: bool = False

    def __call__(self, totals: Floats) -> Floats:
        """The value for each row of totals."""
        return self.formula(totals)


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """What a mean of shares is made of in each cluster, for its interval near 0 and 1.

    `sums` and `sizes`, shape (clusters,), are its numerators and denominators. `units` are the smallest things
    that are found or missed, and `n_rare` is how many of them are above 0, or below 1, whichever are fewer.
    `is_binary` where every unit is a hit or a miss. `has_rare` are the clusters with any of the few.
    """

    sums: Floats
    sizes: Floats
    units: Floats
    n_rare: float = 0.0
    is_binary: bool = False
    has_rare: Bools | None = None

    def clusters_where_rare(self, other: Shares) -> int | None:
        """Clusters with the few, where both sides of a difference are rarely above 0, or below 1; else None."""
        if self.has_rare is None or other.has_rare is None:
            return None
        are_rare = all(side.n_rare < RARE_SHARE * float(side.units.sum()) for side in (self, other))
        return int((self.has_rare | other.has_rare).sum()) if are_rare else None


@dataclass(frozen=True, slots=True, eq=False)
class Rate(Figure):
    """A share of hits; `hits` and `among` are the weights of the sums that are its numerator and denominator."""

    hits: Floats = field(kw_only=True)
    among: Floats = field(kw_only=True)

    @classmethod
    def of(cls, method: str, reason: str, *, hits: ArrayLike = (1, 0), among: ArrayLike = (0, 1)) -> Rate:
        """A rate by its weights; by default of sums that are (hits, n)."""
        above, below = np.asarray(hits, dtype=np.float64), np.asarray(among, dtype=np.float64)

        def formula(totals: Floats) -> Floats:
            return divide(totals @ above, totals @ below)

        return cls(method, formula, reason, SHARE, hits=above, among=below)

    def counts(self, totals: Floats) -> tuple[int, int]:
        """Hits and n of totals of shape (1, sums)."""
        return round(float((totals @ self.hits)[0])), round(float((totals @ self.among)[0]))
