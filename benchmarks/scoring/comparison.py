"""A judge beside people: by insight, by what it expects, by summaries (Table 4), its help where labels are few.

People label a random part of the texts; a judge that saw all helps. PPI++ (Angelopoulos, Duchi and Zrnic 2023)
within strata, by cluster: the labelled mean plus λ times what the judge's mean over all texts is above its mean
over the labelled ones. λ is chosen to make the variance least: 0 where the judge does not go with people, towards
1 where it does. The difference estimator (Angelopoulos et al. 2023) takes the judge's mean difference from people
on the labelled summaries of a system away from its mean over all; over systems the corrections are weighted by how
many summaries each has. Both are right on average if the labelled texts of each stratum or system are a random
draw of those that the judge saw, and only then.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.formulas import COEFFICIENT, SHARE, Figure, few, with_student
from benchmarks.scoring.intervals import Batch, bootstrap_mean, bootstrap_ratio, figure_of
from benchmarks.scoring.pairs import (
    CHANCE,
    LINKING,
    Column,
    Compared,
    Items,
    add_pair,
    confusion_of,
    estimates_of,
    mask_of,
    pair_figures,
    stats_of,
)
from benchmarks.scoring.ranking import moments, pearson, r_of_moments
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import COVERAGES, Verdict, worth
from benchmarks.scoring.sums import (
    DEFAULT,
    Floats,
    Ints,
    Resampling,
    cluster_index,
    divide,
    in_order_of_content,
    mean_of_ratios,
    shared_draws,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every figure of one judge against one human column, by its name in `pairs`.

    `confusion[human][judge]` counts insights. `n_invalid` rows lack a verdict on one side and are in no figure.
    TPR and TNR are the judge's, with the human as the truth.
    """

    stats: Mapping[str, Stat]
    confusion: Mapping[str, Mapping[str, int]]
    n_invalid: int


def compare(rows: Sequence[Compared]) -> Comparison:
    """Compare a judge with a human on `rows`, with intervals by the rows' clusters.

    A row without a cluster is its own.
    """
    both = [row for row in rows if row.human is not None and row.judge is not None]
    keys = [row.cluster for row in both]
    clusters = cluster_index(None if None in keys else keys, len(both))
    items = Items(
        clusters=clusters,
        n_clusters=int(clusters.max(initial=-1)) + 1,
        worth=tuple(worth().values()),
        has_covered=True,
        n_lines=np.array([row.n_lines or 0 for row in both], dtype=np.int64),
    )
    human = _column([row.human for row in both], [bool(row.human and row.human.lines) for row in both])
    judge = _column(
        [row.judge for row in both],
        [bool(row.judge and len(row.judge.lines) == 1) and not row.judge_gave_list for row in both],
    )
    batch = Batch(items.n_clusters)
    blocks = add_pair(batch, items, human, judge, rules=(*LINKING, CHANCE))
    estimates = estimates_of(batch, [blocks], pair_figures(items.worth, has_covered=True))
    stats = stats_of(batch, [blocks], estimates)
    return Comparison(stats, confusion_of(batch, [blocks], COVERAGES), len(rows) - len(both))


def _column(verdicts: Sequence[Verdict | None], is_single: Sequence[bool]) -> Column:
    answered = [verdict for verdict in verdicts if verdict is not None]
    codes = np.array([COVERAGES.index(verdict.coverage) for verdict in answered], dtype=np.int64)
    links = np.zeros(len(answered), dtype=object)
    links[:] = [mask_of(verdict.lines) for verdict in answered]
    return Column(codes, links, np.array(is_single, dtype=bool))


N_PARTS = 10
PEARSON = Figure(
    "Pearson on the expected coverage",
    r_of_moments,
    "under 3 items, or one side is constant",
    COEFFICIENT,
    is_correlation=True,
)


