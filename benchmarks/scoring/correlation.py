"""Correlation of two columns of numbers, and of every two annotators on the same insights."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.intervals import (
    BadShape,
    Figure,
    Floats,
    Ints,
    Resampling,
    bootstrap,
    bootstrap_rows,
    divide,
    sum_by_cluster,
)
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.stat import Stat

MIN_POINTS = 3
_NOISE = 1e-12
"""A variance this small beside the squared values is rounding: the column is constant."""


def pearson(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling | None = None,
) -> Stat:
    """Pearson's r of two arrays of shape (n,)."""
    first, second = _columns(x, y)
    if reason := _undefined(first, second):
        return Stat.undefined(reason, n_items=len(first), method="Pearson")
    rows = _moments(first - first.mean(), second - second.mean())
    stat = Stat(float(r_of_moments(rows.sum(axis=0)[None, :])[0]), n_items=len(first), method="Pearson")
    if resampling is None:
        return stat
    return bootstrap(r_of_moments, sum_by_cluster(rows, clusters), n_items=len(first), resampling=resampling).on(
        stat
    )


def spearman(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling | None = None,
) -> Stat:
    """Spearman's rank correlation of two arrays of shape (n,), ties at their mean rank."""
    from scipy.stats import spearmanr

    return _by_rows(lambda a, b: float(spearmanr(a, b).statistic), x, y, "Spearman", clusters, resampling)


def kendall_tau_b(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling | None = None,
) -> Stat:
    """Kendall's tau-b of two arrays of shape (n,), corrected for ties."""
    from scipy.stats import kendalltau

    return _by_rows(
        lambda a, b: float(kendalltau(a, b, variant="b").statistic), x, y, "Kendall's tau-b", clusters, resampling
    )


def coverage_correlation(
    ratings: Ratings, *, values: Mapping[str, float], resampling: Resampling | None = None
) -> Stat:
    """Mean over pairs of annotators of Pearson's r on the insights both labelled (Table 1, first row).

    `values` is what each category is worth, as none 0, partial ½, full 1. Pairs without a defined r are left
    out; `n_pairs` counts the pairs of annotators that are in.
    """
    method = "mean Pearson over pairs of annotators"
    scale = np.array([values[category] for category in ratings.categories])
    middle = scale.mean() if len(scale) else 0.0
    blocks = []
    either = np.zeros(len(ratings.codes), dtype=bool)
    for first, second in ratings.pairs():
        codes = ratings.only((first, second)).codes
        both = (codes != MISSING).all(axis=1)
        either |= both
        points = np.where(both[:, None], scale[codes] - middle, 0.0)
        blocks.append(_moments(points[:, 0], points[:, 1]) * both[:, None])
    n_items = int(either.sum())
    if n_items == 0:
        return Stat.undefined("no item was rated by two", n_items=0, n_pairs=0, method=method)
    rows = np.hstack(blocks)
    correlations = np.array([r_of_moments(block.sum(axis=0)[None, :])[0] for block in blocks])
    defined = np.isfinite(correlations)
    if not defined.any():
        return Stat.undefined(
            "every pair has under 3 items or a constant side", n_items=n_items, n_pairs=0, method=method
        )
    stat = Stat(correlations[defined].mean(), n_items=n_items, n_pairs=int(defined.sum()), method=method)
    if resampling is None:
        return stat
    clusters = ratings.clusters
    kept = None if clusters is None else [key for key, keep in zip(clusters, either, strict=True) if keep]
    sums = sum_by_cluster(rows[either], kept)
    return bootstrap(_mean_r(len(blocks)), sums, n_items=n_items, resampling=resampling).on(stat)


def _by_rows(
    figure: Callable[[Floats, Floats], float],
    x: ArrayLike,
    y: ArrayLike,
    method: str,
    clusters: Sequence[Hashable] | None,
    resampling: Resampling | None,
) -> Stat:
    first, second = _columns(x, y)
    if reason := _undefined(first, second):
        return Stat.undefined(reason, n_items=len(first), method=method)
    stat = Stat(figure(first, second), n_items=len(first), method=method)
    if resampling is None:
        return stat

    def resampled(rows: Ints) -> float | None:
        a, b = first[rows], second[rows]
        return None if _undefined(a, b) else figure(a, b)

    return bootstrap_rows(resampled, clusters, n_rows=len(first), resampling=resampling).on(stat)


def _columns(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise BadShape(f"columns of shape {first.shape} and {second.shape}")
    return first, second


def _undefined(first: Floats, second: Floats) -> str:
    if len(first) < MIN_POINTS:
        return f"under {MIN_POINTS} items"
    if not np.ptp(first) or not np.ptp(second) or not np.isfinite(r_of_moments(_centred(first, second))[0]):
        return "one side is constant"
    return ""


def _centred(first: Floats, second: Floats) -> Floats:
    totals: Floats = _moments(first - first.mean(), second - second.mean()).sum(axis=0)[None, :]
    return totals


def _moments(x: Floats, y: Floats) -> Floats:
    """Rows (1, x, y, x², y², xy), whose sums give r."""
    return np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])


def r_of_moments(totals: Floats) -> Floats:
    """Pearson's r from sums of moments, shape (resamples, 6); NaN under 3 points or for a constant side."""
    n, x, y, xx, yy, xy = totals.T
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    is_defined = (n >= MIN_POINTS) & (spread_x > _NOISE * n * xx) & (spread_y > _NOISE * n * yy)
    scale = np.sqrt(np.where(is_defined, spread_x, 0.0)) * np.sqrt(np.where(is_defined, spread_y, 0.0))
    return np.clip(divide(n * xy - x * y, scale), -1.0, 1.0)


def _mean_r(n_blocks: int) -> Figure:
    def figure(totals: Floats) -> Floats:
        each = np.stack([r_of_moments(totals[:, 6 * block : 6 * block + 6]) for block in range(n_blocks)])
        is_defined = np.isfinite(each)
        return divide(np.where(is_defined, each, 0.0).sum(axis=0), is_defined.sum(axis=0).astype(np.float64))

    return figure
