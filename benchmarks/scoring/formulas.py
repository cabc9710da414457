"""Figures as formulas over sums, with bounds, why they may be undefined, and what a share is made of.

The figure and its interval are computed by `intervals`. Here are the ends that resampling cannot give: of shares
near 0 or 1, where it sees too little of what is rare, and over people and clusters at once (a double jackknife).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import LEVEL, Bools, Floats, divide, t_interval, t_quantile

Formula = Callable[[Floats], Floats]
"""From totals of shape (resamples, sums) to values of shape (resamples,), NaN where undefined."""
SHARE, COEFFICIENT = (0.0, 1.0), (-1.0, 1.0)
"""Bounds of shares, and of correlations and kappas."""
MIN_ITEMS = 4
MIN_CLUSTERS = 5
SAME = 1e-12
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
        return self.formula(totals)


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Parts of a mean of shares in each cluster, for its interval near 0 and 1.

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


RARE = 20
"""Hits, or misses, under which a share is rare."""
PRIOR_RHO, PRIOR_CLUSTERS = 0.2, 10
"""The correlation within clusters that is taken at an edge, and as how many clusters it counts elsewhere."""


def wilson_ends(share: float, n: float) -> tuple[float, float]:
    """Wilson's score interval of a share of `n` independent items, which may be a fraction."""
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(max(0.0, share * (1 - share)) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # Rounding must not push an end past the share at 0/n and n/n.
    return max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share))


def unseen_hits(n_hits: int, n: int, n_others: int) -> Stat:
    """Hits among the others, of whom `n` were drawn by lot and looked at; the hypergeometric test inverted."""
    if not n:
        return Stat.undefined("none was drawn", method="hypergeometric")
    if not n_others:
        return Stat(0.0, n_items=n, method="count", interval_reason="all were looked at")
    from scipy.stats import hypergeom

    total, possible = n + n_others, np.arange(n_hits, n_hits + n_others + 1)
    tail = (1 - LEVEL) / 2
    is_too_few = hypergeom.sf(n_hits - 1, total, possible, n) <= tail
    is_too_many = hypergeom.cdf(n_hits, total, possible, n) <= tail
    kept = possible[~is_too_few & ~is_too_many] - n_hits
    return Stat(
        n_others * n_hits / n,
        n_items=n,
        low=float(kept[0]),
        high=float(kept[-1]),
        method="hypergeometric interval",
    )


def effective_n(hits: Floats, sizes: Floats) -> float:
    """As how many independent items those of clusters count, given their hits and sizes, shape (clusters,).

    The correlation within clusters is that of an analysis of variance, cut at 0 and drawn towards .2 as if ten
    more clusters said so; .2 where all are hits or all misses. Student's t replaces the normal distribution.
    """
    hits, sizes = hits[sizes > 0], sizes[sizes > 0]
    total, n_clusters = float(sizes.sum()), len(sizes)
    estimated = _rho(hits, sizes)
    rho = PRIOR_RHO
    if estimated is not None:
        weight = n_clusters / (n_clusters + PRIOR_CLUSTERS)
        rho = weight * max(0.0, estimated) + (1 - weight) * PRIOR_RHO
    design = 1 + (float((sizes**2).sum()) / total - 1) * rho
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    # A design effect under 1, with clusters of less than one item, would count what is not there.
    return total / max(1.0, design) * (z / t_quantile(n_clusters - 1)) ** 2


def _rho(hits: Floats, sizes: Floats) -> float | None:
    """The intraclass correlation by analysis of variance, None where it has nothing to tell."""
    total, n_clusters = float(sizes.sum()), len(sizes)
    share = float(hits.sum()) / total
    if total <= n_clusters or not 0 < share < 1:
        return None if not 0 < share < 1 else 0.0
    shares = hits / sizes
    between = float((sizes * (shares - share) ** 2).sum()) / (n_clusters - 1)
    within = float((sizes * shares * (1 - shares)).sum()) / (total - n_clusters)
    usual = (total - float((sizes**2).sum()) / total) / (n_clusters - 1)
    whole = between + (usual - 1) * within
    return (between - within) / whole if whole > 0 else 1.0


def is_rare(hits: Floats, sizes: Floats) -> bool:
    """Whether under 20 items are hits, or under 20 are misses."""
    n_hits = float(hits.sum())
    return min(n_hits, float(sizes.sum()) - n_hits) < RARE


def share_ends(share: float, hits: Floats, sizes: Floats) -> tuple[float, float]:
    """Wilson's interval of a share in clusters with its effective number of items.

    It is never surer than it would be with none, or all, of the items hits.
    """
    low, high = wilson_ends(share, effective_n(hits, sizes))
    return within_edges(low, high, sizes)


