"""A judge beside a human: insight by insight, by what it expects, and by the coverage of summaries (Table 4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.scoring.formulas import COEFFICIENT, Figure
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
from benchmarks.scoring.summhay import COVERAGES, HALF, Verdict, worth
from benchmarks.scoring.sums import Floats, Resampling, cluster_index, mean_of_ratios


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every figure of one judge against one human column, by its name in `pairs`.

    `confusion[human][judge]` counts insights. `n_invalid` rows lack a verdict on one side and are in no figure.
    TPR and TNR are the judge's, with the human as the truth.
    """

    stats: Mapping[str, Stat]
    confusion: Mapping[str, Mapping[str, int]]
    n_invalid: int


def compare(rows: Sequence[Compared], *, half: float = HALF, resampling: Resampling | None = None) -> Comparison:
    """Compare a judge with a human on `rows`; intervals by the rows' clusters when `resampling` is given.

    `half` is what partial coverage is worth in the correlations. A row without a cluster is its own.
    """
    both = [row for row in rows if row.human is not None and row.judge is not None]
    keys = [row.cluster for row in both]
    clusters = cluster_index(None if None in keys else keys, len(both))
    items = Items(
        clusters=clusters,
        n_clusters=int(clusters.max(initial=-1)) + 1,
        worth=tuple(worth(half).values()),
        has_covered=True,
        n_lines=np.array([row.n_lines or 0 for row in both], dtype=np.int64),
    )
    human = _column([row.human for row in both], [bool(row.human and row.human.lines) for row in both])
    judge = _column(
        [row.judge for row in both],
        [bool(row.judge and len(row.judge.lines) == 1) and not row.judge_gave_list for row in both],
    )
    batch = Batch(items.n_clusters, resampling)
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
    clusters: Sequence[Hashable] | None = None,
    resampling: Resampling | None = None,
) -> ExpectedFigures:
    """Compare expectations and labels, as numbers from 0 to 1 of shape (n,), with what people say on the items."""
    expectation, label, people = (np.asarray(side, dtype=np.float64) for side in (expected, by_label, human))
    n, numbers = len(people), cluster_index(clusters, len(people))
    batch = Batch(int(numbers.max(initial=-1)) + 1, resampling)
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
        bias=bootstrap_mean(expectation - people, clusters=clusters, resampling=resampling),
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


def calibration(expected: ArrayLike, human: ArrayLike, *, n_parts: int = N_PARTS) -> tuple[Part, ...]:
    """Items in parts of equal size by expectation, the lowest first; fewer parts where there are fewer items."""
    expectation, people = np.asarray(expected, dtype=np.float64), np.asarray(human, dtype=np.float64)
    order = np.argsort(expectation, kind="stable")
    return tuple(
        Part(len(part), float(expectation[part].mean()), float(people[part].mean()))
        for part in np.array_split(order, n_parts)
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
    """Judge minus human coverage (Table 4), by summarizer and in three averages; and how length goes with it.

    Without `resampling` no figure has an interval.
    """

    by_summarizer: Mapping[str, Stat]
    over_summarizers: Stat
    over_summaries: Stat
    over_insights: Stat
    length_and_score: Stat
    length_and_difference: Stat


def bias(rows: Sequence[SummaryPair], *, resampling: Resampling | None = None) -> Bias:
    """How far a judge is above the human, and whether it depends on who wrote the summary or how long it is."""
    by_summarizer = {
        name: _mean_difference([row for row in rows if row.summarizer == name], resampling)
        for name in dict.fromkeys(row.summarizer for row in rows)
    }
    measured = [row for row in rows if row.words_per_bullet is not None]
    lengths = [row.words_per_bullet or 0.0 for row in measured]
    keys = [row.cluster for row in measured]
    return Bias(
        by_summarizer=by_summarizer,
        over_summarizers=_mean_of_means(rows, tuple(by_summarizer), resampling),
        over_summaries=_mean_difference(rows, resampling),
        over_insights=_mean_difference(rows, resampling, by_insight=True),
        length_and_score=pearson(lengths, [row.judge for row in measured], clusters=keys, resampling=resampling),
        length_and_difference=pearson(
            lengths, [row.judge - row.human for row in measured], clusters=keys, resampling=resampling
        ),
    )


def _mean_difference(
    rows: Sequence[SummaryPair], resampling: Resampling | None, *, by_insight: bool = False
) -> Stat:
    weights = [float(row.n_insights) if by_insight else 1.0 for row in rows]
    return bootstrap_ratio(
        [(row.judge - row.human) * weight for row, weight in zip(rows, weights, strict=True)],
        weights,
        clusters=[row.cluster for row in rows],
        resampling=resampling,
        method="mean over insights" if by_insight else "mean over summaries",
        reason=NO_SUMMARIES,
        bounds=COEFFICIENT,
    )


def _mean_of_means(rows: Sequence[SummaryPair], summarizers: Sequence[str], resampling: Resampling | None) -> Stat:
    figure = Figure("mean over summarizers", mean_of_ratios, NO_SUMMARIES, COEFFICIENT)
    width = len(summarizers)
    sums = np.zeros((len(rows), 2 * width))
    for index, row in enumerate(rows):
        column = summarizers.index(row.summarizer)
        sums[index, column], sums[index, width + column] = row.judge - row.human, 1.0
    keys = [row.cluster for row in rows]
    return figure_of(figure, sums, clusters=keys, n_items=len(rows), resampling=resampling)
