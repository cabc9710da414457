"""Sums of rows within clusters, formulas of such totals, what a bootstrap draws of them, and Student's t."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
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
    return sums[np.lexsort(sums.T[::-1])] if sums.size else sums


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
    return divide(totals[:, 0], totals[:, 1])


def mean_of_defined(values: Floats) -> Floats:
    """Mean of each row over what is defined (not NaN) in it, shape (rows,)."""
    is_defined = np.isfinite(values)
    return divide(np.where(is_defined, values, 0.0).sum(axis=1), is_defined.sum(axis=1))


def mean_of_ratios(totals: Floats) -> Floats:
    """Mean of the ratios of totals: numerators in the first half of the columns, denominators in the second."""
    width = totals.shape[1] // 2
    return mean_of_defined(divide(totals[:, :width], totals[:, width:]))


LEVEL = 0.95
"""The level of every interval."""


@lru_cache(maxsize=1_000)
def t_quantile(df: float, level: float = LEVEL) -> float:
    """How many standard errors an interval of this level reaches to either side."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + level / 2))


def t_interval(value: float, se: float, df: float) -> tuple[float, float]:
    """Both ends of the interval of a value whose standard error has `df` degrees of freedom."""
    half = t_quantile(df) * se
    return value - half, value + half


def student(t: float, df: float) -> float:
    from scipy.special import stdtr

    return float(stdtr(df, t))


def chi_square(x: float, df: float) -> float:
    from scipy.special import chdtr

    return float(chdtr(df, x))


@lru_cache(maxsize=1_000)
def chi_square_quantile(share: float, df: float) -> float:
    """Below which x this share of the chi-square distribution lies."""
    from scipy.special import chdtri

    return float(chdtri(df, 1 - share))


_CELLS = 200_000
"""Drawn clusters held at once; few enough to stay in the processor's cache."""

_KEPT_CELLS = 40_000_000
"""Drawn clusters kept for the figures of one report, a byte each; larger draws are made anew for each figure."""

_kept: ContextVar[dict[tuple[int, int, int], list[NDArray[np.uint8]]] | None] = ContextVar("draws", default=None)


@dataclass(frozen=True, slots=True)
class Resampling:
    """How a bootstrap is drawn; stored with its interval, so that anyone can draw it again.

    With `over_people` annotators are a sample as clusters are, where a figure is an average over them, and the
    interval is a double jackknife: it then speaks of annotators like these, else of these.
    """

    seed: int = 20240701
    n_resamples: int = 2000
    over_people: bool = False


DEFAULT = Resampling()


@dataclass(frozen=True, slots=True)
class People:
    """Whose labels each block of a figure holds, one or two of `n` people: those are left out in turn."""

    who: tuple[tuple[int, ...], ...]
    n: int


def people_of(who: Sequence[Sequence[int]], n: int, resampling: Resampling | None) -> People | None:
    """The people of each block, among n; None unless people are a sample."""
    if resampling is None or not resampling.over_people:
        return None
    return People(tuple(tuple(those) for those in who), n)


def percentiles(values: Floats, n_clusters: int) -> tuple[float, float]:
    """Both ends of the interval from the defined values of the resamples of `n_clusters` clusters.

    Percentiles are too narrow for few clusters; these are expanded as Hesterberg (2015, section 4.2) does, by
    Student's t and the n / (n − 1) that resampling loses. For 5 clusters the 95 % interval runs from the 0.1st to
    the 99.9th percentile, for 60 from the 2.3rd to the 97.7th.
    """
    tail = expanded_tail(n_clusters)
    last = len(values) - 1
    low, high = np.interp([tail * last, (1 - tail) * last], np.arange(last + 1), np.sort(values))
    return float(low), float(high)


@lru_cache(maxsize=1_000)
def expanded_tail(n_clusters: int) -> float:
    """The share of resamples beyond each end of an interval."""
    return NormalDist().cdf(-t_quantile(n_clusters - 1) * math.sqrt(n_clusters / (n_clusters - 1)))


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


def draws(n_clusters: int, resampling: Resampling = DEFAULT, *, n_drawn: int | None = None) -> Iterator[Floats]:
    """How often each cluster is drawn, in pieces of shape (some resamples, n_clusters).

    `n_drawn` are drawn each time, by default as many as there are; more show what more of them would bring.
    """
    if n_drawn is not None and n_drawn != n_clusters:
        rng = np.random.default_rng(resampling.seed)
        yield rng.multinomial(n_drawn, np.full(n_clusters, 1 / n_clusters), resampling.n_resamples).astype(float)
        return
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


def _multiplicities(rng: np.random.Generator, n_resamples: int, n_clusters: int) -> Floats:
    """How often each cluster is drawn, shape (n_resamples, n_clusters)."""
    drawn = rng.integers(0, n_clusters, (n_resamples, n_clusters), dtype=np.int32)
    drawn += np.arange(n_resamples, dtype=np.int32)[:, None] * np.int32(n_clusters)
    counts = np.bincount(drawn.ravel(), minlength=n_resamples * n_clusters)
    return counts.reshape(n_resamples, n_clusters).astype(np.float64)
