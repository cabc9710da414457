"""Pearson's correlation of two columns of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.draws import Resampling
from benchmarks.scoring.formulas import COEFFICIENT, Figure
from benchmarks.scoring.means import figure_of
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import BadShape, Floats, divide

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
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise BadShape(f"columns of shape {first.shape} and {second.shape}")
    n = len(first)
    if n < MIN_POINTS:
        return Stat.undefined(f"under {MIN_POINTS} items", n_items=n, method="Pearson")
    figure = Figure("Pearson", r_of_moments, "one side is constant", COEFFICIENT)
    if not np.ptp(first) or not np.ptp(second):
        return Stat.undefined(figure.reason, n_items=n, method=figure.method)
    rows = moments(first - first.mean(), second - second.mean())
    return figure_of(figure, rows, clusters=clusters, n_items=n, resampling=resampling)


def moments(x: Floats, y: Floats) -> Floats:
    """Rows (1, x, y, x², y², xy), whose sums give r."""
    return np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])


def r_of_moments(totals: Floats) -> Floats:
    """Pearson's r from sums of moments, shape (resamples, 6); NaN under 3 points or for a constant side."""
    n, x, y, xx, yy, xy = totals.T
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    is_defined = (n >= MIN_POINTS) & (spread_x > _NOISE * n * xx) & (spread_y > _NOISE * n * yy)
    scale = np.sqrt(np.where(is_defined, spread_x, 0.0)) * np.sqrt(np.where(is_defined, spread_y, 0.0))
    return np.clip(divide(n * xy - x * y, scale), -1.0, 1.0)
