"""Agreement between raters with gaps in the table, by the usual coefficients, over sums of rows of each item.

P_i is the share of agreeing pairs of ratings of item i, over the items with two or more; q the number of
categories the task allows, which is not how many occur.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np

from benchmarks.scoring.components import about_these
from benchmarks.scoring.formulas import (
    COEFFICIENT,
    SHARE,
    Error,
    Figure,
    Formula,
    LeftOut,
    error_over_people,
    minority,
)
from benchmarks.scoring.intervals import Estimate, figure_of
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Floats, Ints, Resampling, cluster_index, divide, ratio

_NO_ROOM = 1e-12


class Level(StrEnum):
    """How distant two categories are: all alike, by rank, or by the value each stands for."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


class Weights(StrEnum):
    """Costs of a disagreement of two raters in Cohen's kappa."""

    NONE = "unweighted"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


def category_rows(counts: Floats, squares: Floats, *, code: int) -> Floats:
    """(ratings that another rater repeated, ratings) of one category on each item."""
    n = counts.sum(axis=-1)
    others = n**2 - squares.sum(axis=-1)
    agreeing = (counts[..., code] ** 2 - squares[..., code]) * n
    repeated = np.divide(agreeing, others, out=np.zeros_like(n), where=others > 0)
    return np.stack([repeated, np.where(others > 0, counts[..., code], 0.0)], axis=-1)


def minority_of_table(q: int) -> Formula:
    """The share of both raters' labels outside the commonest category, of cross tables, flat."""

    def formula(totals: Floats) -> Floats:
        table = totals.reshape(len(totals), q, q)
        return minority(table.sum(axis=1) + table.sum(axis=2))

    return formula