@dataclass(frozen=True, slots=True)
class Part:
    """Items of similar expectation: how many, and the means of what was expected and of what people say."""

    n: int
    expected: float
    human: float


@dataclass(frozen=True, slots=True)
class ExpectedFigures:
    """How well expectations do: their correlation with people, that of the labels, and the paired `gain`.

    `bias` is expected minus human coverage on average; `parts` are ten of equal size, by what was expected.
    """

    pearson: Stat
    label_pearson: Stat
    gain: Stat
    bias: Stat
    parts: tuple[Part, ...]


def expected_figures(
    expected: ArrayLike,
    by_label: ArrayLike,
    human: ArrayLike,
    *,
    clusters: Sequence[Hashable],
) -> ExpectedFigures:
    """Compare expectations and labels, as numbers from 0 to 1 of shape (n,), with what people say on the items."""
    expectation, label, people = (np.asarray(side, dtype=np.float64) for side in (expected, by_label, human))
    n, numbers = len(people), cluster_index(clusters, len(people))
    batch = Batch(int(numbers.max(initial=-1)) + 1)
    estimates = [
        batch.estimate(PEARSON, [block])
        for block in [
            batch.add(moment_sums(people, side, numbers, batch.n_clusters)) for side in (expectation, label)
        ]
    ]
    return ExpectedFigures(
        pearson=estimates[0].stat(n_items=n),
        label_pearson=estimates[1].stat(n_items=n),
        gain=estimates[0].minus(estimates[1]).stat(n_items=n),
        bias=bootstrap_mean(expectation - people, clusters=clusters),
        parts=calibration(expectation, people),
    )


def moment_sums(first: Floats, second: Floats, clusters: ArrayLike, n_clusters: int) -> Floats:
    """Sums of moments by cluster, shape (n_clusters, 6), of the items that have both numbers (NaN: none).

    The numbers are from 0 to 1, so that the sums need no centring.
    """
    both = np.isfinite(first) & np.isfinite(second)
    sums = np.zeros((n_clusters, 6))
    np.add.at(sums, np.asarray(clusters)[both], moments(first[both], second[both]))
    return sums


def calibration(expected: ArrayLike, human: ArrayLike) -> tuple[Part, ...]:
    """Items in parts of equal size by expectation, the lowest first; fewer parts where there are fewer items."""
    expectation, people = np.asarray(expected, dtype=np.float64), np.asarray(human, dtype=np.float64)
    order = np.argsort(expectation, kind="stable")
    return tuple(
        Part(len(part), float(expectation[part].mean()), float(people[part].mean()))
        for part in np.array_split(order, N_PARTS)
        if len(part)
    )


NO_SUMMARIES = "no summaries"


@dataclass(frozen=True, slots=True)
class SummaryPair:
    """Coverage of one summary by a human and by a judge, 0 to 1, with its insights and its summarizer."""

    summarizer: str
    human: float
    judge: float
    n_insights: int
    cluster: Hashable
    words_per_bullet: float | None = None


@dataclass(frozen=True, slots=True)
class Bias:
    """Judge minus human coverage (Table 4), by summarizer and in three averages; and how length goes with it."""

    by_summarizer: Mapping[str, Stat]
    over_summarizers: Stat
    over_summaries: Stat
    over_insights: Stat
    length_and_score: Stat
    length_and_difference: Stat


def bias(rows: Sequence[SummaryPair]) -> Bias:
    """How far a judge is above the human, and whether it depends on who wrote the summary or how long it is."""
    by_summarizer = {
        name: _mean_difference([row for row in rows if row.summarizer == name])
        for name in dict.fromkeys(row.summarizer for row in rows)
    }
    measured = [row for row in rows if row.words_per_bullet is not None]
    lengths = [row.words_per_bullet or 0.0 for row in measured]
    keys = [row.cluster for row in measured]
    return Bias(
        by_summarizer=by_summarizer,
        over_summarizers=_mean_of_means(rows, tuple(by_summarizer)),
        over_summaries=_mean_difference(rows),
        over_insights=_mean_difference(rows, by_insight=True),
        length_and_score=pearson(lengths, [row.judge for row in measured], clusters=keys, resampling=DEFAULT),
        length_and_difference=pearson(
            lengths, [row.judge - row.human for row in measured], clusters=keys, resampling=DEFAULT
        ),
    )


