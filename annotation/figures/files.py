"""The files of the agreement page: each table as CSV, all figures as JSON; undefined is empty, with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.figures import biases, judges, people
from annotation.figures.judges import Consistency, JudgeReport
from annotation.figures.page import Figures, View
from annotation.figures.plain import stat_json
from annotation.figures.systems import Corrected, Ranking
from benchmarks.scoring.stat import Stat

STAT_COLUMNS = ("value", "low", "high", "n", "clusters", "method", "reason")
Row = tuple[Any, ...]


def stat_cells(stat: Stat) -> Row:
    """One figure as the cells of `STAT_COLUMNS`."""
    reason = stat.undefined_reason or stat.interval_reason
    return (stat.value, stat.low, stat.high, stat.n_items, stat.n_clusters, stat.method, reason)


def _people(found: Figures) -> Iterator[Row]:
    for name, stat in {
        **found.people.cards,
        "correlation": found.people.correlation,
        "linking": found.people.linking,
    }.items():
        yield ("all", "", name, *stat_cells(stat))
    for pair in found.people.pairs:
        for name in ("percent", "randolph", "cohen", "pearson", "linking"):
            yield (pair.a, pair.b, name, *stat_cells(getattr(pair, name)))
    for person, cards in found.people.without.items():
        for name, stat in cards.items():
            yield (f"without {person}", "", name, *stat_cells(stat))


def _judges(found: Figures) -> Iterator[Row]:
    if found.judges is None:
        return
    ceiling = (found.judges.ceiling,) if found.judges.ceiling else ()
    for row in (*ceiling, *found.judges.rows):
        for name, stat in {**row.stats, "cost": row.cost}.items():
            hits, n = row.hits.get(name, ("", ""))
            yield (row.name, found.judges.reference, name, hits, n, *stat_cells(stat))


def _confusion(found: Figures) -> Iterator[Row]:
    for row in found.judges.rows if found.judges else ():
        for human, counts in row.confusion.items():
            for judge, count in counts.items():
                yield (row.name, human, judge, count)


def _differences(found: Figures) -> Iterator[Row]:
    for difference in found.judges.differences if found.judges else ():
        for name, stat in difference.stats.items():
            yield (difference.first, difference.second, name, *stat_cells(stat))


def _bias(found: Figures) -> Iterator[Row]:
    for row in found.bias.rows if found.bias else ():
        bias = row.bias
        figures: dict[str, Stat] = {f"summarizer {name}": stat for name, stat in bias.by_summarizer.items()}
        figures |= {
            "over summarizers": bias.over_summarizers,
            "over summaries": bias.over_summaries,
            "over insights": bias.over_insights,
            "words per bullet and score": bias.length_and_score,
            "words per bullet and difference": bias.length_and_difference,
            "words per line and score": row.lines_and_score,
            "words per line and difference": row.lines_and_difference,
        }
        for name, stat in figures.items():
            yield (row.judge, name, *stat_cells(stat))


def _systems(found: Figures) -> Iterator[Row]:
    for ranking in found.rankings:
        for system, (human, judge, n) in ranking.means.items():
            yield (ranking.judge, system, human, judge, n)


TABLES: Mapping[str, tuple[tuple[str, ...], Callable[[Figures], Iterator[Row]]]] = {
    "people.csv": (("a", "b", "figure", *STAT_COLUMNS), _people),
    "judges.csv": (("judge", "reference", "figure", "hits", "of", *STAT_COLUMNS), _judges),
    "confusion.csv": (("judge", "human_label", "judge_label", "count"), _confusion),
    "differences.csv": (("first", "second", "figure", *STAT_COLUMNS), _differences),
    "bias.csv": (("judge", "figure", *STAT_COLUMNS), _bias),
    "systems.csv": (("judge", "summarizer", "human_coverage", "judge_coverage", "summaries"), _systems),
}
"""File name: columns and rows."""


def everything(found: Figures, view: View) -> dict[str, Any]:
    """All figures as plain values, with the data version and how one looked."""
    result: dict[str, Any] = {
        "data_version": found.version,
        "filters": asdict(view.filters),
        "reference": view.reference,
        "clusters": view.clusters,
        "score": view.score.value,
        "people": people.as_json(found.people),
        "judges": [],
        "bias": [],
    }
    if found.judges is not None and found.bias is not None:
        compared = judges_json(found.judges, found.consistency, found.rankings, found.corrected)
        result |= {**compared, "people": result["people"], "ceiling": compared["people"]}
        result["bias"] = biases.as_json(found.bias)
    return result


def judges_json(
    report: JudgeReport,
    consistency: Sequence[Consistency],
    rankings: Sequence[Ranking],
    corrected: Sequence[Corrected],
) -> dict[str, Any]:
    """Judges beside people: each judge, people among themselves, and what follows from both."""
    people_row = None
    if report.ceiling is not None:
        people_row = judges.row_json(report.ceiling, reference="people")
        if report.highest is not None:
            people_row["highest_correlation"] = stat_json({"pearson": report.highest})
    return {
        "judges": judges.as_json(report),
        "people": people_row,
        "differences": [
            {"first": one.first, "second": one.second, **stat_json(one.stats)} for one in report.differences
        ],
        "consistency": [
            {
                "judge": one.judge,
                "repeats": one.n_repeats,
                **stat_json({"percent": one.percent, "randolph": one.randolph}),
            }
            for one in consistency
        ],
        "ranking": [{"judge": one.judge, **stat_json({"tau_b": one.tau}), "means": one.means} for one in rankings],
        "corrected": [
            {
                "judge": one.judge,
                "n_labelled": one.n_labelled,
                **stat_json({"raw": one.raw, "corrected": one.corrected}),
            }
            for one in corrected
        ],
    }
