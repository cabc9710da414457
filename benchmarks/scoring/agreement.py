"""Agreement between raters with gaps in the table, by the usual coefficients.

P_i is the share of agreeing pairs of ratings of item i, over the items with two or more; q the number of
categories the task allows, which is not how many occur.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np

from benchmarks.scoring.intervals import (
    COEFFICIENT,
    SHARE,
    Figure,
    Floats,
    Formula,
    Resampling,
    divide,
    figure_of,
    ratio,
)
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.stat import Stat

_NO_ROOM = 1e-12
NOTHING_TWICE = "no item has two ratings"
ONE_ALLOWED = "the task allows a single category"
ONE_USED = "all ratings are the same"


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
    return _over_items(ratings, ratio, "percent agreement", resampling, bounds=SHARE)


def randolph_kappa(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Free-marginal kappa: chance is 1/q (Randolph 2005; the same as Brennan and Prediger's)."""
    q = len(ratings.categories)
    method = f"Randolph's kappa, q = {q}"
    if q < 2:
        return Stat.undefined(ONE_ALLOWED, method=method)
    formula = partial(_randolph, q=q)
    return _over_items(ratings, formula, method, resampling, bounds=(-1 / (q - 1), 1.0))


def fleiss_kappa(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Fleiss' kappa; a category's share is averaged over all rated items (Gwet's convention)."""

    def formula(totals: Floats) -> Floats:
        return above_chance(ratio(totals), (_shares(totals) ** 2).sum(axis=1))

    return _over_items(ratings, formula, "Fleiss' kappa", resampling)


def gwet_ac1(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Gwet's AC1, which stays meaningful when nearly all ratings are the same."""
    q = len(ratings.categories)
    if q < 2:
        return Stat.undefined(ONE_ALLOWED, method="AC1")

    def formula(totals: Floats) -> Floats:
        shares = _shares(totals)
        return above_chance(ratio(totals), (shares * (1 - shares)).sum(axis=1) / (q - 1))

    return _over_items(ratings, formula, "AC1", resampling)


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
    formula = alpha_formula(level, np.array(scale, dtype=np.float64))
    stat = figure_of(
        Figure(method, formula, ONE_USED, COEFFICIENT),
        coincidences(counts),
        clusters=ratings.clusters,
        n_items=n_items,
        n_pairs=n_pairs,
        resampling=resampling,
    )
    return replace(stat, value=float(value), undefined_reason="")


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
    figure = Figure(method, cohen_formula(weights, q), ONE_USED, COEFFICIENT)
    return figure_of(
        figure, cells, clusters=both.clusters, n_items=n_items, n_pairs=n_items, resampling=resampling
    )


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
    """How far raters agree when one of them gives a category, and how often it is given (None: nobody rated)."""

    category: str
    agreement: Stat
    share: float | None


def per_category(ratings: Ratings, *, resampling: Resampling | None = None) -> tuple[CategoryAgreement, ...]:
    """Of the pairs in which one rater gave the category, the share in which the other did (specific agreement)."""
    pairable = ratings.items(ratings.counts.sum(axis=1) >= 2)
    counts = pairable.counts
    others = np.maximum(counts.sum(axis=1, keepdims=True) - 1, 1)
    agreeing = counts * (counts - 1) / others
    total = float(counts.sum())
    reason = "nobody gave this category" if total else NOTHING_TWICE
    return tuple(
        CategoryAgreement(
            category,
            figure_of(
                Figure("specific agreement", ratio, reason, SHARE),
                np.column_stack([agreeing[:, code], counts[:, code]]),
                clusters=pairable.clusters,
                n_items=int((counts[:, code] > 0).sum()),
                resampling=resampling,
            ),
            float(counts[:, code].sum()) / total if total else None,
        )
        for code, category in enumerate(pairable.categories)
    )


def _randolph(totals: Floats, *, q: int) -> Floats:
    return above_chance(ratio(totals), 1 / q)


def _over_items(
    ratings: Ratings,
    formula: Formula,
    method: str,
    resampling: Resampling | None,
    *,
    bounds: tuple[float, float] = COEFFICIENT,
) -> Stat:
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
    return figure_of(
        Figure(method, formula, ONE_USED, bounds),
        rows[rated],
        clusters=None if resampling is None else ratings.clusters_of(rated),
        n_items=n_items,
        n_pairs=n_pairs,
        resampling=resampling,
    )


def above_chance(agreement: Floats, chance: Floats | float) -> Floats:
    """(agreement − chance) / (1 − chance); NaN where chance leaves no room."""
    room = 1 - np.asarray(chance)
    return divide(agreement - chance, np.where(room > _NO_ROOM, room, 0.0))


def _shares(totals: Floats) -> Floats:
    return divide(totals[:, 3:], totals[:, 2:3])


def _n_pairs(counts: Floats) -> int:
    n_ratings = counts.sum(axis=1)
    return int((n_ratings * (n_ratings - 1)).sum() / 2)


def _scale(ratings: Ratings, values: Mapping[str, float] | None) -> list[float]:
    if values is None:
        return [float(code) for code in range(len(ratings.categories))]
    return [float(values[category]) for category in ratings.categories]


def coincidences(counts: Floats) -> Floats:
    """Each item's coincidence matrix, flat: shape (items, q²); zero under two ratings."""
    n_ratings = counts.sum(axis=1)
    q = counts.shape[1]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(q)
    weight = np.where(n_ratings >= 2, 1 / np.maximum(n_ratings - 1, 1), 0.0)
    flat: Floats = (pairs * weight[:, None, None]).reshape(len(counts), q * q)
    return flat


def alpha_formula(level: Level, scale: Floats) -> Formula:
    """Krippendorff's alpha of coincidence matrices, flat: totals of shape (resamples, q²)."""
    q = len(scale)

    def formula(totals: Floats) -> Floats:
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

    return formula


def cohen_formula(weights: Weights, q: int) -> Formula:
    """Cohen's kappa of cross tables, flat: totals of shape (resamples, q²)."""
    ranks = np.arange(q)
    apart = np.abs(ranks[:, None] - ranks[None, :]).astype(np.float64)
    cost = {Weights.NONE: (apart > 0).astype(np.float64), Weights.LINEAR: apart, Weights.QUADRATIC: apart**2}[
        weights
    ]

    def formula(totals: Floats) -> Floats:
        table = totals.reshape(len(totals), q, q)
        n = table.sum(axis=(1, 2))
        expected = (table.sum(axis=2)[:, :, None] * table.sum(axis=1)[:, None, :] * cost).sum(axis=(1, 2))
        return 1 - divide(n * (table * cost).sum(axis=(1, 2)), expected)

    return formula
