"""Ratings of summaries from 1 to 5 by aspect: people among themselves, judges beside them, and systems.

The aspects and the scale are those of Ravaut et al. (2024, appendix B), after Adams et al. (2023). A *measure* is
one of the aspects, or their mean, which a rater has given only with all of them. Correlations are of a rater
with one person on the summaries that both rated, then averaged over people.

Systems are rated on summaries of their own, each by a few people, some of whom are strict. For means as if all had
been rated by the same people on the same clusters, a rating is taken as the sum of a system, a rater and a cluster
(least squares, a summary counting once however many rated it). Where everybody rated everything, systems differ by
what their plain means differ by.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from benchmarks.scoring.agreement import Level, krippendorff_alpha
from benchmarks.scoring.components import about_these
from benchmarks.scoring.intervals import MIN_CLUSTERS, MIN_ITEMS, SAME, Batch, bootstrap_mean
from benchmarks.scoring.pairs import Column, Items, add_pair, estimates_of, pair_figures, stats_of
from benchmarks.scoring.ranking import RankAgreement, rank_agreement
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import (
    DEFAULT,
    BadShape,
    Bools,
    Floats,
    Ints,
    Resampling,
    cluster_index,
    divide,
    mean_of_defined,
    shared_draws,
    t_interval,
)

METHOD = "least squares with raters and clusters"
NOT_LINKED = "no cluster rated by the same people links it with the others"
LEVEL, TINY = 0.95, 1e-10


@dataclass(frozen=True, slots=True)
class Difference:
    """The first system minus the second, with how many clusters have both."""

    first: str
    second: str
    stat: Stat
    n_common: int


@dataclass(frozen=True, slots=True)
class Balanced:
    """The mean of each system, in the order of their names, and every difference of two."""

    means: dict[str, Stat]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class _Sums:
    """Normal equations of each cluster, shapes (clusters, p, p) and (clusters, p), and its mean, (clusters,).

    `mix` is how much of each system's part is in that mean, shape (clusters, systems).
    """

    squares: Floats
    products: Floats
    means: Floats
    mix: Floats

    def without(self, cluster: int) -> _Sums:
        """Those of all clusters but one."""
        kept = np.arange(len(self.means)) != cluster
        return _Sums(self.squares[kept], self.products[kept], self.means[kept], self.mix[kept])


def balanced(
    values: Floats,
    *,
    systems: Sequence[str],
    clusters: Sequence[Hashable],
    bounds: tuple[float, float],
    has_interval: bool = True,
) -> Balanced:
    """Compare systems by ratings of shape (summaries, raters), NaN where there is none.

    Intervals leave out each cluster in turn (jackknife, Student's t); they are about these raters.
    """
    if len(values) != len(systems) or len(values) != len(clusters):
        raise BadShape(f"{len(values)} rows of ratings of {len(systems)} systems in {len(clusters)} clusters")
    rated = np.isfinite(values).any(axis=1)
    kept = np.flatnonzero(rated).tolist()
    names = sorted({systems[at] for at in kept})
    if not names:
        return Balanced({}, ())
    of = np.array([names.index(systems[at]) for at in kept], dtype=np.int64)
    groups = cluster_index([clusters[at] for at in kept], len(kept))
    sums = _sums(values[kept], of, groups, len(names))
    n_clusters, contrasts = len(sums.means), _contrasts(len(names))
    estimates = _estimates(sums, contrasts)
    without = (
        np.stack([_estimates(sums.without(at), contrasts) for at in range(n_clusters)])
        if has_interval and n_clusters >= MIN_CLUSTERS
        else None
    )
    n_of = np.bincount(of, minlength=len(names))

    def stat(at: int, n: int, ends: tuple[float, float]) -> Stat:
        left_out = None if without is None else without[:, at]
        plain = _stat(float(estimates[at]), n, n_clusters)
        return plain if not has_interval else _with_interval(plain, left_out, ends)

    span = bounds[1] - bounds[0]
    presence = np.zeros((n_clusters, len(names)), dtype=bool)
    presence[groups, of] = True
    return Balanced(
        {name: stat(at, int(n_of[at]), bounds) for at, name in enumerate(names)},
        tuple(
            Difference(
                names[first],
                names[other],
                stat(len(names) + at, int(n_of[first] + n_of[other]), (-span, span)),
                int((presence[:, first] & presence[:, other]).sum()),
            )
            for at, (first, other) in enumerate(combinations(range(len(names)), 2))
        ),
    )


def _sums(values: Floats, systems: Ints, clusters: Ints, n_systems: int) -> _Sums:
    """The normal equations of each cluster, its own mean taken out."""
    n_clusters, p = int(clusters.max()) + 1, n_systems + values.shape[1]
    squares, products = np.zeros((n_clusters, p, p)), np.zeros((n_clusters, p))
    means, mix = np.zeros(n_clusters), np.zeros((n_clusters, n_systems))
    row, rater = np.nonzero(np.isfinite(values))
    weight = 1 / np.isfinite(values).sum(axis=1)[row]
    x = np.zeros((len(row), p))
    x[np.arange(len(row)), systems[row]] = 1
    x[np.arange(len(row)), n_systems + rater] = 1
    y = values[row, rater]
    for at in range(n_clusters):
        mine: Bools = clusters[row] == at
        w = weight[mine] / weight[mine].sum()
        centre, means[at] = w @ x[mine], w @ y[mine]
        mix[at] = centre[:n_systems]
        off = x[mine] - centre
        squares[at] = (off * weight[mine, None]).T @ off
        products[at] = (off * weight[mine, None]).T @ (y[mine] - means[at])
    return _Sums(squares, products, means, mix)


def _contrasts(n: int) -> Floats:
    """Every difference of two of n systems, shape (pairs, n)."""
    pairs = list(combinations(range(n), 2))
    rows = np.zeros((len(pairs), n))
    for at, (first, other) in enumerate(pairs):
        rows[at, first], rows[at, other] = 1, -1
    return rows


def _estimates(sums: _Sums, contrasts: Floats) -> Floats:
    """The means of systems, then their differences; NaN where nothing links what is compared."""
    n = sums.mix.shape[1]
    squares = sums.squares.sum(axis=0)
    inverse = np.linalg.pinv(squares, rcond=TINY, hermitian=True)
    parts = inverse @ sums.products.sum(axis=0)
    wanted = np.zeros((n + len(contrasts), len(squares)))
    wanted[:, :n] = np.vstack([np.eye(n) - sums.mix.mean(axis=0), contrasts])
    estimates: Floats = wanted @ parts
    estimates[:n] += sums.means.mean()
    is_known = np.abs(wanted @ squares @ inverse - wanted).max(axis=1, initial=0.0) < 1e-6
    return np.where(is_known, estimates, np.nan)


def _stat(value: float, n: int, n_clusters: int) -> Stat:
    if not np.isfinite(value):
        return Stat.undefined(NOT_LINKED, n_items=n, n_clusters=n_clusters, method=METHOD)
    return Stat(value, n_items=n, n_clusters=n_clusters, method=METHOD)


def _with_interval(stat: Stat, without: Floats | None, ends: tuple[float, float]) -> Stat:
    if stat.value is None:
        return stat
    n = stat.n_clusters or 0
    if stat.n_items < MIN_ITEMS:
        return replace(stat, interval_reason=f"no interval under {MIN_ITEMS} summaries")
    if without is None:
        return replace(stat, interval_reason=f"no interval under {MIN_CLUSTERS} clusters")
    if not np.isfinite(without).all():
        return replace(stat, interval_reason="undefined without some cluster")
    se = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if se < SAME:
        return replace(stat, interval_reason="the same without any cluster")
    low, high = t_interval(stat.value, se, n - 1, LEVEL)
    low, high = max(ends[0], low), min(ends[1], high)
    return replace(stat, low=low, high=high, method=f"{METHOD}, jackknife over clusters")


LOWEST, HIGHEST = 1, 5
LEVELS = tuple(range(LOWEST, HIGHEST + 1))
MEAN = "mean"
CORRELATIONS = ("pearson", "spearman", "tau_b")
FIGURES = (*CORRELATIONS, "quadratic_kappa", "alpha_ordinal", "exact_agreement")
"""Figures of two raters; of the mean over aspects only the correlations."""
ALPHA, DIFFERENCE = "alpha", "difference"
"""Krippendorff's alpha of all people at once; and how much higher than people a judge rates."""
MAX_IN_PAIRS = 12
"""People who are compared with each other; more pairs would take long and change little."""
PEOPLE = "people"
NO_PAIR = "no summary was rated by both"
NOT_RATED = "none of its summaries was rated"


@dataclass(frozen=True, slots=True, eq=False)
class RatingTable:
    """Ratings of n summaries.

    `codes` has shape (n, people + judges, aspects): the rating less 1, -1 where there is none. `systems` and
    `clusters` have a name and a key for each summary.
    """

    codes: Ints
    aspects: tuple[str, ...]
    people: tuple[str, ...]
    judges: tuple[str, ...]
    systems: tuple[str, ...]
    clusters: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        shape = (len(self.systems), len(self.people) + len(self.judges), len(self.aspects))
        if self.codes.shape != shape or len(self.clusters) != len(self.systems):
            raise BadShape(f"ratings of shape {self.codes.shape}, not {shape}")

    @property
    def measures(self) -> tuple[str, ...]:
        """The aspects and their mean."""
        return (*self.aspects, MEAN)

    def of(self, measure: str) -> Ints:
        """The codes of a measure, shape (n, raters); those of the mean are the sums of the aspects'."""
        if measure != MEAN:
            return self.codes[:, :, self.aspects.index(measure)]
        sums: Ints = np.where((self.codes == MISSING).any(axis=2), MISSING, self.codes.sum(axis=2))
        return sums

    def values(self, measure: str) -> Floats:
        """The ratings themselves, shape (n, raters), NaN where there is none."""
        codes, worth = self.of(measure), np.array(self.worth_of(measure))
        return np.where(codes == MISSING, np.nan, worth[np.maximum(codes, 0)])

    def worth_of(self, measure: str) -> tuple[float, ...]:
        """What each code of a measure stands for, from 1 to 5; a mean of five ratings moves in fifths."""
        steps = 1 if measure != MEAN else len(self.aspects)
        return tuple(LOWEST + code / steps for code in range((HIGHEST - LOWEST) * steps + 1))

    def by_people(self, measure: str) -> Floats:
        """The mean of people's ratings of each summary, shape (n,), NaN where nobody rated."""
        return mean_of_defined(self.values(measure)[:, : len(self.people)])


@dataclass(frozen=True, slots=True)
class Row:
    """A judge beside people, or people among themselves, on one measure; `n_items` are the summaries behind it."""

    name: str
    stats: Mapping[str, Stat]
    n_items: int


@dataclass(frozen=True, slots=True)
class MeasureRows:
    """One measure; figures of `people` are undefined where no summary was rated by two of them."""

    measure: str
    people: Row
    judges: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class SystemRow:
    """The mean ratings of a system by measure; `n` is the number of its rated summaries.

    `stats` are as if the same raters had rated all systems on the same subtopics, `own` those of its own
    summaries by whoever rated them.
    """

    system: str
    n: int
    stats: Mapping[str, Stat]
    own: Mapping[str, Stat]


@dataclass(frozen=True, slots=True)
class SystemPair:
    """The mean rating of the first system minus that of the second; `n_common` clusters have both."""

    first: str
    second: str
    n_common: int
    stats: Mapping[str, Stat]


@dataclass(frozen=True, slots=True)
class SystemRows:
    """Systems as people rate them, or as a judge does: all on the summaries that people rated.

    `ranking` says how alike the judge and people rank them by the mean over aspects.
    """

    rater: str
    rows: tuple[SystemRow, ...]
    pairs: tuple[SystemPair, ...]
    ranking: RankAgreement | None = None


@dataclass(frozen=True, slots=True)
class LikertReport:
    """Everything about the ratings of one study."""

    measures: tuple[MeasureRows, ...]
    systems: tuple[SystemRows, ...]
    n_rated: int


def likert_report(table: RatingTable, *, resampling: Resampling | None = DEFAULT) -> LikertReport:
    """All figures; intervals resample clusters."""
    with shared_draws():
        return LikertReport(
            measures=tuple(_measure(table, measure, resampling) for measure in table.measures),
            systems=tuple(_systems(table, rater, resampling) for rater in (PEOPLE, *table.judges)),
            n_rated=int(_rated(table).sum()),
        )


def _rated(table: RatingTable) -> Bools:
    """The summaries that somebody has rated on any aspect."""
    rated: Bools = (table.codes[:, : len(table.people)] != MISSING).any(axis=(1, 2))
    return rated


# One measure


def _measure(table: RatingTable, measure: str, resampling: Resampling | None) -> MeasureRows:
    codes = table.of(measure)
    n_people = len(table.people)
    return MeasureRows(
        measure,
        _people_row(table, measure, codes[:, :n_people], resampling),
        tuple(
            _judge_row(table, measure, name, codes[:, :n_people], codes[:, n_people + at], resampling)
            for at, name in enumerate(table.judges)
        ),
    )


def _people_row(table: RatingTable, measure: str, codes: Ints, resampling: Resampling | None) -> Row:
    n_items = int(((codes != MISSING).sum(axis=1) >= 2).sum())
    pairs = list(combinations(range(min(codes.shape[1], MAX_IN_PAIRS)), 2))
    stats = _paired(table, measure, [(codes[:, first], codes[:, second]) for first, second in pairs], resampling)
    return Row(PEOPLE, {ALPHA: _alpha(table, measure, codes, resampling), **stats}, n_items)


def _judge_row(
    table: RatingTable, measure: str, name: str, people: Ints, judge: Ints, resampling: Resampling | None
) -> Row:
    stats = _paired(table, measure, [(people[:, at], judge) for at in range(people.shape[1])], resampling)
    ours, theirs = table.by_people(measure), table.values(measure)[:, _column(table, name)]
    both = np.isfinite(ours) & np.isfinite(theirs)
    difference = bootstrap_mean(
        theirs - ours,
        clusters=table.clusters,
        resampling=resampling,
        method="judge minus the mean of people",
        bounds=(LOWEST - HIGHEST, HIGHEST - LOWEST),
    )
    return Row(name, {**stats, DIFFERENCE: difference}, int(both.sum()))


def _paired(
    table: RatingTable, measure: str, sides: Sequence[tuple[Ints, Ints]], resampling: Resampling | None
) -> dict[str, Stat]:
    """Figures of two raters, averaged over the pairs that share a summary."""
    names = CORRELATIONS if measure == MEAN else FIGURES
    worth = table.worth_of(measure)
    index = cluster_index(table.clusters, len(table.clusters))
    n_clusters = int(index.max(initial=-1)) + 1
    batch = Batch(n_clusters, resampling)
    items = Items(clusters=index, n_clusters=n_clusters, worth=worth, has_covered=False)
    added = [add_pair(batch, items, _column_of(first), _column_of(second)) for first, second in sides]
    pairs = [pair for pair in added if pair.n_items]
    if not pairs:
        return {name: Stat.undefined(NO_PAIR) for name in names}
    figures = pair_figures(worth, has_covered=False)
    return stats_of(batch, pairs, estimates_of(batch, pairs, figures, names=names))


def _column_of(codes: Ints) -> Column:
    nothing = np.zeros(len(codes), dtype=bool)
    return Column(codes, nothing.astype(object), nothing)


def _alpha(table: RatingTable, measure: str, codes: Ints, resampling: Resampling | None) -> Stat:
    worth = table.worth_of(measure)
    categories = tuple(f"{value:g}" for value in worth)
    ratings = Ratings(codes, categories, table.people, table.clusters)
    level = Level.INTERVAL if measure == MEAN else Level.ORDINAL
    values = dict(zip(categories, worth, strict=True))
    return krippendorff_alpha(ratings, level=level, values=values, resampling=resampling)


# Systems


def _systems(table: RatingTable, rater: str, resampling: Resampling | None) -> SystemRows:
    def ratings(measure: str) -> Floats:
        values = table.values(measure)
        if rater == PEOPLE:
            return values[:, : len(table.people)]
        return np.where(_rated(table)[:, None], values[:, [_column(table, rater)]], np.nan)

    measures = table.measures
    balanced_by = {measure: _compared(table, rater, ratings(measure), resampling) for measure in measures}
    plain = {measure: _own_means(table, mean_of_defined(ratings(measure)), resampling) for measure in measures}
    names = list(dict.fromkeys(name for each in balanced_by.values() for name in each.means))
    rows = (
        SystemRow(
            name,
            max(plain[measure][name].n_items for measure in measures),
            {measure: each.means.get(name, Stat.undefined(NOT_RATED)) for measure, each in balanced_by.items()},
            {measure: plain[measure][name] for measure in measures},
        )
        for name in sorted(names)
    )
    ranking = None if rater == PEOPLE else _ranking(table, mean_of_defined(ratings(MEAN)), resampling)
    return SystemRows(rater, tuple(row for row in rows if row.n), _pairs_of(balanced_by), ranking)


def _compared(table: RatingTable, rater: str, values: Floats, resampling: Resampling | None) -> Balanced:
    """Systems on the same subtopics and by the same raters; intervals are about these people."""
    means_of = balanced(
        values,
        systems=table.systems,
        clusters=table.clusters,
        bounds=(LOWEST, HIGHEST),
        has_interval=resampling is not None,
    )
    if rater != PEOPLE:
        return means_of
    n = int(np.isfinite(values).any(axis=0).sum())
    return Balanced(
        {name: about_these(stat, n, "raters") for name, stat in means_of.means.items()},
        tuple(
            replace(difference, stat=about_these(difference.stat, n, "raters"))
            for difference in means_of.differences
        ),
    )


def _pairs_of(balanced_by: Mapping[str, Balanced]) -> tuple[SystemPair, ...]:
    """Every two systems with their differences by measure."""
    by_pair: dict[tuple[str, str], dict[str, Difference]] = {}
    for measure, each in balanced_by.items():
        for difference in each.differences:
            by_pair.setdefault((difference.first, difference.second), {})[measure] = difference
    return tuple(
        SystemPair(
            first,
            second,
            max(each.n_common for each in of.values()),
            {measure: each.stat for measure, each in of.items()},
        )
        for (first, second), of in by_pair.items()
    )


def _own_means(table: RatingTable, values: Floats, resampling: Resampling | None) -> dict[str, Stat]:
    """The mean of each system's own summaries, each counting once."""
    systems = np.array(table.systems, dtype=object)
    return {
        name: bootstrap_mean(
            np.where(systems == name, values, np.nan),
            clusters=table.clusters,
            resampling=resampling,
            method="mean over summaries",
            bounds=(LOWEST, HIGHEST),
        )
        for name in dict.fromkeys(table.systems)
    }


def _ranking(table: RatingTable, judge: Floats, resampling: Resampling | None) -> RankAgreement:
    """People and a judge on the same summaries; several of one system on a cluster count as their mean."""
    people = table.by_people(MEAN)
    both = np.isfinite(people) & np.isfinite(judge)
    names = sorted({name for name, keep in zip(table.systems, both.tolist(), strict=True) if keep})
    rows = cluster_index(table.clusters, len(table.clusters))
    columns = np.array([names.index(name) if name in names else 0 for name in table.systems], dtype=np.int64)
    shape = (int(rows.max(initial=-1)) + 1, len(names))
    counts = _summed(both.astype(np.float64), rows[both], columns[both], both, shape)
    people_grid, judge_grid = (
        divide(_summed(values, rows[both], columns[both], both, shape), counts) for values in (people, judge)
    )
    return rank_agreement(people_grid, judge_grid, systems=names, resampling=resampling)


def _summed(values: Floats, rows: Ints, columns: Ints, mask: Bools, shape: tuple[int, int]) -> Floats:
    grid = np.zeros(shape)
    np.add.at(grid, (rows, columns), values[mask])
    return grid


def _column(table: RatingTable, judge: str) -> int:
    return len(table.people) + table.judges.index(judge)
