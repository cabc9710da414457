"""Intervals: Wilson for independent rates, percentile cluster bootstrap for everything else.

A bootstrap works on sufficient statistics: one row of sums per cluster, and a figure that maps rows of totals
to values. Clusters are resampled, never the items in them, and the whole figure is computed anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.scoring.stat import Stat

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Figure = Callable[[Floats], Floats]
"""From totals of shape (resamples, sums) to values of shape (resamples,), NaN where undefined."""

RowFigure = Callable[[Ints], float | None]
"""From row numbers, some of them repeated, to a value."""

MIN_ITEMS = 4
MIN_CLUSTERS = 5
MIN_DEFINED = 0.9
"""Share of resamples that must have a value; below it the percentiles would describe a lucky part."""

_CELLS = 200_000
"""Drawn clusters held at once; few enough to stay in the processor's cache."""

_KEPT_CELLS = 40_000_000
"""Drawn clusters kept for the figures of one report, a byte each; larger draws are made anew for each figure."""

_kept: ContextVar[dict[tuple[int, int, int], list[NDArray[np.uint8]]] | None] = ContextVar("draws", default=None)


@dataclass(frozen=True, slots=True)
class Resampling:
    """How a bootstrap is drawn; stored with its interval, so that anyone can draw it again."""

    seed: int = 20240701
    n_resamples: int = 2000
    level: float = 0.95


