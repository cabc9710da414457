"""Means of systems as if all had been rated by the same people on the same clusters.

Systems are rated on summaries of their own, each by a few people, some of whom are strict. A rating is taken as
the sum of a system, a rater and a cluster (least squares, a summary counting once however many rated it); what
differs between systems is the system's part. Where everybody rated everything, that is what plain means differ by.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from benchmarks.scoring.intervals import MIN_CLUSTERS, MIN_ITEMS, SAME
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.students_t import t_interval
from benchmarks.scoring.sums import BadShape, Bools, Floats, Ints, cluster_index

METHOD = "least squares with raters and clusters"
NOT_LINKED = "no cluster rated by the same people links it with the others"
LEVEL, TINY = 0.95, 1e-10


@dataclass(frozen=True, slots=True)
class Difference:
    """The first system minus the second, with how many clusters have both."""

    first: str
    second: str
    stat: Stat
    n_common: int


@dataclass(frozen=True, slots=True)
class Balanced:
    """The mean of each system, in the order of their names, and every difference of two."""

    means: dict[str, Stat]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class _Sums:
    """Normal equations of each cluster, shapes (clusters, p, p) and (clusters, p), and its mean, (clusters,).

    `mix` is how much of each system's part is in that mean, shape (clusters, systems).
    """

    squares: Floats
    products: Floats
    means: Floats
    mix: Floats

    def without(self, cluster: int) -> _Sums:
        """Those of all clusters but one."""
        kept = np.arange(len(self.means)) != cluster
        return _Sums(self.squares[kept], self.products[kept], self.means[kept], self.mix[kept])


def balanced(
    values: Floats,
    *,
    systems: Sequence[str],
    clusters: Sequence[Hashable],
    bounds: tuple[float, float],
    has_interval: bool = True,
) -> Balanced:
    """Compare systems by ratings of shape (summaries, raters), NaN where there is none.

    Intervals leave out each cluster in turn (jackknife, Student's t); they are about these raters.
    """
    if len(values) != len(systems) or len(values) != len(clusters):
        raise BadShape(f"{len(values)} rows of ratings of {len(systems)} systems in {len(clusters)} clusters")
    rated = np.isfinite(values).any(axis=1)
    kept = np.flatnonzero(rated).tolist()
    names = sorted({systems[at] for at in kept})
    if not names:
        return Balanced({}, ())
    of = np.array([names.index(systems[at]) for at in kept], dtype=np.int64)
    groups = cluster_index([clusters[at] for at in kept], len(kept))
    sums = _sums(values[kept], of, groups, len(names))
    n_clusters, contrasts = len(sums.means), _contrasts(len(names))
    estimates = _estimates(sums, contrasts)
    without = (
        np.stack([_estimates(sums.without(at), contrasts) for at in range(n_clusters)])
        if has_interval and n_clusters >= MIN_CLUSTERS
        else None
    )
    n_of = np.bincount(of, minlength=len(names))

    def stat(at: int, n: int, ends: tuple[float, float]) -> Stat:
        left_out = None if without is None else without[:, at]
        plain = _stat(float(estimates[at]), n, n_clusters)
        return plain if not has_interval else _with_interval(plain, left_out, ends)

    span = bounds[1] - bounds[0]
    presence = np.zeros((n_clusters, len(names)), dtype=bool)
    presence[groups, of] = True
    return Balanced(
        {name: stat(at, int(n_of[at]), bounds) for at, name in enumerate(names)},
        tuple(
            Difference(
                names[first],
                names[other],
                stat(len(names) + at, int(n_of[first] + n_of[other]), (-span, span)),
                int((presence[:, first] & presence[:, other]).sum()),
            )
            for at, (first, other) in enumerate(combinations(range(len(names)), 2))
        ),
    )


def _sums(values: Floats, systems: Ints, clusters: Ints, n_systems: int) -> _Sums:
    """The normal equations of each cluster, its own mean taken out."""
    n_clusters, p = int(clusters.max()) + 1, n_systems + values.shape[1]
    squares, products = np.zeros((n_clusters, p, p)), np.zeros((n_clusters, p))
    means, mix = np.zeros(n_clusters), np.zeros((n_clusters, n_systems))
    row, rater = np.nonzero(np.isfinite(values))
    weight = 1 / np.isfinite(values).sum(axis=1)[row]
    x = np.zeros((len(row), p))
    x[np.arange(len(row)), systems[row]] = 1
    x[np.arange(len(row)), n_systems + rater] = 1
    y = values[row, rater]
    for at in range(n_clusters):
        mine: Bools = clusters[row] == at
        w = weight[mine] / weight[mine].sum()
        centre, means[at] = w @ x[mine], w @ y[mine]
        mix[at] = centre[:n_systems]
        off = x[mine] - centre
        squares[at] = (off * weight[mine, None]).T @ off
        products[at] = (off * weight[mine, None]).T @ (y[mine] - means[at])
    return _Sums(squares, products, means, mix)


def _contrasts(n: int) -> Floats:
    """Every difference of two of n systems, shape (pairs, n)."""
    pairs = list(combinations(range(n), 2))
    rows = np.zeros((len(pairs), n))
    for at, (first, other) in enumerate(pairs):
        rows[at, first], rows[at, other] = 1, -1
    return rows


def _estimates(sums: _Sums, contrasts: Floats) -> Floats:
    """The means of systems, then their differences; NaN where nothing links what is compared."""
    n = sums.mix.shape[1]
    squares = sums.squares.sum(axis=0)
    inverse = np.linalg.pinv(squares, rcond=TINY, hermitian=True)
    parts = inverse @ sums.products.sum(axis=0)
    wanted = np.zeros((n + len(contrasts), len(squares)))
    wanted[:, :n] = np.vstack([np.eye(n) - sums.mix.mean(axis=0), contrasts])
    estimates: Floats = wanted @ parts
    estimates[:n] += sums.means.mean()
    is_known = np.abs(wanted @ squares @ inverse - wanted).max(axis=1, initial=0.0) < 1e-6
    return np.where(is_known, estimates, np.nan)


def _stat(value: float, n: int, n_clusters: int) -> Stat:
    if not np.isfinite(value):
        return Stat.undefined(NOT_LINKED, n_items=n, n_clusters=n_clusters, method=METHOD)
    return Stat(value, n_items=n, n_clusters=n_clusters, method=METHOD)


def _with_interval(stat: Stat, without: Floats | None, ends: tuple[float, float]) -> Stat:
    if stat.value is None:
        return stat
    n = stat.n_clusters or 0
    if stat.n_items < MIN_ITEMS:
        return replace(stat, interval_reason=f"no interval under {MIN_ITEMS} summaries")
    if without is None:
        return replace(stat, interval_reason=f"no interval under {MIN_CLUSTERS} clusters")
    if not np.isfinite(without).all():
        return replace(stat, interval_reason="undefined without some cluster")
    se = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if se < SAME:
        return replace(stat, interval_reason="the same without any cluster")
    low, high = t_interval(stat.value, se, n - 1, LEVEL)
    low, high = max(ends[0], low), min(ends[1], high)
    return replace(stat, low=low, high=high, method=f"{METHOD}, jackknife over clusters")
