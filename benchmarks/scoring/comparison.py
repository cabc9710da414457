"""A judge beside a human on the same insights: the columns of the judge table (Table 1) and of Table 4.

Pearson alone hides a judge that calls everything covered, so agreement, the covered / not covered split and
both label distributions stand beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.scoring.agreement import (
    Level,
    Weights,
    cohen_kappa,
    krippendorff_alpha,
    percent_agreement,
    randolph_kappa,
)
from benchmarks.scoring.correlation import kendall_tau_b, pearson, spearman
from benchmarks.scoring.intervals import (
    Floats,
    Resampling,
    bootstrap,
    bootstrap_ratio,
    divide,
    rate,
    sum_by_cluster,
)
from benchmarks.scoring.linking import Compared, LinkRule, linking_accuracy, linking_by_chance
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Coverage

LABELS = tuple(label.value for label in Coverage)
_COVERED = {"none": "not covered", "partial": "covered", "full": "covered"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every figure of one judge against one human column.

    `confusion[human][judge]` counts insights. `n_invalid` rows lack a verdict on one side and are in no figure.
    TPR and TNR are the judge's, with the human as the truth.
    """

    pearson: Stat
    spearman: Stat
    tau_b: Stat
    exact: Stat
    cohen: Stat
    cohen_linear: Stat
    cohen_quadratic: Stat
    randolph: Stat
    alpha_ordinal: Stat
    covered_accuracy: Stat
    covered_kappa: Stat
    covered_tpr: Stat
    covered_tnr: Stat
    linking: Stat
    linking_authors: Stat
    linking_strict: Stat
    linking_chance: Stat
    human_labels: Mapping[str, int]
    judge_labels: Mapping[str, int]
    confusion: Mapping[str, Mapping[str, int]]
    n_invalid: int


def compare(rows: Sequence[Compared], *, half: float = 0.5, resampling: Resampling | None = None) -> Comparison:
    """Compare a judge with a human on `rows`; intervals by the rows' clusters when `resampling` is given.

    `half` is what partial coverage is worth in the correlations. Spearman and tau-b, which have no sufficient
    statistics, come without an interval: `correlation` draws one on demand.
    """
    both = [row for row in rows if row.human is not None and row.judge is not None]
    human = [Coverage(row.human.coverage) for row in both if row.human]
    judge = [Coverage(row.judge.coverage) for row in both if row.judge]
    clusters = _clusters(both)
    table = Ratings.from_rows(
        [{"human": h.value, "judge": j.value} for h, j in zip(human, judge, strict=True)],
        categories=LABELS,
        raters=("human", "judge"),
        clusters=clusters,
    )
    split = table.merged(_COVERED)
    worth = {Coverage.NONE: 0.0, Coverage.PARTIAL: half, Coverage.FULL: 1.0}
    x, y = [worth[label] for label in human], [worth[label] for label in judge]
    human_covered = [label is not Coverage.NONE for label in human]
    judge_covered = [label is not Coverage.NONE for label in judge]
    pairs = Counter((h.value, j.value) for h, j in zip(human, judge, strict=True))
    return Comparison(
        pearson=pearson(x, y, clusters=clusters, resampling=resampling),
        spearman=spearman(x, y),
        tau_b=kendall_tau_b(x, y),
        exact=percent_agreement(table, resampling=resampling),
        cohen=cohen_kappa(table, resampling=resampling),
        cohen_linear=cohen_kappa(table, weights=Weights.LINEAR, resampling=resampling),
        cohen_quadratic=cohen_kappa(table, weights=Weights.QUADRATIC, resampling=resampling),
        randolph=randolph_kappa(table, resampling=resampling),
        alpha_ordinal=krippendorff_alpha(table, level=Level.ORDINAL, resampling=resampling),
        covered_accuracy=percent_agreement(split, resampling=resampling),
        covered_kappa=cohen_kappa(split, resampling=resampling),
        covered_tpr=_rate_where(True, human_covered, judge_covered, clusters, resampling),
        covered_tnr=_rate_where(False, human_covered, judge_covered, clusters, resampling),
        linking=linking_accuracy(both, resampling=resampling),
        linking_authors=linking_accuracy(both, rule=LinkRule.AUTHORS, resampling=resampling),
        linking_strict=linking_accuracy(both, rule=LinkRule.STRICT, resampling=resampling),
        linking_chance=linking_by_chance(both, resampling=resampling),
        human_labels={label: sum(given == label for given in human) for label in LABELS},
        judge_labels={label: sum(given == label for given in judge) for label in LABELS},
        confusion={h: {j: pairs[h, j] for j in LABELS} for h in LABELS},
        n_invalid=len(rows) - len(both),
    )


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