DEFAULT = Resampling()


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends, or None and a reason; what was resampled and how."""

    low: float | None
    high: float | None
    n_clusters: int
    method: str
    reason: str = ""
    seed: int | None = None
    n_resamples: int | None = None

    def on(self, figure: Stat) -> Stat:
        """`figure` with this interval; an undefined figure keeps its reason and gets none."""
        if figure.value is None:
            return replace(figure, n_clusters=self.n_clusters)
        return replace(
            figure,
            low=self.low,
            high=self.high,
            n_clusters=self.n_clusters,
            interval_reason=self.reason,
            seed=self.seed,
            n_resamples=self.n_resamples,
            method=", ".join(
                part for part in (figure.method, self.method if self.low is not None else "") if part
            ),
        )


class BadShape(ValueError):
    """Arrays that should run in parallel do not."""


def cluster_index(clusters: Sequence[Hashable] | None, n_rows: int) -> Ints:
    """Cluster number of each row, shape (n_rows,), numbered by first appearance; None: each row its own."""
    if clusters is None:
        return np.arange(n_rows, dtype=np.int64)
    if len(clusters) != n_rows:
        raise BadShape(f"{len(clusters)} cluster keys for {n_rows} rows")
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in clusters], dtype=np.int64)


def sum_by_cluster(rows: ArrayLike, clusters: Sequence[Hashable] | None) -> Floats:
    """Add up rows of shape (n, m) within clusters: shape (clusters, m)."""
    table = np.asarray(rows, dtype=np.float64)
    table = table.reshape(len(table), -1)
    index = cluster_index(clusters, len(table))
    if clusters is None:
        return table
    totals = np.zeros((int(index.max(initial=-1)) + 1, table.shape[1]))
    np.add.at(totals, index, table)
    return totals


def bootstrap(figure: Figure, sums: Floats, *, n_items: int, resampling: Resampling = DEFAULT) -> Interval:
    """Percentile interval of `figure` over resampled rows of `sums`, shape (clusters, m).

    `n_items` are the items behind the figure; under 4 of them or 5 clusters there is no interval.
    """
    n_clusters = len(sums)
    if reason := too_small(n_items, n_clusters):
        return Interval(None, None, n_clusters, "", reason=reason)
    values = [figure(drawn @ sums) for drawn in draws(n_clusters, resampling)]
    return percentiles(np.concatenate(values), n_clusters, resampling)


@contextmanager
def shared_draws() -> Iterator[None]:
    """Keep what is drawn until the end of a report: the same draws, as without, but made once."""
    if _kept.get() is not None:
        yield
        return
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def draws(n_clusters: int, resampling: Resampling = DEFAULT) -> Iterator[Floats]:
    """How often each cluster is drawn, in pieces of shape (some resamples, n_clusters)."""
    kept = _kept.get()
    key = (n_clusters, resampling.seed, resampling.n_resamples)
    if kept is None or n_clusters * resampling.n_resamples > _KEPT_CELLS:
        yield from _drawn(n_clusters, resampling)
    elif key in kept:
        yield from (piece.astype(np.float64) for piece in kept[key])
    else:
        pieces = []
        for piece in _drawn(n_clusters, resampling):
            pieces.append(np.minimum(piece, 255).astype(np.uint8))
            yield piece
        kept[key] = pieces


def _drawn(n_clusters: int, resampling: Resampling) -> Iterator[Floats]:
    rng = np.random.default_rng(resampling.seed)
    step = max(1, _CELLS // n_clusters)
    for start in range(0, resampling.n_resamples, step):
        yield _multiplicities(rng, min(step, resampling.n_resamples - start), n_clusters)


def bootstrap_rows(
    figure: RowFigure,
    clusters: Sequence[Hashable] | None,
    *,
    n_rows: int,
    resampling: Resampling = DEFAULT,
) -> Interval:
    """As `bootstrap`, for a figure without sufficient statistics: called with row numbers, drawn by cluster."""
    index = cluster_index(clusters, n_rows)
    n_clusters = int(index.max(initial=-1)) + 1
    if reason := too_small(n_rows, n_clusters):
        return Interval(None, None, n_clusters, "", reason=reason)
    members = [np.flatnonzero(index == number) for number in range(n_clusters)] if clusters is not None else None
    rng = np.random.default_rng(resampling.seed)
    values = np.full(resampling.n_resamples, np.nan)
    for resample in range(resampling.n_resamples):
        drawn = rng.integers(0, n_clusters, n_clusters)
        value = figure(drawn if members is None else np.concatenate([members[number] for number in drawn]))
        values[resample] = np.nan if value is None else value
    return percentiles(values, n_clusters, resampling)


def bootstrap_ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    n_items: int | None = None,
    resampling: Resampling = DEFAULT,
    method: str = "",
    reason: str = "nothing to average",
) -> Stat:
    """Ratio of totals with its interval: a mean over items when rows hold sums and counts.

    Both arrays have shape (rows,); `clusters` has a key per row. `n_items` defaults to the total of the
    denominators. Undefined, for `reason`, when that total is 0.
    """
    rows = _parallel(numerators, denominators)
    total = rows.sum(axis=0)
    count = round(float(total[1])) if n_items is None else n_items
    if total[1] == 0:
        return Stat.undefined(reason, n_items=count, method=method)
    interval = bootstrap(_ratio, sum_by_cluster(rows, clusters), n_items=count, resampling=resampling)
    return interval.on(Stat(total[0] / total[1], n_items=count, method=method))


def bootstrap_mean(
    values: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling = DEFAULT,
    method: str = "mean",
) -> Stat:
    """Mean of `values`, shape (n,), with its interval."""
    array = np.asarray(values, dtype=np.float64)
    return bootstrap_ratio(array, np.ones(len(array)), clusters=clusters, resampling=resampling, method=method)


def rate(
    hits: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling = DEFAULT,
    method: str = "rate",
) -> Stat:
    """Share of true `hits`, shape (n,): Wilson where items are independent or all agree, else by cluster."""
    array = np.asarray(hits, dtype=np.float64)
    n_hits, n = round(float(array.sum())), len(array)
    if clusters is None or n_hits in (0, n):
        n_clusters = int(cluster_index(clusters, n).max(initial=-1)) + 1
        return replace(wilson(n_hits, n, level=resampling.level, method=method), n_clusters=n_clusters)
    return bootstrap_ratio(array, np.ones(n), clusters=clusters, resampling=resampling, method=method)


def bootstrap_difference(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    *,
    clusters: Sequence[Hashable] | None = None,
    n_items: int | None = None,
    resampling: Resampling = DEFAULT,
) -> Stat:
    """First ratio of totals minus the second on the same rows, resampled together (paired).

    Each argument is (numerators, denominators), all four of shape (rows,).
    """
    rows = np.hstack([_parallel(*first), _parallel(*second)])
    total = rows.sum(axis=0)
    count = round(float(min(total[1], total[3]))) if n_items is None else n_items
    method = "paired difference"
    if total[1] == 0 or total[3] == 0:
        return Stat.undefined("nothing to compare on one side", n_items=count, method=method)
    interval = bootstrap(_difference, sum_by_cluster(rows, clusters), n_items=count, resampling=resampling)
    value = float(_difference(total[None, :])[0])
    return interval.on(Stat(value, n_items=count, method=method))


def paired_difference(
    first: RowFigure,
    second: RowFigure,
    *,
    n_rows: int,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling = DEFAULT,
) -> Stat:
    """Difference of any two figures of the same rows, as two judges' correlations with one human (paired).

    Each is called with row numbers and gives its value there, None where undefined.
    """

    def both(rows: Ints) -> float | None:
        one, other = first(rows), second(rows)
        return None if one is None or other is None else one - other

    value = both(np.arange(n_rows, dtype=np.int64)) if n_rows else None
    method = "paired difference"
    if value is None:
        return Stat.undefined("undefined on one side", n_items=n_rows, method=method)
    interval = bootstrap_rows(both, clusters, n_rows=n_rows, resampling=resampling)
    return interval.on(Stat(value, n_items=n_rows, method=method))


def wilson(n_hits: int, n: int, *, level: float = 0.95, method: str = "rate") -> Stat:
    """Share of hits among `n` independent items with Wilson's score interval."""
    if n == 0:
        return Stat.undefined("no items", method=method)
    if not 0 <= n_hits <= n:
        raise BadShape(f"{n_hits} hits among {n} items")
    share = n_hits / n
    if n < MIN_ITEMS:
        return Stat(share, n_items=n, method=method, interval_reason=f"no interval under {MIN_ITEMS} items")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # Rounding must not push an end past the share at 0/n and n/n.
    low, high = max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share))
    return Stat(share, n_items=n, low=low, high=high, method=f"{method}, Wilson interval")