def _mean_difference(rows: Sequence[SummaryPair], *, by_insight: bool = False) -> Stat:
    weights = [float(row.n_insights) if by_insight else 1.0 for row in rows]
    return bootstrap_ratio(
        [(row.judge - row.human) * weight for row, weight in zip(rows, weights, strict=True)],
        weights,
        clusters=[row.cluster for row in rows],
        method="mean over insights" if by_insight else "mean over summaries",
        reason=NO_SUMMARIES,
        bounds=COEFFICIENT,
    )


def _mean_of_means(rows: Sequence[SummaryPair], summarizers: Sequence[str]) -> Stat:
    figure = Figure("mean over summarizers", mean_of_ratios, NO_SUMMARIES, COEFFICIENT)
    width = len(summarizers)
    sums = np.zeros((len(rows), 2 * width))
    for index, row in enumerate(rows):
        column = summarizers.index(row.summarizer)
        sums[index, column], sums[index, width + column] = row.judge - row.human, 1.0
    return figure_of(figure, sums, clusters=[row.cluster for row in rows], n_items=len(rows))


OWN_FAMILY = "own family minus others, means over summaries"


def own_family(rows: Sequence[SummaryPair], of_family: Collection[str]) -> Stat:
    """How much more a judge is above the human on summaries of summarizers `of_family` than on those of others.

    n counts its own summaries. Undefined without any, or without any of others; no interval where its own, or
    others', are in too few clusters.
    """
    is_own = np.array([row.summarizer in of_family for row in rows], dtype=bool)
    sides = [
        {row.cluster for row, mine in zip(rows, is_own, strict=True) if mine == side} for side in (True, False)
    ]
    n = int(is_own.sum())
    if not all(sides):
        reason = NONE_OF_OTHERS if n else NONE_OWN
        return Stat.undefined(reason, n_items=n, method=OWN_FAMILY)
    gaps = np.array([row.judge - row.human for row in rows])
    sums = np.column_stack([gaps * is_own, is_own, gaps * ~is_own, ~is_own])
    figure = Figure(OWN_FAMILY, _gap_of_means, NO_SUMMARIES, (-2.0, 2.0))
    stat = figure_of(figure, sums, clusters=[row.cluster for row in rows], n_items=n)
    reason = few(min(map(len, sides)), min(n, len(rows) - n), items="summaries of its own family, or of others")
    return replace(stat, low=None, high=None, interval_reason=reason) if reason else stat


NONE_OWN, NONE_OF_OTHERS = "no summary of its family", "no summary of others"


def _gap_of_means(totals: Floats) -> Floats:
    ours, n_ours, others, n_others = totals.T
    return divide(ours, n_ours) - divide(others, n_others)


POWERED = "labels plus λ times the judge's difference between all and labelled texts, by stratum"
NO_TEXTS, UNLABELLED = "no texts", "a stratum has no labelled text"
NO_FREEDOM = "no interval: as many strata as labelled clusters"


@dataclass(frozen=True, slots=True)
class Text:
    """A text that a judge saw: its stratum and cluster, the judge's score, and people's where they labelled it."""

    stratum: Hashable
    cluster: Hashable
    judge: float
    human: float | None


class Powered(NamedTuple):
    """The mean with its interval, its λ, and its standard error (None without an interval)."""

    mean: Stat
    weight: float | None = None
    se: float | None = None


