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
from benchmarks.scoring.formulas import MIN_CLUSTERS, few, jackknife_error, with_student
from benchmarks.scoring.intervals import Batch, bootstrap_mean
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
)

METHOD = "least squares with raters and clusters"
NOT_LINKED = "no cluster rated by the same people links it with the others"
TINY = 1e-10


def balanced(
    values: Floats,
    *,
    systems: Sequence[str],
    clusters: Sequence[Hashable],
    bounds: tuple[float, float],
    has_interval: bool = True,
) -> tuple[dict[str, Stat], dict[tuple[str, str], Stat], dict[tuple[str, str], int]]:
    """Compare systems by ratings of shape (summaries, raters), NaN where there is none.

    Gives the mean of each system, in the order of their names, every difference of two, and how many clusters have
    both. Intervals leave out each cluster in turn (jackknife, Student's t); they are about these raters.
    """
    if len(values) != len(systems) or len(values) != len(clusters):
        raise BadShape(f"{len(values)} rows of ratings of {len(systems)} systems in {len(clusters)} clusters")
    kept = np.flatnonzero(np.isfinite(values).any(axis=1)).tolist()
    names = sorted({systems[at] for at in kept})
    if not names:
        return {}, {}, {}
    of = np.array([names.index(systems[at]) for at in kept], dtype=np.int64)
    groups = cluster_index([clusters[at] for at in kept], len(kept))
    sums = _normal_equations(values[kept], of, groups, len(names))
    n_clusters, n_of = len(sums[0]), np.bincount(of)
    pairs = list(combinations(range(len(names)), 2))
    estimates = _estimates(*sums)
    is_resampled = has_interval and n_clusters >= MIN_CLUSTERS
    without = _without_each(sums) if is_resampled else np.full((n_clusters, len(estimates)), np.nan)

    def stat(at: int, n: int, ends: tuple[float, float]) -> Stat:
        value, left_out = float(estimates[at]), without[:, at]
        if not np.isfinite(value):
            return Stat.undefined(NOT_LINKED, n_items=n, n_clusters=n_clusters, method=METHOD)
        plain = Stat(value, n_items=n, n_clusters=n_clusters, method=METHOD)
        if not has_interval:
            return plain
        if reason := few(n_clusters, n, items="summaries"):
            return replace(plain, interval_reason=reason)
        if not np.isfinite(left_out).all():
            return replace(plain, interval_reason="undefined without some cluster")
        return with_student(
            plain,
            jackknife_error(left_out),
            n_clusters - 1,
            bounds=ends,
            same="the same without any cluster",
            method=f"{METHOD}, jackknife over clusters",
        )

    span = bounds[1] - bounds[0]
    presence = np.zeros((n_clusters, len(names)), dtype=bool)
    presence[groups, of] = True
    keys = [(names[first], names[other]) for first, other in pairs]
    return (
        {name: stat(at, int(n_of[at]), bounds) for at, name in enumerate(names)},
        {
            key: stat(len(names) + at, int(n_of[list(pair)].sum()), (-span, span))
            for at, (key, pair) in enumerate(zip(keys, pairs, strict=True))
        },
        {key: int(presence[:, pair].all(axis=1).sum()) for key, pair in zip(keys, pairs, strict=True)},
    )


def _without_each(sums: tuple[Floats, ...]) -> Floats:
    """Estimates without each cluster in turn, shape (clusters, estimates)."""
    n = len(sums[0])
    return np.stack([_estimates(*(part[np.arange(n) != at] for part in sums)) for at in range(n)])


def _normal_equations(values: Floats, systems: Ints, clusters: Ints, n_systems: int) -> tuple[Floats, ...]:
    """Normal equations of each cluster, its own mean taken out: shapes (clusters, p, p) and (clusters, p).

    With them its mean, shape (clusters,), and how much of each system's part is in that, (clusters, systems).
    """
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
    return squares, products, means, mix


