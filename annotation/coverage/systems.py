"""Judges on labels of coverage: their bias, repeats and cost, and what they make of systems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from django.db.models import Avg, Case, F, FloatField, QuerySet, Value, When
from django.db.models.functions import Coalesce

from annotation.models import CoverageLabel, LabelTask
from annotation.results.judges import MEAN, Consistency, JudgeReport, reference_columns
from annotation.results.table import FULL_CONTEXT, SUMMARIES, Filters, LabelTable, SummaryInfo
from annotation.studies.amounts import pay
from benchmarks.models import Judge, ModelFamily, Summary, Verdict
from benchmarks.scoring.agreement import percent_agreement, randolph_kappa
from benchmarks.scoring.comparison import (
    OWN_FAMILY,
    Bias,
    Correction,
    Judged,
    SummaryPair,
    bias,
    correct,
    own_family,
)
from benchmarks.scoring.ranking import kendall_figure, pearson, rank_stat
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.summhay import COVERAGES, HALF, Score, worth
from benchmarks.scoring.sums import DEFAULT, Floats, mean_of_defined, shared_draws
from benchmarks.system_names import family_of

LENGTHS: Mapping[str, Callable[[SummaryInfo], float | None]] = {
    "all_lines": lambda info: info.words_per_line,
    "with_citations": lambda info: info.words_with_citations,
    "authors": lambda info: info.words_by_spaces,
}
"""Other lengths than words per bullet; the last is the rule of the authors' code for Table 4."""


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """One judge's bias; `by_length` has r of score and of judge minus human with each of the other lengths.

    `own` is how much more it favours summarizers of its `family` than others.
    """

    judge: str
    bias: Bias
    by_length: Mapping[str, tuple[Stat, Stat]]
    n_summaries: int
    family: str
    own: Stat
    score: Score = Score.LABEL


@dataclass(frozen=True, slots=True)
class BiasReport:
    """Every judge's bias against one reference."""

    reference: str
    summarizers: tuple[str, ...]
    rows: tuple[JudgeBias, ...]
    n_reference: int


def bias_report(table: LabelTable, *, reference: str = MEAN) -> BiasReport:
    """Judge minus human coverage per summary, on the insights that both labelled."""
    human = human_worth(table, reference)
    rows, families = [], ModelFamily.by_model()
    with shared_draws():
        for index, judge in enumerate(table.judges):
            family = family_of(judge.model, families) if judge.model else ""
            named = {info.summarizer for info in table.summaries}
            of_family = {name for name in named if family_of(name, families) == family}
            bias_row = _of_judge(table, judge.name, family, of_family, human, table.worth_of_judge(index))
            rows.append(replace(bias_row, score=table.score_of(index)))
    names = sorted({info.summarizer for info in table.summaries})
    return BiasReport(reference, tuple(names), tuple(rows), int(np.isfinite(human).sum()))


def _of_judge(
    table: LabelTable, name: str, family: str, of_family: Collection[str], human: Floats, judge: Floats
) -> JudgeBias:
    pairs, infos = summary_pairs(table, human, judge)
    by_length = {
        name: _with_length([(pair, words(info)) for pair, info in zip(pairs, infos, strict=True)])
        for name, words in LENGTHS.items()
    }
    of_own = own_family(pairs, of_family) if family else Stat.undefined("not a model", method=OWN_FAMILY)
    return JudgeBias(name, bias(pairs), by_length, len(pairs), family, of_own)


def _with_length(rows: Sequence[tuple[SummaryPair, float | None]]) -> tuple[Stat, Stat]:
    """Pearson's r of a length with the judge's score, and with judge minus human."""
    known = [(pair, words) for pair, words in rows if words is not None]
    lengths, clusters = [words for _, words in known], [pair.cluster for pair, _ in known]
    sides = [pair.judge for pair, _ in known], [pair.judge - pair.human for pair, _ in known]
    score, difference = (pearson(lengths, side, clusters=clusters, resampling=DEFAULT) for side in sides)
    return score, difference


