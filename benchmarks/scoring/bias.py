"""A judge's coverage of summaries beside a human's (Table 4): by summarizer, overall, and by length."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.scoring.correlation import pearson
from benchmarks.scoring.draws import Resampling
from benchmarks.scoring.formulas import COEFFICIENT, Figure
from benchmarks.scoring.means import bootstrap_ratio, figure_of
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import mean_of_ratios

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
