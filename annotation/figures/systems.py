"""Systems ranked by people and by judges, and a judge's score of all summaries corrected by people's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.figures.biases import human_worth, judge_worth, summary_pairs
from annotation.figures.judges import MEAN
from annotation.figures.table import LabelTable
from benchmarks.scoring.bias import SummaryPair
from benchmarks.scoring.intervals import (
    DEFAULT,
    SHARE,
    Batch,
    Figure,
    Floats,
    Resampling,
    ratio,
    shared_draws,
)
from benchmarks.scoring.ranking import kendall_figure, rank_stat
from benchmarks.scoring.stat import Stat


@dataclass(frozen=True, slots=True)
class Ranking:
    """Mean coverage of each summarizer by people and by one judge, and Kendall's tau-b of the two orders."""

    judge: str
    tau: Stat
    means: Mapping[str, tuple[float, float, int]]


@dataclass(frozen=True, slots=True)
class Corrected:
    """A judge's mean coverage of all summaries minus its difference from people on those they labelled."""

    judge: str
    raw: Stat
    corrected: Stat
    n_labelled: int


def rankings(table: LabelTable, *, reference: str = MEAN, resampling: Resampling = DEFAULT) -> tuple[Ranking, ...]:
    """One for each judge, over the summaries that it and people saw."""
    human = human_worth(table, reference)
    with shared_draws():
        return tuple(
            _ranking(
                judge.name, summary_pairs(table, human, judge_worth(table, index))[0], table.n_clusters, resampling
            )
            for index, judge in enumerate(table.judges)
        )


def _ranking(name: str, pairs: Sequence[SummaryPair], n_clusters: int, resampling: Resampling) -> Ranking:
    systems = sorted({pair.summarizer for pair in pairs})
    place = {system: number for number, system in enumerate(systems)}
    width = len(systems)
    sums = np.zeros((n_clusters, 3 * width))
    clusters = np.array([pair.cluster for pair in pairs], dtype=np.int64)
    at_system = np.array([place[pair.summarizer] for pair in pairs], dtype=np.int64)
    np.add.at(sums, (clusters, at_system), [pair.human for pair in pairs])
    np.add.at(sums, (clusters, width + at_system), [pair.judge for pair in pairs])
    np.add.at(sums, (clusters, 2 * width + at_system), 1.0)
    totals = sums.sum(axis=0)
    means = {
        system: (
            float(totals[at] / totals[2 * width + at]),
            float(totals[width + at] / totals[2 * width + at]),
            int(totals[2 * width + at]),
        )
        for system, at in place.items()
    }
    figure = kendall_figure("Kendall's tau-b of mean coverage", width)
    return Ranking(name, rank_stat(figure, sums, resampling=resampling), means)


def corrected(
    table: LabelTable,
    everywhere: Mapping[str, Mapping[int, float]],
    *,
    reference: str = MEAN,
    resampling: Resampling = DEFAULT,
) -> tuple[Corrected, ...]:
    """One for each judge; `everywhere` holds {judge key: {summary pk: mean coverage by it}}, labelled or not."""
    human = human_worth(table, reference)
    found = []
    with shared_draws():
        for index, judge in enumerate(table.judges):
            differences = _differences(table, human, judge_worth(table, index))
            found.append(_corrected(judge.name, everywhere.get(judge.key, {}), differences, resampling))
    return tuple(found)


def _differences(table: LabelTable, human: Floats, judge: Floats) -> dict[int, float]:
    """Judge minus human coverage of each labelled summary, by its pk."""
    both = np.isfinite(human) & np.isfinite(judge)
    of, n = table.summary_of[both], len(table.summaries)
    counts = np.bincount(of, minlength=n)
    sums = np.bincount(of, weights=(judge - human)[both], minlength=n)
    return {table.summaries[at].pk: float(sums[at] / counts[at]) for at in np.flatnonzero(counts)}


def _corrected(
    name: str, scores: Mapping[int, float], differences: Mapping[int, float], resampling: Resampling
) -> Corrected:
    raw = Figure(
        "mean over all judged summaries",
        lambda totals: ratio(totals),
        "the judge saw none of these summaries",
        SHARE,
    )
    corrected = Figure(
        f"{raw.method}, corrected by judge minus human on the labelled ones",
        lambda totals: ratio(totals) - ratio(totals[:, 2:]),
        "no summary has labels by people",
    )
    n, n_labelled = len(scores), sum(pk in differences for pk in scores)
    if not n:
        none = Stat.undefined(raw.reason, method=corrected.method)
        return Corrected(name, none, none, 0)
    batch = Batch(n, resampling)
    block = batch.add(
        np.array(
            [(score, 1.0, differences.get(pk, 0.0), float(pk in differences)) for pk, score in scores.items()]
        )
    )
    found = batch.estimate(raw, [block]).stat(n_items=n)
    if n_labelled == n:
        reason = "the judge saw no summary beyond those that people labelled"
        return Corrected(name, found, Stat.undefined(reason, n_items=n, method=corrected.method), n)
    return Corrected(name, found, batch.estimate(corrected, [block]).stat(n_items=n), n_labelled)