def summary_pairs(table: LabelTable, human: Floats, judge: Floats) -> tuple[list[SummaryPair], list[SummaryInfo]]:
    """Coverage of each summary by people and a judge (worth per item, NaN: none), and what is known of it."""
    both = np.isfinite(human) & np.isfinite(judge)
    of, n = table.summary_of[both], len(table.summaries)
    counts = np.bincount(of, minlength=n)
    sums = [np.bincount(of, weights=side[both], minlength=n) for side in (human, judge)]
    clusters = np.zeros(n, dtype=np.int64)
    clusters[table.summary_of] = table.clusters
    kept = np.flatnonzero(counts)
    infos = [table.summaries[place] for place in kept.tolist()]
    people, model = ((side[kept] / counts[kept]).tolist() for side in sums)
    columns = (infos, people, model, counts[kept].tolist(), clusters[kept].tolist())
    pairs = [
        SummaryPair(info.summarizer, first, other, n_insights, cluster, info.words_per_bullet)
        for info, first, other, n_insights, cluster in zip(*columns, strict=True)
    ]
    return pairs, infos


def human_worth(table: LabelTable, reference: str = MEAN) -> Floats:
    """Value of each item by people's labels, shape (n,), NaN where nobody of the reference labelled it."""
    humans, _, _ = reference_columns(table, reference)
    worths = [table.worth_of(human.codes) for human in humans]
    return mean_of_defined(np.stack(worths, axis=1)) if worths else np.full(len(table.codes), np.nan)


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """Coverage of summaries by people and by one judge, which has a place among all."""

    judge: str
    colour: int
    pairs: tuple[SummaryPair, ...]


def pairs_of(table: LabelTable, judge: int, reference: str) -> JudgedPairs:
    pairs, _infos = summary_pairs(table, human_worth(table, reference), table.worth_of_judge(judge))
    return JudgedPairs(table.judges[judge].name, judge, tuple(pairs))


def as_json(report: BiasReport) -> list[dict[str, Any]]:
    """One object per judge: rows by summarizer, three averages, correlations with length."""
    return [_row_json(row, report.reference, report.n_reference) for row in report.rows]


def _row_json(row: JudgeBias, reference: str, n_reference: int) -> dict[str, Any]:
    bias = row.bias
    return {
        "judge": row.judge,
        "reference": reference,
        "score": row.score.value,
        "reference_items": n_reference,
        "n_summaries": row.n_summaries,
        "summarizers": [
            {
                "summarizer": name,
                "n": stat.n_items,
                "delta": stat.value,
                "low": stat.low,
                "high": stat.high,
                "reason": stat.reason,
            }
            for name, stat in sorted(bias.by_summarizer.items())
        ],
        "own_family": {"family": row.family, "n": row.own.n_items, **stat_json({"difference": row.own})},
        "overall": stat_json(
            {
                "over_summarizers": bias.over_summarizers,
                "over_summaries": bias.over_summaries,
                "over_insights": bias.over_insights,
            }
        ),
        "length": {
            "bullets": stat_json({"score": bias.length_and_score, "difference": bias.length_and_difference}),
            **{
                name: stat_json({"score": score, "difference": difference})
                for name, (score, difference) in row.by_length.items()
            },
        },
    }


def consistency(labels: QuerySet[CoverageLabel], table: LabelTable) -> tuple[Consistency, ...]:
    """Agreement of each judge with itself over repeats, for those that were asked more than once. One query."""
    names = {judge.key: judge.name for judge in table.judges}
    with shared_draws():
        return tuple(
            Consistency(
                names[key],
                len(ratings.raters),
                percent_agreement(ratings, resampling=DEFAULT),
                randolph_kappa(ratings, resampling=DEFAULT),
            )
            for key, ratings in _repeated(labels, table).items()
        )


