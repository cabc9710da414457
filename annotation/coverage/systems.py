"""Systems ranked by people and by judges, and a judge's score of all summaries corrected by people's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Avg, Case, F, FloatField, Value, When
from django.db.models.functions import Coalesce

from annotation.coverage.biases import human_worth, summary_pairs
from annotation.results.judges import MEAN
from annotation.results.table import FULL_CONTEXT, SUMMARIES, Filters, LabelTable
from benchmarks.models import Judge, Summary, Verdict
from benchmarks.scoring.bias import SummaryPair
from benchmarks.scoring.correction import Correction, Judged, correct
from benchmarks.scoring.correlation import kendall_figure, rank_stat
from benchmarks.scoring.draws import DEFAULT, Resampling, shared_draws
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import HALF, Score, worth
from benchmarks.scoring.sums import Floats


@dataclass(frozen=True, slots=True)
class Ranking:
    """Mean coverage of each summarizer by people and by one judge, and Kendall's tau-b of the two orders."""

    judge: str
    tau: Stat
    means: Mapping[str, tuple[float, float, int]]


@dataclass(frozen=True, slots=True)
class JudgedSummary:
    """The mean coverage of a system's summary, 0 to 1, as a judge saw it."""

    summary: int
    subtopic: int
    summarizer: str
    score: float


@dataclass(frozen=True, slots=True)
class Corrected:
    """A judge's mean coverage as it is and corrected by people's labels, over all systems and by summarizer."""

    judge: str
    overall: Correction
    by_summarizer: Mapping[str, Correction]


def rankings(table: LabelTable, *, reference: str = MEAN, resampling: Resampling = DEFAULT) -> tuple[Ranking, ...]:
    """One for each judge, over the summaries that it and people saw."""
    human = human_worth(table, reference)
    with shared_draws():
        return tuple(
            _ranking(
                judge.name,
                summary_pairs(table, human, table.worth_of_judge(index))[0],
                table.n_clusters,
                resampling,
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


def judged_summaries(table: LabelTable, filters: Filters) -> Mapping[str, Sequence[JudgedSummary]]:
    """{judge key: what it saw} of all systems' summaries of these haystacks. Two queries."""
    rows = Verdict.objects.filter(
        summary__haystack__in={info.haystack_pk for info in table.summaries},
        judge__uid__in=[judge.key for judge in table.judges],
        repeat=0,
        is_valid=True,
    ).exclude(summary__origin=Summary.Origin.SESSION)
    if filters.haystack:
        rows = rows.filter(summary__haystack__title=filters.haystack)
    if filters.domain:
        rows = rows.filter(summary__haystack__domain=filters.domain)
    if filters.summarizer:
        rows = rows.filter(summary__system__summarizer=filters.summarizer)
    if filters.retriever:
        retriever = "" if filters.retriever == FULL_CONTEXT else filters.retriever
        rows = rows.filter(summary__system__retriever=retriever)
    by_judge: dict[int, list[JudgedSummary]] = {}
    of_summary = ("summary", "summary__subtopic", "summary__system__summarizer")
    grouped = rows.order_by().values("judge", *of_summary).annotate(score=mean_worth(table.score))
    for judge, *values in grouped.values_list("judge", *of_summary, "score"):
        by_judge.setdefault(judge, []).append(JudgedSummary(*values))
    uids = Judge.objects.in_bulk(by_judge)
    return {str(uids[judge].uid): judged for judge, judged in by_judge.items()}


def mean_worth(score: Score) -> Avg:
    """The mean coverage of verdicts, by label or as expected where a verdict says, as an expression."""
    levels = [When(coverage=level, then=Value(value)) for level, value in worth().items()]
    by_label = Case(*levels, output_field=FloatField())
    is_expected = score is Score.EXPECTED
    return Avg(Coalesce(HALF * F("p_partial") + F("p_full"), by_label) if is_expected else by_label)


def corrected(
    table: LabelTable,
    judged: Mapping[str, Sequence[JudgedSummary]],
    *,
    reference: str = MEAN,
    resampling: Resampling = DEFAULT,
) -> tuple[Corrected, ...]:
    """One for each judge; `judged` holds what each judge, by its key, saw on these haystacks, labelled or not."""
    human = human_worth(table, reference)
    by_judge = []
    with shared_draws():
        for index, judge in enumerate(table.judges):
            differences = differences_of(table, human, table.worth_of_judge(index))
            rows = [
                Judged(
                    system=text.summarizer,
                    cluster=text.summary if table.cluster_unit == SUMMARIES else text.subtopic,
                    score=text.score,
                    difference=differences.get(text.summary),
                )
                for text in judged.get(judge.key, ())
            ]
            overall, by_system = correct(rows, is_random=table.is_random, resampling=resampling)
            by_judge.append(Corrected(judge.name, overall, by_system))
    return tuple(by_judge)


def differences_of(table: LabelTable, human: Floats, judge: Floats) -> dict[int, float]:
    """Judge minus human coverage of each labelled summary, by its pk."""
    both = np.isfinite(human) & np.isfinite(judge)
    of, n = table.summary_of[both], len(table.summaries)
    counts = np.bincount(of, minlength=n)
    sums = np.bincount(of, weights=(judge - human)[both], minlength=n)
    return {table.summaries[at].pk: float(sums[at] / counts[at]) for at in np.flatnonzero(counts)}