def pair_rows(counts: Floats, squares: Floats) -> Floats:
    """(P_i, has two raters, is rated, share of each category) of each item."""
    n = counts.sum(axis=-1)
    pairs = n**2 - squares.sum(axis=-1)
    agreeing = (counts**2 - squares).sum(axis=-1)
    agreement = np.divide(agreeing, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    shares = counts / np.where(n > 0, n, 1)[..., None]
    return np.concatenate([np.stack([agreement, pairs > 0, n > 0], axis=-1), shares], axis=-1)


def above_chance(agreement: Floats, chance: Floats | float) -> Floats:
    """(agreement − chance) / (1 − chance); NaN where chance leaves no room."""
    room = 1 - np.asarray(chance)
    return divide(agreement - chance, np.where(room > _NO_ROOM, room, 0.0))


def shares_of_categories(totals: Floats) -> Floats:
    """How often each category is given, of sums of `pair_rows`: shape (resamples, q)."""
    return divide(totals[:, 3:], totals[:, 2:3])


def coincidences(counts: Floats, squares: Floats | None = None) -> Floats:
    """Each item's coincidence matrix, flat: shape (items, q²); zero under two ratings."""
    squares = counts if squares is None else squares
    n = counts.sum(axis=-1)
    q = counts.shape[-1]
    pairs = counts[..., :, None] * counts[..., None, :] - squares[..., :, None] * np.eye(q)
    others = n**2 - squares.sum(axis=-1)
    weight = np.divide(n, others, out=np.zeros_like(n), where=others > 0)
    return (pairs * weight[..., None, None]).reshape(*n.shape, q * q)


def alpha_formula(level: Level, scale: Floats) -> Formula:
    """Krippendorff's alpha of coincidence matrices, flat: totals of shape (resamples, q²)."""
    q = len(scale)

    def formula(totals: Floats) -> Floats:
        observed = totals.reshape(len(totals), q, q)
        chosen = observed.sum(axis=2)
        if level is Level.ORDINAL:
            below = np.cumsum(chosen, axis=1) - chosen / 2
            distance = (below[:, :, None] - below[:, None, :]) ** 2
        elif level is Level.INTERVAL:
            distance = np.broadcast_to((scale[:, None] - scale[None, :]) ** 2, observed.shape)
        else:
            distance = np.broadcast_to(1 - np.eye(q), observed.shape)
        expected = (chosen[:, :, None] * chosen[:, None, :] * distance).sum(axis=(1, 2))
        disagreed = (observed * distance).sum(axis=(1, 2))
        return 1 - divide((chosen.sum(axis=1) - 1) * disagreed, expected)

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


NOTHING_TWICE = "no item has two ratings"
ONE_ALLOWED = "the task allows a single category"
ONE_USED = "all ratings are the same"
Measure = Callable[..., Stat]


def percent_agreement(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Mean share of agreeing pairs per item; not corrected for chance."""
    return _over_items(Figure("percent agreement", ratio, ONE_USED, SHARE), ratings, resampling, is_share=True)


def randolph_kappa(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Free-marginal kappa: chance is 1/q (Randolph 2005; the same as Brennan and Prediger's)."""
    q = len(ratings.categories)
    method = f"Randolph's kappa, q = {q}"
    if q < 2:
        return Stat.undefined(ONE_ALLOWED, method=method)
    return _over_items(_randolph_figure(q), ratings, resampling, is_share=True)


def randolph_error(ratings: Ratings) -> Error | None:
    """The error of Randolph's kappa over raters and clusters; None where it is undefined without one of them."""
    rated = ratings.items(ratings.counts.sum(axis=1) >= 1)
    stat = randolph_kappa(rated)
    if stat.value is None or len(rated.raters) < 2:
        return None
    index = cluster_index(rated.clusters, len(rated.codes))
    without = _left_out(rated, pair_rows, _randolph_figure(len(rated.categories)))
    if int(index.max()) < 1 or not np.isfinite(without.clusters).all():
        return None
    if without.is_defined:
        return error_over_people(stat.value, without)
    # With two raters there is no agreement without one of them, only without a cluster.
    n = len(without.clusters)
    v = float(((n - 1) * (stat.value - without.clusters)).var(ddof=1)) / n
    return Error(math.sqrt(v), n - 1, 0.0, v, 0.0)


def _randolph_figure(q: int) -> Figure:
    def formula(totals: Floats) -> Floats:
        return above_chance(ratio(totals), 1 / q)

    return Figure(f"Randolph's kappa, q = {q}", formula, ONE_USED, (-1 / (q - 1), 1.0))


def fleiss_kappa(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Fleiss' kappa; a category's share is averaged over all rated items (Gwet's convention)."""

    def formula(totals: Floats) -> Floats:
        return above_chance(ratio(totals), (shares_of_categories(totals) ** 2).sum(axis=1))

    figure = Figure(
        "Fleiss' kappa", formula, ONE_USED, COEFFICIENT, minority=lambda totals: minority(totals[:, 3:])
    )
    return _over_items(figure, ratings, resampling)


def gwet_ac1(ratings: Ratings, *, resampling: Resampling | None = None) -> Stat:
    """Gwet's AC1, which stays meaningful when nearly all ratings are the same."""
    q = len(ratings.categories)
    if q < 2:
        return Stat.undefined(ONE_ALLOWED, method="AC1")

    def formula(totals: Floats) -> Floats:
        shares = shares_of_categories(totals)
        return above_chance(ratio(totals), (shares * (1 - shares)).sum(axis=1) / (q - 1))

    return _over_items(Figure("AC1", formula, ONE_USED, COEFFICIENT), ratings, resampling)


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
    scale = [
        float(code if values is None else values[category]) for code, category in enumerate(ratings.categories)
    ]
    counts = ratings.counts
    pairable = counts.sum(axis=1) >= 2
    n_items, n_pairs = int(pairable.sum()), _n_pairs(counts)
    if n_items == 0:
        return Stat.undefined(NOTHING_TWICE, method=method)
    if (counts[pairable].sum(axis=0) > 0).sum() < 2:
        return Stat.undefined(ONE_USED, n_items=n_items, n_pairs=n_pairs, method=method)
    value = krippendorff.alpha(value_counts=counts[pairable], value_domain=scale, level_of_measurement=level.value)
    formula = alpha_formula(level, np.array(scale, dtype=np.float64))
    q = len(scale)

    def others(totals: Floats) -> Floats:
        return minority(totals.reshape(len(totals), q, q).sum(axis=2))

    stat = _estimated(
        Figure(method, formula, ONE_USED, COEFFICIENT, minority=others),
        ratings,
        coincidences,
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
    figure = Figure(method, cohen_formula(weights, q), ONE_USED, COEFFICIENT, minority=minority_of_table(q))
    return figure_of(
        figure, cells, clusters=both.clusters, n_items=n_items, n_pairs=n_items, resampling=resampling
    )


def by_pair(measure: Measure, ratings: Ratings) -> dict[tuple[str, str], Stat]:
    return {pair: measure(ratings.only(pair)) for pair in ratings.pairs()}


def leave_one_out(measure: Measure, ratings: Ratings, *, resampling: Resampling | None = None) -> dict[str, Stat]:
    """`measure` without each rater in turn; for three raters or more."""
    if len(ratings.raters) < 3:
        return {}
    return {
        rater: measure(ratings.only(other for other in ratings.raters if other != rater), resampling=resampling)
        for rater in ratings.raters
    }


def by_subset(measure: Measure, ratings: Ratings) -> dict[tuple[str, ...], Stat]:
    """`measure` for every set of two or more raters: 2^n of them, so for small groups."""
    return {subset: measure(ratings.only(subset)) for subset in ratings.subsets()}


def disagreement(ratings: Ratings) -> list[float | None]:
    """1 − P_i of each item, None under two ratings: what a list of disagreements is sorted by."""
    counts = ratings.counts
    n_ratings = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    shares = 1 - divide(agreeing, n_ratings * (n_ratings - 1))
    return [None if n < 2 else share for n, share in zip(n_ratings.tolist(), shares.tolist(), strict=True)]


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
    total = float(counts.sum())
    reason = "nobody gave this category" if total else NOTHING_TWICE
    return tuple(
        CategoryAgreement(
            category,
            _estimated(
                Figure("specific agreement", ratio, reason, SHARE),
                pairable,
                partial(category_rows, code=code),
                n_items=int((counts[:, code] > 0).sum()),
                resampling=resampling,
            ),
            float(counts[:, code].sum()) / total if total else None,
        )
        for code, category in enumerate(pairable.categories)
    )


def _estimated(
    figure: Figure,
    ratings: Ratings,
    rows_of: Callable[[Floats, Floats], Floats],
    *,
    n_items: int,
    n_pairs: int | None = None,
    resampling: Resampling | None,
    n_rare: float | None = None,
) -> Stat:
    """A figure of rows made of each item's counts, with its interval over clusters, or over people as well.

    `rows_of` takes how often raters gave each category, shape (…, items, categories), and the sums of the squares
    of how often each of them counts, the same where each counts once; it gives rows of shape (…, items, sums).
    """
    counts = ratings.counts
    rows = rows_of(counts, counts)
    clusters = None if resampling is None else ratings.clusters
    counted = {"n_items": n_items, "n_pairs": n_pairs, "n_rare": n_rare}
    stat = figure_of(figure, rows, clusters=clusters, resampling=resampling, **counted)  # type: ignore[arg-type]
    if resampling is None or stat.value is None:
        return stat
    if not resampling.over_people:
        return about_these(stat, len(ratings.raters), "annotators")
    estimate = Estimate(
        figure=figure,
        value=stat.value,
        draw=lambda: np.empty(0),
        n_clusters=int(cluster_index(ratings.clusters, len(rows)).max()) + 1,
        resampling=resampling,
        n_people=len(ratings.raters),
        left_out=lambda: _left_out(ratings, rows_of, figure),
    )
    return estimate.stat(n_items=n_items, n_pairs=n_pairs)


def _left_out(ratings: Ratings, rows_of: Callable[[Floats, Floats], Floats], figure: Figure) -> LeftOut:
    """A figure without each rater, each cluster, and what a rater said in a cluster."""

    def by_cluster(codes: Ints) -> Floats:
        counts = Ratings(codes, ratings.categories, ratings.raters).counts
        sums = np.zeros((n_clusters, width))
        np.add.at(sums, index, rows_of(counts, counts))
        return sums

    index = cluster_index(ratings.clusters, len(ratings.codes))
    n_clusters = int(index.max()) + 1
    width = rows_of(ratings.counts[:1], ratings.counts[:1]).shape[1]
    whole = by_cluster(ratings.codes)
    total = whole.sum(axis=0)
    people, cells = [], []
    for rater in range(len(ratings.raters)):
        codes = ratings.codes.copy()
        codes[:, rater] = MISSING
        without = by_cluster(codes)
        people.append(float(figure(without.sum(axis=0)[None])[0]))
        cells.append(figure(total - whole + without))
    return LeftOut(np.array(people), figure(total - whole), np.stack(cells))


def _over_items(
    figure: Figure, ratings: Ratings, resampling: Resampling | None, *, is_share: bool = False
) -> Stat:
    """A figure of the sums (ΣP_i, items with two ratings, rated items, Σ shares of each category).

    `is_share` where it is a linear function of the share of agreeing pairs.
    """
    counts = ratings.counts
    n_ratings = counts.sum(axis=1)
    n_items, n_pairs = int((n_ratings >= 2).sum()), _n_pairs(counts)
    if n_items == 0:
        return Stat.undefined(NOTHING_TWICE, method=figure.method)
    apart = np.array([distance for distance in disagreement(ratings) if distance is not None])
    return _estimated(
        figure,
        ratings.items(n_ratings >= 1),
        pair_rows,
        n_items=n_items,
        n_pairs=n_pairs,
        resampling=resampling,
        n_rare=float(min((apart > 0).sum(), (apart < 1).sum())) if is_share else None,
    )


def _n_pairs(counts: Floats) -> int:
    n_ratings = counts.sum(axis=1)
    return int((n_ratings * (n_ratings - 1)).sum() / 2)