def powered_mean(texts: Sequence[Text], *, weight: float | None = None) -> Powered:
    """The mean over all texts as people would label them; `weight` fixes λ (0: labels alone, 1: the difference).

    The interval is by Student's t with the labelled clusters less the strata as degrees of freedom, and one less
    where λ was chosen between 0 and 1. None under five labelled clusters.
    """
    if not texts:
        return Powered(Stat.undefined(NO_TEXTS, method=POWERED))
    strata, clusters = (
        cluster_index([getattr(text, name) for text in texts], len(texts)) for name in ("stratum", "cluster")
    )
    judge = np.array([text.judge for text in texts])
    human = np.array([math.nan if text.human is None else text.human for text in texts])
    is_labelled = np.isfinite(human)
    n, n_labelled = np.bincount(strata), np.bincount(strata, weights=is_labelled)
    if (n_labelled == 0).any():
        return Powered(Stat.undefined(UNLABELLED, method=POWERED))
    share, of_labelled, their_clusters = n / len(judge), strata[is_labelled], clusters[is_labelled]
    mean_of_all = np.bincount(strata, weights=judge) / n
    weights = (share / n_labelled)[of_labelled]

    def over(keys: Ints, values: Floats) -> Floats:
        """The influence of each cluster, shape (clusters,)."""
        return np.bincount(keys, weights=values, minlength=int(clusters.max()) + 1).astype(np.float64)

    def on_labelled(values: Floats) -> tuple[Floats, Floats]:
        means = np.bincount(of_labelled, weights=values) / n_labelled
        return means, over(their_clusters, weights * (values - means[of_labelled]))

    mean_labels, of_labels = on_labelled(human[is_labelled])
    mean_judged, of_judged = on_labelled(judge[is_labelled])
    of_added = over(clusters, (judge - mean_of_all[strata]) / len(judge)) - of_judged
    spread = float(of_added @ of_added)
    best = min(1.0, max(0.0, -float(of_labels @ of_added) / spread)) if spread else 0.0
    chosen = best if weight is None else weight
    value = float(share @ mean_labels) + chosen * float(share @ (mean_of_all - mean_judged))
    n_clusters = len(np.unique(their_clusters))
    stat = Stat(value, n_items=int(is_labelled.sum()), n_clusters=n_clusters, method=POWERED)
    df = n_clusters - len(n) - int(weight is None and 0 < best < 1)
    if reason := few(n_clusters) or (NO_FREEDOM if df < 1 else ""):
        return Powered(replace(stat, interval_reason=reason), chosen)
    influence = of_labels + chosen * of_added
    se = math.sqrt(float(influence @ influence) * n_clusters / df)
    return Powered(with_student(stat, se, df), chosen, se)


NOT_RANDOM = "the labelled summaries are not known to be a random draw"
NOT_JUDGED = "the judge saw none of these summaries"
NOT_LABELLED = "no summary has labels by people"
ALL_LABELLED = "the judge saw no summary beyond those that people labelled"
RAW = "mean over all judged summaries"
CORRECTED = f"{RAW}, less judge minus human on the labelled ones, by system"


@dataclass(frozen=True, slots=True)
class Judged:
    """A summary that a judge saw: its mean coverage, 0 to 1, and judge minus human where people labelled it."""

    system: str
    cluster: Hashable
    score: float
    difference: float | None


@dataclass(frozen=True, slots=True)
class Correction:
    """A judge's mean of `raw.n_items` summaries, as it is and corrected; people labelled `n_labelled` of them.

    `powered` is people's mean with the judge's help (PPI++), by `weight` of the judge where it is defined.
    """

    raw: Stat
    corrected: Stat
    n_labelled: int
    powered: Stat
    weight: float | None = None


