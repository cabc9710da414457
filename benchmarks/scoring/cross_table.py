"""Every figure of two raters as a function of their cross table, so that one table per cluster serves them all.

Tables are flat, q² cells, row by row: the first rater's category, then the second's. The figures agree with
those of `agreement` and `correlation`; this is how they are made for many pairs at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.agreement import ONE_USED, Level, Weights, alpha_figure, cohen_figure
from benchmarks.scoring.correlation import MIN_POINTS, r_of_moments
from benchmarks.scoring.intervals import Figure, Floats, Ints, divide

CONSTANT = f"under {MIN_POINTS} items, or one side is constant"
NOTHING_SHARED = "no item has both"


@dataclass(frozen=True, slots=True, eq=False)
class Rate:
    """A share of some cells among others: masks of shape (q²,)."""

    hits: Floats
    among: Floats
    reason: str

    def __call__(self, totals: Floats) -> Floats:
        """The share in each of the tables."""
        return divide(totals @ self.hits, totals @ self.among)

    def counts(self, totals: Floats) -> tuple[int, int]:
        """Hits and n of one table, shape (1, q²)."""
        return round(float((totals @ self.hits)[0])), round(float((totals @ self.among)[0]))


@dataclass(frozen=True, slots=True, eq=False)
class PairFigures:
    """The figures of two raters by name: rates, and the rest with why each may be undefined."""

    rates: Mapping[str, Rate]
    others: Mapping[str, tuple[Figure, str]]


def cross_tables(first: Ints, second: Ints, *, q: int, clusters: Ints, n_clusters: int) -> Floats:
    """Cross tables of two columns of codes (-1: none), one for each cluster: shape (n_clusters, q²)."""
    both = (first >= 0) & (second >= 0)
    cells = (clusters[both] * q + first[both]) * q + second[both]
    counts = np.bincount(cells, minlength=n_clusters * q * q)
    return counts.reshape(n_clusters, q * q).astype(np.float64)


def hit_sums(hits: ArrayLike, counted: ArrayLike, *, clusters: Ints, n_clusters: int) -> Floats:
    """Hits and counted items of each cluster, shape (n_clusters, 2); both arguments are 0 or 1 per item."""
    return np.column_stack(
        [np.bincount(clusters, weights=np.asarray(column), minlength=n_clusters) for column in (hits, counted)]
    ).astype(np.float64)


LINKED = Rate(np.array([1.0, 0.0]), np.array([0.0, 1.0]), "no insight is linked by both")


def pair_figures(worth: Sequence[float], *, has_covered: bool) -> PairFigures:
    """The figures for categories worth so much; with `has_covered` the first one is "not covered"."""
    q = len(worth)
    eye = np.eye(q).ravel()
    everything = np.ones(q * q)
    rates = {"exact_agreement": Rate(eye, everything, NOTHING_SHARED)}
    others: dict[str, tuple[Figure, str]] = {
        "pearson": (_pearson(np.array(worth)), CONSTANT),
        "spearman": (_spearman(q), CONSTANT),
        "tau_b": (_tau_b(q), CONSTANT),
        "cohen_kappa": (cohen_figure(Weights.NONE, q), ONE_USED),
        "linear_kappa": (cohen_figure(Weights.LINEAR, q), ONE_USED),
        "quadratic_kappa": (cohen_figure(Weights.QUADRATIC, q), ONE_USED),
        "randolph_kappa": (_randolph(q), NOTHING_SHARED if q > 1 else "the task allows a single category"),
        "alpha_ordinal": (_alpha(q), ONE_USED),
    }
    if has_covered:
        positive = np.arange(q) > 0
        yes = np.outer(positive, positive).ravel().astype(float)
        no = np.outer(~positive, ~positive).ravel().astype(float)
        given = np.repeat(positive, q).astype(float)
        merge = np.zeros((q * q, 4))
        merge[np.arange(q * q), np.repeat(positive, q) * 2 + np.tile(positive, q)] = 1
        kappa = cohen_figure(Weights.NONE, 2)
        rates |= {
            "covered.accuracy": Rate(yes + no, everything, NOTHING_SHARED),
            "covered.tpr": Rate(yes, given, "the human calls nothing covered"),
            "covered.tnr": Rate(no, 1 - given, "the human calls nothing not covered"),
        }
        others["covered.kappa"] = (lambda totals: kappa(totals @ merge), ONE_USED)
    return PairFigures(rates, others)


def _pearson(worth: Floats) -> Figure:
    values = worth - worth.mean()
    q = len(values)
    x, y = np.repeat(values, q), np.tile(values, q)
    moments = np.column_stack([np.ones(q * q), x, y, x * x, y * y, x * y])
    return lambda totals: r_of_moments(totals @ moments)


def _spearman(q: int) -> Figure:
    """Pearson of the mean ranks that ties share."""

    def figure(totals: Floats) -> Floats:
        table = totals.reshape(len(totals), q, q)
        n = table.sum(axis=(1, 2))
        x, y = (_centred_ranks(table.sum(axis=axis)) for axis in (2, 1))
        product = (table * x[:, :, None] * y[:, None, :]).sum(axis=(1, 2))
        squares = [(table.sum(axis=axis) * ranks**2).sum(axis=1) for axis, ranks in ((2, x), (1, y))]
        return np.where(n < MIN_POINTS, np.nan, divide(product, np.sqrt(squares[0] * squares[1])))

    return figure


def _centred_ranks(counts: Floats) -> Floats:
    """The mean rank of each category less the mean of all, for counts of shape (resamples, q)."""
    ranks: Floats = np.cumsum(counts, axis=1) - counts / 2 - counts.sum(axis=1, keepdims=True) / 2
    return ranks


def _tau_b(q: int) -> Figure:
    """Kendall's tau-b: agreeing less opposed pairs of items, among the pairs that are tied on neither side."""

    def figure(totals: Floats) -> Floats:
        table = totals.reshape(len(totals), q, q)
        n = table.sum(axis=(1, 2))
        beyond = table[:, ::-1].cumsum(axis=1)[:, ::-1]
        below = np.zeros_like(table)
        below[:, :-1] = beyond[:, 1:]
        left = np.cumsum(below, axis=2)
        right = below.sum(axis=2, keepdims=True) - left
        order = (table * (right - (left - below))).sum(axis=(1, 2))
        pairs = n * (n - 1) / 2
        untied = [pairs - (sums * (sums - 1)).sum(axis=1) / 2 for sums in (table.sum(axis=2), table.sum(axis=1))]
        return np.where(n < MIN_POINTS, np.nan, divide(order, np.sqrt(untied[0] * untied[1])))

    return figure


def _randolph(q: int) -> Figure:
    eye = np.eye(q).ravel()
    chance = 1 / q

    def figure(totals: Floats) -> Floats:
        if q < 2:
            return np.full(len(totals), np.nan)
        return (divide(totals @ eye, totals.sum(axis=1)) - chance) / (1 - chance)

    return figure


def _alpha(q: int) -> Figure:
    ordinal = alpha_figure(Level.ORDINAL, np.arange(q, dtype=np.float64))
    both_ways = np.arange(q * q).reshape(q, q).T.ravel()
    return lambda totals: ordinal(totals + totals[:, both_ways])