def mean_over_annotators(stats: Sequence[Stat]) -> Stat:
    """Plain mean of the defined figures of several annotators; `n_items` is the smallest of theirs."""
    defined = [stat for stat in stats if stat.value is not None]
    method = "mean over annotators"
    if not defined:
        return Stat.undefined("no annotator has this figure", method=method)
    value = sum(stat.value or 0.0 for stat in defined) / len(defined)
    return Stat(value, n_items=min(stat.n_items for stat in defined), method=method)


def _mean_difference(
    rows: Sequence[SummaryPair], resampling: Resampling | None, *, by_insight: bool = False
) -> Stat:
    method = "mean over insights" if by_insight else "mean over summaries"
    weights = [float(row.n_insights) if by_insight else 1.0 for row in rows]
    differences = [(row.judge - row.human) * weight for row, weight in zip(rows, weights, strict=True)]
    total = sum(weights)
    if not total:
        return Stat.undefined("no summaries", method=method)
    if resampling is None:
        return Stat(sum(differences) / total, n_items=round(total), method=method)
    keys = [row.cluster for row in rows]
    return bootstrap_ratio(differences, weights, clusters=keys, resampling=resampling, method=method)


def _mean_of_means(rows: Sequence[SummaryPair], summarizers: Sequence[str], resampling: Resampling | None) -> Stat:
    method = "mean over summarizers"
    if not rows:
        return Stat.undefined("no summaries", method=method)
    width = len(summarizers)
    table = np.zeros((len(rows), 2 * width))
    for index, row in enumerate(rows):
        column = summarizers.index(row.summarizer)
        table[index, column], table[index, width + column] = row.judge - row.human, 1.0

    def figure(totals: Floats) -> Floats:
        means = divide(totals[:, :width], totals[:, width:])
        drawn = np.isfinite(means)
        return divide(np.where(drawn, means, 0.0).sum(axis=1), drawn.sum(axis=1).astype(np.float64))

    stat = Stat(float(figure(table.sum(axis=0)[None, :])[0]), n_items=len(rows), method=method)
    if resampling is None:
        return stat
    sums = sum_by_cluster(table, [row.cluster for row in rows])
    return bootstrap(figure, sums, n_items=len(rows), resampling=resampling).on(stat)


def _rate_where(
    truth: bool,
    human: Sequence[bool],
    judge: Sequence[bool],
    clusters: Sequence[Hashable] | None,
    resampling: Resampling | None,
) -> Stat:
    chosen = [index for index, covered in enumerate(human) if covered is truth]
    hits = [float(judge[index] is truth) for index in chosen]
    method = "true positive rate" if truth else "true negative rate"
    if not hits:
        return Stat.undefined(f"the human calls nothing {'covered' if truth else 'not covered'}", method=method)
    if resampling is None:
        return Stat(sum(hits) / len(hits), n_items=len(hits), method=method)
    keys = None if clusters is None else [clusters[index] for index in chosen]
    return rate(hits, clusters=keys, resampling=resampling, method=method)


def _clusters(rows: Sequence[Compared]) -> list[Hashable] | None:
    keys = [row.cluster for row in rows]
    return None if any(key is None for key in keys) else keys
