"""Sums of rows within clusters, and formulas of such totals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class BadShape(ValueError):
    """Arrays that should run in parallel do not."""


def cluster_index(clusters: Sequence[Hashable] | None, n_rows: int) -> Ints:
    """Cluster number of each row, shape (n_rows,), in the order of the keys; None: each row its own.

    What is drawn depends on the order of clusters. It is that of their keys and not of rows, so that the same
    labels in another order have the same intervals.
    """
    if clusters is None:
        return np.arange(n_rows, dtype=np.int64)
    if len(clusters) != n_rows:
        raise BadShape(f"{len(clusters)} cluster keys for {n_rows} rows")
    return _numbered(tuple(clusters))


@lru_cache(maxsize=16)
def _numbered(keys: tuple[Hashable, ...]) -> Ints:
    """Remembered, because a page asks for many figures of the same items."""
    numbers = {key: number for number, key in enumerate(sorted(set(keys), key=_order_of))}
    index = np.array([numbers[key] for key in keys], dtype=np.int64)
    index.flags.writeable = False
    return index


def _order_of(key: Hashable) -> tuple[str, Any]:
    """Numbers by size, everything else as text."""
    return ("", key) if isinstance(key, int | np.integer) else ("text", str(key))


def in_order_of_content(sums: Floats) -> Floats:
    """The same rows of sums, sorted by what they hold: for draws of a figure that is compared with no other."""
    ordered: Floats = sums[np.lexsort(sums.T[::-1])] if sums.size else sums
    return ordered


def sum_by_cluster(rows: ArrayLike, clusters: Sequence[Hashable] | None) -> Floats:
    """Add up rows of shape (n, m) within clusters: shape (clusters, m)."""
    table = np.asarray(rows, dtype=np.float64)
    if table.ndim == 1:
        table = table[:, None]
    if clusters is None:
        return table
    index = cluster_index(clusters, len(table))
    totals = np.zeros((int(index.max(initial=-1)) + 1, table.shape[1]))
    np.add.at(totals, index, table)
    return totals


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Element by element, NaN where the denominator is 0: for formulas."""
    result = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=result, where=np.asarray(denominator) != 0)
    return result


def ratio(totals: Floats) -> Floats:
    """The first sum over the second."""
    return divide(totals[:, 0], totals[:, 1])


def mean_of_defined(values: Floats, weights: Floats | None = None) -> Floats:
    """Mean of each row over what is defined (not NaN) in it, shape (rows,); `weights` are of the same shape."""
    is_defined = np.isfinite(values)
    counted = is_defined.astype(np.float64) if weights is None else np.where(is_defined, weights, 0.0)
    total = (np.where(is_defined, values, 0.0) * counted).sum(axis=1)
    return divide(total, counted.sum(axis=1))


def mean_of_ratios(totals: Floats) -> Floats:
    """Mean of the ratios of totals: numerators in the first half of the columns, denominators in the second."""
    width = totals.shape[1] // 2
    return mean_of_defined(divide(totals[:, :width], totals[:, width:]))
