"""Agreement between raters with gaps in the table: each figure a formula over sums, so that it can be resampled.

P_i is the share of agreeing pairs of ratings of item i, over the items with two or more; q the number of
categories the task allows, which is not how many occur.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from benchmarks.scoring.intervals import Figure, Floats, Resampling, bootstrap, divide, sum_by_cluster
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.stat import Stat

_ALMOST_ONE = 1 - 1e-12
NOTHING_TWICE = "no item has two ratings"
ONE_ALLOWED = "the task allows a single category"
ONE_USED = "all ratings are the same"
SPECIFIC = "specific agreement"


class Level(StrEnum):
    """How distant two categories are: all alike, by rank, or by the value each stands for."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


class Weights(StrEnum):
    """What a disagreement of two raters costs in Cohen's kappa."""

    NONE = "unweighted"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


Measure = Callable[..., Stat]


def percent_agreement(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Mean share of agreeing pairs per item; not corrected for chance."""
    return _over_items(ratings, _agreement, "percent agreement", resampling)


def randolph_kappa(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Free-marginal kappa: chance is 1/q (Randolph 2005; the same as Brennan and Prediger's)."""
    q = len(ratings.categories)
    method = f"Randolph's kappa, q = {q}"
    if q < 2:
        return Stat.undefined(ONE_ALLOWED, method=method)
    return _over_items(ratings, lambda totals: (_agreement(totals) - 1 / q) / (1 - 1 / q), method, resampling)


def fleiss_kappa(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Fleiss' kappa; a category's share is averaged over all rated items (Gwet's convention)."""

    def figure(totals: Floats) -> Floats:
        chance: Floats = (_shares(totals) ** 2).sum(axis=1)
        room = np.where(chance < _ALMOST_ONE, 1 - chance, 0.0)
        return divide(_agreement(totals) - chance, room)

    return _over_items(ratings, figure, "Fleiss' kappa", resampling)


def gwet_ac1(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Gwet's AC1, which stays meaningful when nearly all ratings are the same."""
    q = len(ratings.categories)
    if q < 2:
        return Stat.undefined(ONE_ALLOWED, method="AC1")

    def figure(totals: Floats) -> Floats:
        shares = _shares(totals)
        chance: Floats = (shares * (1 - shares)).sum(axis=1) / (q - 1)
        return (_agreement(totals) - chance) / (1 - chance)

    return _over_items(ratings, figure, "AC1", resampling)


def krippendorff_alpha(
    ratings: Ratings,
    *,
    level: Level = Level.NOMINAL,
    values: Mapping[str, float] | None = None,
    resampling: Resampling | None = None,
) -> Stat:
    """Krippendorff's alpha; `values` are what categories stand for at interval level (default 0, 1, 2 …).

    The value is the krippendorff package's; the interval resamples the coincidences it is made of.
    """
    import krippendorff

    method = f"Krippendorff's alpha, {level}"
    scale = _scale(ratings, values)
    counts = ratings.counts
    pairable = counts.sum(axis=1) >= 2
    n_items, n_pairs = int(pairable.sum()), _n_pairs(counts)
    if n_items == 0:
        return Stat.undefined(NOTHING_TWICE, method=method)
    if (counts[pairable].sum(axis=0) > 0).sum() < 2:
        return Stat.undefined(ONE_USED, n_items=n_items, n_pairs=n_pairs, method=method)
    value = krippendorff.alpha(value_counts=counts[pairable], value_domain=scale, level_of_measurement=level.value)
    stat = Stat(float(value), n_items=n_items, n_pairs=n_pairs, method=method)
    if resampling is None:
        return stat
    sums = sum_by_cluster(_coincidences(counts), ratings.clusters)
    figure = alpha_figure(level, np.array(scale, dtype=np.float64))
    return bootstrap(figure, sums, n_items=n_items, resampling=resampling).on(stat)


def cohen_kappa(
    ratings: Ratings, *, weights: Weights = Weights.NONE, resampling: Resampling | None = None
) -> Stat:
    """Cohen's kappa of exactly two raters on the items that both rated; weights go by rank of the category."""
    if len(ratings.raters) != 2:
        raise ValueError(f"Cohen's kappa is for two raters, not {len(ratings.raters)}")
    method = "Cohen's kappa" if weights is Weights.NONE else f"Cohen's kappa, {weights} weights"
    both = ratings.both_rated(*ratings.raters)
    q, n_items = len(both.categories), len(both.codes)
    if n_items == 0:
        return Stat.undefined("no item was rated by both", method=method)
    cells = np.zeros((n_items, q * q))
    cells[np.arange(n_items), both.codes[:, 0] * q + both.codes[:, 1]] = 1
    figure = cohen_figure(weights, q)
    value = float(figure(cells.sum(axis=0)[None, :])[0])
    if not np.isfinite(value):
        return Stat.undefined(ONE_USED, n_items=n_items, n_pairs=n_items, method=method)
    stat = Stat(value, n_items=n_items, n_pairs=n_items, method=method)
    if resampling is None:
        return stat
    return bootstrap(figure, sum_by_cluster(cells, both.clusters), n_items=n_items, resampling=resampling).on(stat)


def by_pair(measure: Measure, ratings: Ratings) -> dict[tuple[str, str], Stat]:
    """`measure` for every two raters."""
    return {pair: measure(ratings.only(pair)) for pair in ratings.pairs()}


def leave_one_out(measure: Measure, ratings: Ratings, *, resampling: Resampling | None = None) -> dict[str, Stat]:
    """`measure` without each rater in turn; for three raters or more."""
    if len(ratings.raters) < 3:
        return {}
    return {
        rater: measure(ratings.only(other for other in ratings.raters if other != rater), resampling=resampling)
        for rater in ratings.raters
    }


def by_subset(measure: Measure, ratings: Ratings, *, smallest: int = 2) -> dict[tuple[str, ...], Stat]:
    """`measure` for every set of at least `smallest` raters: 2^n of them, so for small groups."""
    return {subset: measure(ratings.only(subset)) for subset in ratings.subsets(smallest=smallest)}


def disagreement(ratings: Ratings) -> list[float | None]:
    """1 − P_i of each item, None under two ratings: what a list of disagreements is sorted by."""
    counts = ratings.counts
    n_ratings = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return [
        None if n < 2 else float(1 - pairs / (n * (n - 1))) for n, pairs in zip(n_ratings, agreeing, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class CategoryAgreement:
    """How far raters agree when one of them gives a category, and how often it is given."""

    category: str
    agreement: Stat
    share: float


def per_category(ratings: Ratings, *, resampling: Resampling | None = None) -> tuple[CategoryAgreement, ...]:
    """Of the pairs in which one rater gave the category, the share in which the other did (specific agreement)."""
    pairable = ratings.counts.sum(axis=1) >= 2
    counts = ratings.counts[pairable]
    others = np.maximum(counts.sum(axis=1, keepdims=True) - 1, 1)
    rows = np.hstack([counts * (counts - 1) / others, counts])
    agreeing, given = np.split(rows.sum(axis=0), 2)
    clusters = None
    if ratings.clusters is not None:
        clusters = [key for key, keep in zip(ratings.clusters, pairable, strict=True) if keep]
    total = float(given.sum())
    sums = sum_by_cluster(rows, clusters) if resampling is not None and total else rows
    result = []
    for code, category in enumerate(ratings.categories):
        stat = Stat.undefined("nobody gave this category" if total else NOTHING_TWICE, method=SPECIFIC)
        if given[code]:
            n_items = int((counts[:, code] > 0).sum())
            stat = Stat(agreeing[code] / given[code], n_items=n_items, method=SPECIFIC)
            if resampling is not None:
                figure = _ratio(code, len(given) + code)
                stat = bootstrap(figure, sums, n_items=n_items, resampling=resampling).on(stat)
        result.append(CategoryAgreement(category, stat, float(given[code]) / total if total else 0.0))
    return tuple(result)


def _ratio(above: int, below: int) -> Figure:
    return lambda totals: divide(totals[:, above], totals[:, below])


def _over_items(ratings: Ratings, figure: Figure, method: str, resampling: Resampling | None) -> Stat:
    """A figure of the sums (ΣP_i, items with two ratings, rated items, Σ shares of each category)."""
    counts = ratings.counts
    n_ratings = counts.sum(axis=1)
    twice, rated = n_ratings >= 2, n_ratings >= 1
    pairs = np.where(twice, n_ratings * (n_ratings - 1), 1)
    agreement = np.where(twice, (counts * (counts - 1)).sum(axis=1) / pairs, 0.0)
    shares = counts / np.maximum(n_ratings, 1)[:, None]
    rows = np.column_stack([agreement, twice, rated, shares])
    n_items, n_pairs = int(twice.sum()), _n_pairs(counts)
    if n_items == 0:
        return Stat.undefined(NOTHING_TWICE, method=method)
    value = float(figure(rows.sum(axis=0)[None, :])[0])
    if not np.isfinite(value):
        return Stat.undefined(ONE_USED, n_items=n_items, n_pairs=n_pairs, method=method)
    stat = Stat(value, n_items=n_items, n_pairs=n_pairs, method=method)
    if resampling is None:
        return stat
    clusters = ratings.clusters
    kept = None if clusters is None else [key for key, keep in zip(clusters, rated, strict=True) if keep]
    return bootstrap(figure, sum_by_cluster(rows[rated], kept), n_items=n_items, resampling=resampling).on(stat)


def _agreement(totals: Floats) -> Floats:
    return divide(totals[:, 0], totals[:, 1])


def _shares(totals: Floats) -> Floats:
    return divide(totals[:, 3:], totals[:, 2:3])


def _n_pairs(counts: Floats) -> int:
    n_ratings = counts.sum(axis=1)
    return int((n_ratings * (n_ratings - 1)).sum() / 2)


def _scale(ratings: Ratings, values: Mapping[str, float] | None) -> list[float]:
    if values is None:
        return [float(code) for code in range(len(ratings.categories))]
    return [float(values[category]) for category in ratings.categories]


def _coincidences(counts: Floats) -> Floats:
    """Each item's coincidence matrix, flat: shape (items, q²); zero under two ratings."""
    n_ratings = counts.sum(axis=1)
    q = counts.shape[1]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(q)
    weight = np.where(n_ratings >= 2, 1 / np.maximum(n_ratings - 1, 1), 0.0)
    flat: Floats = (pairs * weight[:, None, None]).reshape(len(counts), q * q)
    return flat


def alpha_figure(level: Level, scale: Floats) -> Figure:
    """Krippendorff's alpha of coincidence matrices, flat: totals of shape (resamples, q²)."""
    q = len(scale)

    def figure(totals: Floats) -> Floats:
        observed = totals.reshape(len(totals), q, q)
        given = observed.sum(axis=2)
        if level is Level.ORDINAL:
            below = np.cumsum(given, axis=1) - given / 2
            distance = (below[:, :, None] - below[:, None, :]) ** 2
        elif level is Level.INTERVAL:
            distance = np.broadcast_to((scale[:, None] - scale[None, :]) ** 2, observed.shape)
        else:
            distance = np.broadcast_to(1 - np.eye(q), observed.shape)
        expected = (given[:, :, None] * given[:, None, :] * distance).sum(axis=(1, 2))
        disagreed = (observed * distance).sum(axis=(1, 2))
        return 1 - divide((given.sum(axis=1) - 1) * disagreed, expected)

    return figure


def cohen_figure(weights: Weights, q: int) -> Figure:
    """Cohen's kappa of cross tables, flat: totals of shape (resamples, q²)."""
    ranks = np.arange(q)
    apart = np.abs(ranks[:, None] - ranks[None, :]).astype(np.float64)
    cost = {Weights.NONE: (apart > 0).astype(np.float64), Weights.LINEAR: apart, Weights.QUADRATIC: apart**2}[
        weights
    ]

    def figure(totals: Floats) -> Floats:
        table = totals.reshape(len(totals), q, q)
        n = table.sum(axis=(1, 2))
        expected = (table.sum(axis=2)[:, :, None] * table.sum(axis=1)[:, None, :] * cost).sum(axis=(1, 2))
        return 1 - divide(n * (table * cost).sum(axis=(1, 2)), expected)

    return figure