def _multiplicities(rng: np.random.Generator, n_resamples: int, n_clusters: int) -> Floats:
    """How often each cluster is drawn, shape (n_resamples, n_clusters)."""
    drawn = rng.integers(0, n_clusters, (n_resamples, n_clusters), dtype=np.int32)
    drawn += np.arange(n_resamples, dtype=np.int32)[:, None] * np.int32(n_clusters)
    counts = np.bincount(drawn.ravel(), minlength=n_resamples * n_clusters)
    return counts.reshape(n_resamples, n_clusters).astype(np.float64)


def percentiles(values: Floats, n_clusters: int, resampling: Resampling) -> Interval:
    """The interval between the percentiles of resampled values, shape (resamples,), NaN where undefined."""
    defined = values[np.isfinite(values)]
    if len(defined) < MIN_DEFINED * len(values):
        return Interval(None, None, n_clusters, "", reason="undefined in too many resamples")
    tail = (1 - resampling.level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(
        float(low),
        float(high),
        n_clusters,
        "cluster bootstrap",
        seed=resampling.seed,
        n_resamples=resampling.n_resamples,
    )


def too_small(n_items: int, n_clusters: int) -> str:
    """Why so few items or clusters have no interval, empty if they have one."""
    if n_items < MIN_ITEMS:
        return f"no interval under {MIN_ITEMS} items"
    if n_clusters < MIN_CLUSTERS:
        return f"no interval under {MIN_CLUSTERS} clusters"
    return ""


def _parallel(numerators: ArrayLike, denominators: ArrayLike) -> Floats:
    top, bottom = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if top.shape != bottom.shape or top.ndim != 1:
        raise BadShape(f"numerators {top.shape} and denominators {bottom.shape}")
    return np.column_stack([top, bottom])


def _ratio(totals: Floats) -> Floats:
    return divide(totals[:, 0], totals[:, 1])


def _difference(totals: Floats) -> Floats:
    return _ratio(totals) - _ratio(totals[:, 2:])


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Element by element, NaN where the denominator is 0: for figures inside a bootstrap."""
    result = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=result, where=np.asarray(denominator) != 0)
    return result