def _estimates(squares: Floats, products: Floats, means: Floats, mix: Floats) -> Floats:
    """The means of systems, then their differences; NaN where nothing links what is compared."""
    n, total = mix.shape[1], squares.sum(axis=0)
    inverse = np.linalg.pinv(total, rcond=TINY, hermitian=True)
    parts = inverse @ products.sum(axis=0)
    first, other = np.triu_indices(n, 1)
    wanted = np.zeros((n + len(first), len(total)))
    wanted[:, :n] = np.vstack([np.eye(n) - mix.mean(axis=0), np.eye(n)[first] - np.eye(n)[other]])
    estimates: Floats = wanted @ parts
    estimates[:n] += means.mean()
    is_known = np.abs(wanted @ total @ inverse - wanted).max(axis=1, initial=0.0) < 1e-6
    return np.where(is_known, estimates, np.nan)


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
        return (*self.aspects, MEAN)

    def of(self, measure: str) -> Ints:
        """The codes of a measure, shape (n, raters); those of the mean are the sums of the aspects'."""
        if measure != MEAN:
            return self.codes[:, :, self.aspects.index(measure)]
        return np.where((self.codes == MISSING).any(axis=2), MISSING, self.codes.sum(axis=2))

    def values(self, measure: str) -> Floats:
        """The ratings themselves, shape (n, raters), NaN where there is none."""
        codes, worth = self.of(measure), np.array(self.worth_of(measure))
        return np.where(codes == MISSING, np.nan, worth[np.maximum(codes, 0)])

    def worth_of(self, measure: str) -> tuple[float, ...]:
        """Values of the codes of a measure, from 1 to 5; a mean of five ratings moves in fifths."""
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
    return (table.codes[:, : len(table.people)] != MISSING).any(axis=(1, 2))


# One measure


def _measure(table: RatingTable, measure: str, resampling: Resampling | None) -> MeasureRows:
    codes, values = table.of(measure), table.values(measure)
    n_people = len(table.people)
    people = codes[:, :n_people]
    pairs = combinations(range(min(n_people, MAX_IN_PAIRS)), 2)
    stats = _paired(table, measure, [(people[:, first], people[:, second]) for first, second in pairs], resampling)
    judges = []
    for at, name in enumerate(table.judges, n_people):
        difference = values[:, at] - table.by_people(measure)
        beside = bootstrap_mean(
            difference,
            clusters=table.clusters,
            resampling=resampling,
            method="judge minus the mean of people",
            bounds=(LOWEST - HIGHEST, HIGHEST - LOWEST),
        )
        paired = _paired(table, measure, [(person, codes[:, at]) for person in people.T], resampling)
        judges.append(Row(name, {**paired, DIFFERENCE: beside}, int(np.isfinite(difference).sum())))
    n_items = int(((people != MISSING).sum(axis=1) >= 2).sum())
    among = Row(PEOPLE, {ALPHA: _alpha(table, measure, people, resampling), **stats}, n_items)
    return MeasureRows(measure, among, tuple(judges))


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
    """Systems on the same subtopics and by the same raters; intervals of people are about these people."""
    means: dict[str, dict[str, Stat]] = {}
    apart: dict[str, dict[tuple[str, str], Stat]] = {}
    plain: dict[str, dict[str, Stat]] = {}
    common: dict[tuple[str, str], int] = {}
    systems, ranking = np.array(table.systems, dtype=object), None
    for measure in table.measures:
        values = table.values(measure)
        if rater == PEOPLE:
            values = values[:, : len(table.people)]
        else:
            values = np.where(
                _rated(table)[:, None], values[:, [len(table.people) + table.judges.index(rater)]], np.nan
            )
        means[measure], apart[measure], n_common = balanced(
            values,
            systems=table.systems,
            clusters=table.clusters,
            bounds=(LOWEST, HIGHEST),
            has_interval=resampling is not None,
        )
        if rater == PEOPLE:
            n = int(np.isfinite(values).any(axis=0).sum())
            means[measure] = {name: about_these(stat, n, "raters") for name, stat in means[measure].items()}
            apart[measure] = {pair: about_these(stat, n, "raters") for pair, stat in apart[measure].items()}
        common |= {pair: max(common.get(pair, 0), n) for pair, n in n_common.items()}
        each = mean_of_defined(values)
        plain[measure] = {
            name: bootstrap_mean(
                np.where(systems == name, each, np.nan),
                clusters=table.clusters,
                resampling=resampling,
                method="mean over summaries",
                bounds=(LOWEST, HIGHEST),
            )
            for name in dict.fromkeys(table.systems)
        }
        if measure == MEAN and rater != PEOPLE:
            ranking = _ranking(table, each, resampling)
    rows = (
        SystemRow(
            name,
            max(stats[name].n_items for stats in plain.values()),
            {measure: stats.get(name, Stat.undefined(NOT_RATED)) for measure, stats in means.items()},
            {measure: stats[name] for measure, stats in plain.items()},
        )
        for name in sorted(set().union(*means.values()))
    )
    pairs = (
        SystemPair(*pair, n, {measure: stats[pair] for measure, stats in apart.items() if pair in stats})
        for pair, n in common.items()
    )
    return SystemRows(rater, tuple(row for row in rows if row.n), tuple(pairs), ranking)


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
