"""Means, ratios and rates of rows in clusters, each with its interval."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.formulas import Figure, Rate, Shares
from benchmarks.scoring.intervals import MIN_ITEMS, Batch
from benchmarks.scoring.shares import wilson_ends
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import BadShape, in_order_of_content, ratio, sum_by_cluster


def figure_of(
    figure: Figure,
    rows: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    n_items: int,
    n_pairs: int | None = None,
    resampling: Resampling | None = DEFAULT,
    n_rare: float | None = None,
) -> Stat:
    """One figure of rows of shape (n, sums); `clusters` has a key for each row, None makes each its own.

    `n_rare` is for a figure whose first two sums are the sum and the number of shares, of which it is a linear
    function: how many of these are above 0, or below 1, whichever are fewer.

    Clusters in which nothing counts are drawn and counted as well; leave their rows out where they must not be.
    """
    sums = in_order_of_content(sum_by_cluster(rows, None if resampling is None else clusters))
    batch = Batch(len(sums), resampling)
    shares = None if n_rare is None else Shares(sums[:, 0], sums[:, 1], sums[:, 1], n_rare)
    estimate = batch.estimate(figure, [batch.add(sums)], n_clusters=len(sums), shares=shares)
    stat = estimate.stat(n_items=n_items, n_pairs=n_pairs)
    return stat if stat.is_defined and resampling is not None else replace(stat, n_clusters=None)


def rate(
    hits: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling = DEFAULT,
    method: str = "rate",
) -> Stat:
    """Share of true `hits`, shape (n,): Wilson where items are independent, else by cluster."""
    array = np.asarray(hits, dtype=np.float64)
    n = len(array)
    if clusters is None or not n:
        exact = wilson(round(float(array.sum())), n, level=resampling.level, method=method)
        return replace(exact, n_clusters=n)
    rows = np.column_stack([array, np.ones(n)])
    return figure_of(Rate.of(method, "no items"), rows, clusters=clusters, n_items=n, resampling=resampling)


def bootstrap_ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    n_items: int | None = None,
    resampling: Resampling | None = DEFAULT,
    method: str = "",
    reason: str = "nothing to average",
    bounds: tuple[float, float] | None = None,
) -> Stat:
    """Ratio of totals with its interval: a mean over items when rows hold sums and counts.

    Both arrays have shape (rows,); `clusters` has a key per row. `n_items` defaults to the total of the
    denominators. Undefined, for `reason`, when that total is 0. `bounds` are those of the ratio.
    """
    top, bottom = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
    if top.shape != bottom.shape or top.ndim != 1:
        raise BadShape(f"numerators {top.shape} and denominators {bottom.shape}")
    total = float(bottom.sum())
    count = round(total) if n_items is None else n_items
    if total == 0:
        return Stat.undefined(reason, n_items=count, method=method)
    figure = Figure(method, ratio, reason, bounds)
    rows = np.column_stack([top, bottom])
    return figure_of(figure, rows, clusters=clusters, n_items=count, resampling=resampling)


def bootstrap_mean(
    values: ArrayLike | Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling | None = DEFAULT,
    method: str = "mean",
    reason: str = "nothing to average",
    bounds: tuple[float, float] | None = None,
) -> Stat:
    """Mean of `values`, shape (n,), with its interval; `bounds` are those of a value.

    Missing ones (None, NaN) are left out with their clusters; undefined, for `reason`, when none is there.
    """
    array = np.array(values, dtype=np.float64)
    is_there = np.isfinite(array)
    if clusters is not None:
        clusters = [key for key, there in zip(clusters, is_there.tolist(), strict=True) if there]
    return bootstrap_ratio(
        array[is_there],
        np.ones(is_there.sum()),
        clusters=clusters,
        resampling=resampling,
        method=method,
        reason=reason,
        bounds=bounds,
    )


def wilson(n_hits: int, n: int, *, level: float = 0.95, method: str = "rate") -> Stat:
    """Share of hits among `n` independent items with Wilson's score interval."""
    if n == 0:
        return Stat.undefined("no items", method=method)
    if not 0 <= n_hits <= n:
        raise BadShape(f"{n_hits} hits among {n} items")
    share = n_hits / n
    if n < MIN_ITEMS:
        return Stat(share, n_items=n, method=method, interval_reason=f"no interval under {MIN_ITEMS} items")
    low, high = wilson_ends(share, n, level=level)
    return Stat(share, n_items=n, low=low, high=high, method=f"{method}, Wilson interval")
