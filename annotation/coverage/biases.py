"""Whether a judge is kinder than people to some summarizers or to long bullets (Table 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.results.judges import MEAN, reference_columns
from annotation.results.table import LabelTable, SummaryInfo
from benchmarks.scoring.bias import Bias, SummaryPair, bias
from benchmarks.scoring.correlation import pearson
from benchmarks.scoring.draws import DEFAULT, shared_draws
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.scoring.summhay import Score
from benchmarks.scoring.sums import Floats, mean_of_defined

LENGTHS: Mapping[str, Callable[[SummaryInfo], float | None]] = {
    "all_lines": lambda info: info.words_per_line,
    "with_citations": lambda info: info.words_with_citations,
    "authors": lambda info: info.words_by_spaces,
}
"""Other lengths than words per bullet; the last is the rule of the authors' code for Table 4."""


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """One judge's bias; `by_length` has r of score and of judge minus human with each of the other lengths."""

    judge: str
    bias: Bias
    by_length: Mapping[str, tuple[Stat, Stat]]
    n_summaries: int
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
    rows = []
    with shared_draws():
        for index, judge in enumerate(table.judges):
            bias_row = _of_judge(table, judge.name, human, table.worth_of_judge(index))
            rows.append(replace(bias_row, score=table.score_of(index)))
    names = sorted({info.summarizer for info in table.summaries})
    return BiasReport(reference, tuple(names), tuple(rows), int(np.isfinite(human).sum()))


def _of_judge(table: LabelTable, name: str, human: Floats, judge: Floats) -> JudgeBias:
    pairs, infos = summary_pairs(table, human, judge)
    by_length = {
        name: _with_length([(pair, words(info)) for pair, info in zip(pairs, infos, strict=True)])
        for name, words in LENGTHS.items()
    }
    return JudgeBias(name, bias(pairs, resampling=DEFAULT), by_length, len(pairs))


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
    """What people say each item is worth, shape (n,), NaN where nobody of the reference labelled it."""
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
    """Coverage of each summary by people and by one judge."""
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
