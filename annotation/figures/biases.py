"""Whether a judge is kinder than people to some summarizers or to long bullets (Table 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.figures.judges import MEAN, reference_columns
from annotation.figures.plain import stat_json
from annotation.figures.table import LabelTable
from benchmarks.scoring.bias import Bias, SummaryPair, bias
from benchmarks.scoring.correlation import pearson
from benchmarks.scoring.intervals import DEFAULT, Floats, Resampling, mean_of_defined, shared_draws
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Score


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """One judge's bias; the correlations with length also over all lines instead of bullets."""

    judge: str
    bias: Bias
    lines_and_score: Stat
    lines_and_difference: Stat
    n_summaries: int
    score: Score = Score.LABEL


@dataclass(frozen=True, slots=True)
class BiasReport:
    """Every judge's bias against one reference."""

    reference: str
    summarizers: tuple[str, ...]
    rows: tuple[JudgeBias, ...]
    n_reference: int


def bias_report(table: LabelTable, *, reference: str = MEAN, resampling: Resampling = DEFAULT) -> BiasReport:
    """Judge minus human coverage per summary, on the insights that both labelled."""
    human = human_worth(table, reference)
    rows = []
    with shared_draws():
        for index, judge in enumerate(table.judges):
            own = _of_judge(table, judge.name, human, table.worth_of_judge(index), resampling)
            rows.append(replace(own, score=table.score_of(index)))
    names = sorted({info.summarizer for info in table.summaries})
    return BiasReport(reference, tuple(names), tuple(rows), int(np.isfinite(human).sum()))


def _of_judge(table: LabelTable, name: str, human: Floats, judge: Floats, resampling: Resampling) -> JudgeBias:
    pairs, per_line = summary_pairs(table, human, judge)
    measured = [(pair, words) for pair, words in zip(pairs, per_line, strict=True) if words is not None]
    lengths = [words for _, words in measured]
    clusters = [pair.cluster for pair, _ in measured]
    by_score = pearson(lengths, [pair.judge for pair, _ in measured], clusters=clusters, resampling=resampling)
    by_difference = pearson(
        lengths, [pair.judge - pair.human for pair, _ in measured], clusters=clusters, resampling=resampling
    )
    return JudgeBias(name, bias(pairs, resampling=resampling), by_score, by_difference, len(pairs))


def summary_pairs(table: LabelTable, human: Floats, judge: Floats) -> tuple[list[SummaryPair], list[float | None]]:
    """Coverage of each summary by people and a judge (worth per item, NaN: none), and its words per line."""
    both = np.isfinite(human) & np.isfinite(judge)
    of, n = table.summary_of[both], len(table.summaries)
    counts = np.bincount(of, minlength=n)
    sums = [np.bincount(of, weights=side[both], minlength=n) for side in (human, judge)]
    clusters = np.zeros(n, dtype=np.int64)
    clusters[table.summary_of] = table.clusters
    kept = np.flatnonzero(counts)
    pairs = [
        SummaryPair(
            summarizer=table.summaries[place].summarizer,
            human=float(sums[0][place] / counts[place]),
            judge=float(sums[1][place] / counts[place]),
            n_insights=int(counts[place]),
            cluster=int(clusters[place]),
            words_per_bullet=table.summaries[place].words_per_bullet,
        )
        for place in kept
    ]
    return pairs, [table.summaries[place].words_per_line for place in kept]


def human_worth(table: LabelTable, reference: str = MEAN) -> Floats:
    """What people say each item is worth, shape (n,), NaN where nobody of the reference labelled it."""
    humans, _, _ = reference_columns(table, reference)
    given = [table.worth_of(human.codes) for human in humans]
    return mean_of_defined(np.stack(given, axis=1)) if given else np.full(len(table.codes), np.nan)


def as_json(report: BiasReport) -> list[dict[str, Any]]:
    """One object per judge: rows by summarizer, three averages, correlations with length."""
    return [_row_json(row, report.reference, report.n_reference) for row in report.rows]


def _row_json(row: JudgeBias, reference: str, n_reference: int) -> dict[str, Any]:
    found = row.bias
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
                "reason": stat.undefined_reason or stat.interval_reason,
            }
            for name, stat in sorted(found.by_summarizer.items())
        ],
        "overall": stat_json(
            {
                "over_summarizers": found.over_summarizers,
                "over_summaries": found.over_summaries,
                "over_insights": found.over_insights,
            }
        ),
        "length": {
            "bullets": stat_json({"score": found.length_and_score, "difference": found.length_and_difference}),
            "all_lines": stat_json({"score": row.lines_and_score, "difference": row.lines_and_difference}),
        },
    }