def within_edges(low: float, high: float, sizes: Floats) -> tuple[float, float]:
    """An interval whose lower end is not above that of all hits, nor its upper end under that of none."""
    n = effective_n(sizes, sizes)
    return min(low, wilson_ends(1.0, n)[0]), max(high, wilson_ends(0.0, n)[1])


def logit_ends(sums: Floats, sizes: Floats) -> tuple[float, float]:
    """The interval of a mean of shares, given their sum and number in each cluster, on the scale of log odds.

    The standard error is the jackknife's over clusters, with Student's t.
    """
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    n = len(sums)
    value = float(sums.sum() / sizes.sum())
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    half = t_quantile(n - 1) * jackknife_error(without) / (value * (1 - value))
    centre = math.log(value / (1 - value))
    low, high = (1 / (1 + math.exp(-max(-700.0, min(700.0, end)))) for end in (centre - half, centre + half))
    return low, high


def few(n_clusters: int, n_items: int = MIN_ITEMS, *, clusters: str = "clusters", items: str = "items") -> str:
    """Why a figure of so many has no interval; empty where it may have one."""
    if n_items < MIN_ITEMS:
        return f"no interval under {MIN_ITEMS} {items}"
    return f"no interval under {MIN_CLUSTERS} {clusters}" if n_clusters < MIN_CLUSTERS else ""


def jackknife_error(without: Floats) -> float:
    """The standard error of a figure by its values without each cluster."""
    n = len(without)
    return float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))


def with_student(
    stat: Stat,
    se: float,
    df: float,
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    same: str = "",
    **changes: Any,
) -> Stat:
    """A defined figure with Student's interval within bounds; where `same` is a reason, none without any error."""
    if stat.value is None or (same and se < SAME):
        return replace(stat, interval_reason=same)
    low, high = t_interval(stat.value, se, df)
    return replace(stat, low=max(bounds[0], low), high=min(bounds[1], high), **changes)


def minority(labels: Floats) -> Floats:
    """The share of labels outside the commonest category, for counts of shape (…, categories)."""
    total = labels.sum(axis=-1)
    return np.divide(total - labels.max(axis=-1), total, out=np.zeros_like(total), where=total > 0)


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """A figure without each person, shape (people,), and without each cluster, shape (clusters,).

    `cells`, shape (people, clusters), is the figure without what a person said in a cluster.
    """

    people: Floats
    clusters: Floats
    cells: Floats

    @property
    def is_defined(self) -> bool:
        """Whether the figure has a value without any of them."""
        return all(np.isfinite(side).all() for side in (self.people, self.clusters, self.cells))

    def minus(self, other: LeftOut) -> LeftOut:
        return LeftOut(self.people - other.people, self.clusters - other.clusters, self.cells - other.cells)

    def mapped(self, function: Callable[[Floats], Floats]) -> LeftOut:
        return LeftOut(function(self.people), function(self.clusters), function(self.cells))


@dataclass(frozen=True, slots=True)
class Error:
    """A standard error with its degrees of freedom, and the variances it comes from."""

    se: float
    df: float
    of_people: float
    of_clusters: float
    of_both: float


def error_over_people(value: float, without: LeftOut) -> Error:
    """How far a figure may be from that of people and clusters like these.

    What people add is how much the figure changes without each of them, less what chance within clusters would do.
    NaN where the figure is undefined without somebody or something.
    """
    m, n = without.cells.shape
    v_a = float(((m - 1) * (value - without.people)).var(ddof=1)) / m
    v_c = float(((n - 1) * (value - without.clusters)).var(ddof=1)) / n
    both = (m - 1) * n * (value - without.cells)
    both = both - both.mean(axis=0) - both.mean(axis=1, keepdims=True) + both.mean()
    v_e = float((both**2).sum()) / ((m - 1) * (n - 1) * m * n)
    v = v_c + max(0.0, v_a - v_e)
    below = v_c**2 / (n - 1)
    if v_a > v_e:
        below += v_a**2 / (m - 1) + v_e**2 / ((m - 1) * (n - 1))
    df = max(v**2 / below if below > 0 else 0.0, min(m, n) - 1.0)
    return Error(math.sqrt(v), df, v_a, v_c, v_e)


def ends_over_people(value: float, without: LeftOut, *, is_correlation: bool) -> tuple[float, float]:
    """Both ends of the interval over people and clusters; that of a correlation is made on Fisher's scale."""
    if is_correlation:
        on_z = float(_z(np.array(value)))
        error = error_over_people(on_z, without.mapped(_z))
        low, high = t_interval(on_z, error.se, error.df)
        return math.tanh(low), math.tanh(high)
    error = error_over_people(value, without)
    return t_interval(value, error.se, error.df)


def _z(correlation: Floats) -> Floats:
    """Fisher's transformation; a perfect correlation stays finite."""
    return np.arctanh(np.clip(correlation, -1 + 1e-9, 1 - 1e-9))