def _repeated(labels: QuerySet[CoverageLabel], table: LabelTable) -> dict[str, Ratings]:
    """Each judge's answers to the same question asked several times: {judge key: repeats as raters}. One query."""
    labelled = labels.order_by().values("summary").distinct()
    again = Verdict.objects.filter(summary__in=labelled, repeat__gt=0, is_valid=True).order_by("repeat")
    rows = again.values_list("judge__uid", "summary", "insight", "repeat", "coverage")
    items = {
        (table.summaries[of].pk, int(insight)): index
        for index, (of, insight) in enumerate(zip(table.summary_of, table.insights, strict=True))
    }
    columns = {judge.key: table.n_people + place for place, judge in enumerate(table.judges)}
    answers: dict[str, dict[int, dict[str, str | None]]] = {}
    for uid, summary, insight, repeat, coverage in rows:
        key, index = str(uid), items.get((summary, insight))
        if key not in columns or index is None:
            continue
        first = table.codes[index, columns[key]]
        repeats = answers.setdefault(key, {}).setdefault(index, {"0": COVERAGES[first] if first >= 0 else None})
        repeats[str(repeat)] = coverage
    return {
        key: Ratings.from_rows(
            repeats.values(), categories=COVERAGES, clusters=[int(table.clusters[index]) for index in repeats]
        )
        for key, repeats in answers.items()
    }


CURRENCY = "USD"
"""What judges are priced in."""
METHOD = "active time on the labelled summaries, at the hourly rate"


def with_paid_time(report: JudgeReport, labels: QuerySet[CoverageLabel], table: LabelTable) -> JudgeReport:
    """The report with what the people's labels cost in their row."""
    if report.ceiling is None:
        return report
    return replace(report, ceiling=replace(report.ceiling, cost=paid_time(labels, table)))


def paid_time(labels: QuerySet[CoverageLabel], table: LabelTable) -> Stat:
    """The cost of the labels of a table in US dollars; `n_items` counts tasks with time on them. One query.

    What each person earns in a study is rounded by itself, as on the page of the study.
    Undefined where somebody's time is not known, as with labels made elsewhere, or paid in another currency.
    """
    of_studies = LabelTask.objects.filter(study__in=labels.order_by().values("study"), active_ms__gt=0)
    rows = of_studies.order_by().values_list(
        "annotator__uid", "item__summary", "study", "study__hourly_rate", "study__currency", "active_ms"
    )
    summaries = {table.summaries[place].pk for place in set(table.summary_of.tolist()) if place >= 0}
    people = {person.key for person in table.people}
    worked: dict[tuple[str, int], int] = {}
    rates: dict[int, tuple[Decimal, str]] = {}
    n_tasks = 0
    for uid, summary, study, rate, currency, active_ms in rows:
        if summary in summaries and str(uid) in people:
            worked[str(uid), study] = worked.get((str(uid), study), 0) + active_ms
            rates[study] = rate, currency
            n_tasks += 1
    if not people or people - {uid for uid, _study in worked}:
        return Stat.undefined("no working time is known of some of these labels", method=METHOD)
    if other := sorted({currency for _rate, currency in rates.values()} - {CURRENCY}):
        return Stat.undefined(f"paid in {', '.join(other)}, and judges in {CURRENCY}", method=METHOD)
    total = sum((pay(ms, rates[study][0]) for (_uid, study), ms in worked.items()), Decimal(0))
    return Stat(float(total), n_items=n_tasks, method=METHOD)


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


def rankings(table: LabelTable, *, reference: str = MEAN) -> tuple[Ranking, ...]:
    """One for each judge, over the summaries that it and people saw."""
    human = human_worth(table, reference)
    with shared_draws():
        return tuple(
            _ranking(judge.name, summary_pairs(table, human, table.worth_of_judge(index))[0], table.n_clusters)
            for index, judge in enumerate(table.judges)
        )


def _ranking(name: str, pairs: Sequence[SummaryPair], n_clusters: int) -> Ranking:
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
    return Ranking(name, rank_stat(figure, sums), means)


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
    table: LabelTable, judged: Mapping[str, Sequence[JudgedSummary]], *, reference: str = MEAN
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
            overall, by_system = correct(rows, is_random=table.is_random)
            by_judge.append(Corrected(judge.name, overall, by_system))
    return tuple(by_judge)


def differences_of(table: LabelTable, human: Floats, judge: Floats) -> dict[int, float]:
    """Judge minus human coverage of each labelled summary, by its pk."""
    both = np.isfinite(human) & np.isfinite(judge)
    of, n = table.summary_of[both], len(table.summaries)
    counts = np.bincount(of, minlength=n)
    sums = np.bincount(of, weights=(judge - human)[both], minlength=n)
    return {table.summaries[at].pk: float(sums[at] / counts[at]) for at in np.flatnonzero(counts)}