def correct(
    rows: Sequence[Judged], *, is_random: bool, resampling: Resampling | None = DEFAULT
) -> tuple[Correction, Mapping[str, Correction]]:
    """Over all systems, and by system; undefined where labels are not a random draw, or a system has none.

    Intervals count the clusters with labels, of which there are fewest.
    """
    systems = sorted({row.system for row in rows})
    if not rows:
        none = Stat.undefined(NOT_JUDGED, method=CORRECTED)
        return Correction(none, none, 0, none), {}
    sums = _sums(rows, systems)
    with shared_draws():
        batch = Batch(len(sums), resampling)
        blocks = [batch.add(sums[:, at : at + WIDTH]) for at in range(0, sums.shape[1], WIDTH)]
        all_of_them = batch.add(sums)
        by_system = {
            name: _correction(batch, block, [row for row in rows if row.system == name], is_random=is_random)
            for name, block in zip(systems, blocks, strict=True)
        }
        return _correction(batch, all_of_them, rows, is_random=is_random), by_system


WIDTH = 4
"""Sums of a system: score, summaries, difference, labelled summaries."""


def _sums(rows: Sequence[Judged], systems: Sequence[str]) -> Floats:
    """Shape (clusters, systems × WIDTH)."""
    clusters = cluster_index([row.cluster for row in rows], len(rows))
    column = {system: at for at, system in enumerate(systems)}
    sums = np.zeros((int(clusters.max()) + 1, len(systems), WIDTH))
    values = [
        (row.score, 1.0, 0.0, 0.0) if row.difference is None else (row.score, 1.0, row.difference, 1.0)
        for row in rows
    ]
    np.add.at(sums, (clusters, np.array([column[row.system] for row in rows])), np.array(values))
    return in_order_of_content(sums.reshape(len(sums), -1))


def _correction(batch: Batch, block: int, rows: Sequence[Judged], *, is_random: bool) -> Correction:
    sums = batch.blocks[block]
    of_systems, labelled = sums[:, 1::WIDTH].sum(axis=0), sums[:, 3::WIDTH].sum(axis=0)
    n, n_labelled = int(of_systems.sum()), int(labelled.sum())
    raw = batch.estimate(Figure(RAW, _raw, NOT_JUDGED, SHARE), [block]).stat(n_items=n)
    n_without = int((labelled == 0).sum())
    if reason := _reason(n, n_labelled, n_without, len(labelled), is_random=is_random):
        undefined = Stat.undefined(reason, n_items=n_labelled, method=CORRECTED)
        return Correction(raw, undefined, n_labelled, undefined)
    n_clusters = int((sums[:, 3::WIDTH] > 0).any(axis=1).sum())
    estimate = batch.estimate(Figure(CORRECTED, _corrected, NOT_LABELLED), [block], n_clusters=n_clusters)
    texts = [
        Text(row.system, row.cluster, row.score, None if row.difference is None else row.score - row.difference)
        for row in rows
    ]
    powered, weight, _se = powered_mean(texts)
    return Correction(raw, estimate.stat(n_items=n_labelled), n_labelled, powered, weight)


def _reason(n: int, n_labelled: int, n_without: int, n_systems: int, *, is_random: bool) -> str:
    if not n_labelled:
        return NOT_LABELLED
    if n_labelled == n:
        return ALL_LABELLED
    if not is_random:
        return NOT_RANDOM
    return f"{n_without} of {n_systems} systems have no labelled summary" if n_without else ""


def _raw(totals: Floats) -> Floats:
    return divide(totals[:, 0::WIDTH].sum(axis=1), totals[:, 1::WIDTH].sum(axis=1))


def _corrected(totals: Floats) -> Floats:
    """The raw mean less the mean difference of each system, weighted by its summaries.

    In a resample that has no labelled summary of a system, the difference over the others stands in for its own.
    """
    n, difference, labelled = (totals[:, at::WIDTH] for at in (1, 2, 3))
    over_all = divide(difference.sum(axis=1), labelled.sum(axis=1))[:, None]
    rates = np.where(labelled > 0, divide(difference, labelled), over_all)
    return _raw(totals) - divide((n * rates).sum(axis=1), n.sum(axis=1))
