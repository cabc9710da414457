"""The files of the agreement page: each table as CSV, all figures as JSON; undefined is empty, with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.figures import biases, judges, people
from annotation.figures.judges import Consistency, JudgeReport, JudgeRow
from annotation.figures.page import Figures, Look
from annotation.figures.present import ColumnHead
from annotation.figures.systems import Corrected, Ranking
from benchmarks.scoring.correction import Correction
from benchmarks.scoring.pairs import METHODS
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.web import latex

TITLES = {"all_lines": "words per line", "with_citations": "words per bullet, citations counted,"}
STAT_COLUMNS = ("value", "low", "high", "n", "clusters", "method", "reason")
Row = tuple[Any, ...]


def stat_cells(stat: Stat) -> Row:
    """One figure as the cells of `STAT_COLUMNS`."""
    return (stat.value, stat.low, stat.high, stat.n_items, stat.n_clusters, stat.method, stat.reason)


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
    for row in _people_and_judges(found.judges):
        for name, stat in {**row.stats, "cost": row.cost}.items():
            hits, n = row.hits.get(name, ("", ""))
            yield (row.name, found.judges.reference, name, hits, n, *stat_cells(stat))


def _people_and_judges(report: JudgeReport) -> tuple[JudgeRow, ...]:
    return (*((report.ceiling,) if report.ceiling else ()), *report.rows)


def _wide(found: Figures) -> Iterator[Row]:
    """A row for each judge with all its figures, undefined ones empty."""
    for row in _people_and_judges(found.judges) if found.judges else ():
        cells: list[Any] = [row.name, row.kind, row.n_insights, row.n_invalid, row.cost.value, row.cost.method]
        for name in METHODS:
            stat, (hits, n) = row.stats.get(name), row.hits.get(name, (None, None))
            cells += (None,) * 3 if stat is None else (stat.value, stat.low, stat.high)
            cells += (hits, n) if name.startswith("linking") else ()
        yield tuple(cells)


WIDE_COLUMNS = (
    *("judge", "kind", "insights", "invalid", "cost", "cost_method"),
    *(
        name + end
        for name in METHODS
        for end in ("", "_low", "_high", *(("_hits", "_of") if name.startswith("linking") else ()))
    ),
)


def judges_latex(report: JudgeReport, columns: Sequence[ColumnHead]) -> str:
    """The judge table with the intervals in small print; needs the package booktabs."""
    head = [
        "Judge",
        *(latex.title(one.title + (" %" if one.is_share else "")) for one in columns),
        "$n$",
        "Cost, USD",
    ]
    rows = [
        [
            latex.escaped("people among themselves" if row.kind == "person" else row.name),
            *(_small(row.stats.get(one.name), one.is_share) for one in columns),
            str(row.n_insights),
            "--" if row.cost.value is None else f"{row.cost.value:.2f}",
        ]
        for row in _people_and_judges(report)
    ]
    return latex.tabular(head, rows, n_names=1)


def _small(stat: Stat | None, is_share: bool) -> str:
    if stat is None or stat.value is None:
        return "--"

    def shown(value: float) -> str:
        return f"{100 * value:.1f}" if is_share else f"{value:.3f}"

    if stat.low is None or stat.high is None:
        return shown(stat.value)
    return rf"{shown(stat.value)} {{\scriptsize ({shown(stat.low)}--{shown(stat.high)})}}"


def _confusion(found: Figures) -> Iterator[Row]:
    for row in found.judges.rows if found.judges else ():
        for human, counts in row.confusion.items():
            for judge, count in counts.items():
                yield (row.name, human, judge, count)


def _differences(found: Figures) -> Iterator[Row]:
    for difference in found.judges.all_differences if found.judges else ():
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
        }
        for length, (score, difference) in row.by_length.items():
            figures |= {f"{TITLES[length]} and score": score, f"{TITLES[length]} and difference": difference}
        for name, stat in figures.items():
            yield (row.judge, name, *stat_cells(stat))


def _systems(found: Figures) -> Iterator[Row]:
    for ranking in found.rankings:
        for system, (human, judge, n) in ranking.means.items():
            yield (ranking.judge, system, human, judge, n)


def _corrected(found: Figures) -> Iterator[Row]:
    for one in found.corrected:
        for name, of in {"": one.overall, **one.by_summarizer}.items():
            for figure, stat in (("raw", of.raw), ("corrected", of.corrected)):
                yield (one.judge, name, figure, of.raw.n_items, of.n_labelled, *stat_cells(stat))


TABLES: Mapping[str, tuple[tuple[str, ...], Callable[[Figures], Iterator[Row]]]] = {
    "people.csv": (("a", "b", "figure", *STAT_COLUMNS), _people),
    "judges.csv": (("judge", "reference", "figure", "hits", "of", *STAT_COLUMNS), _judges),
    "judges-wide.csv": (WIDE_COLUMNS, _wide),
    "confusion.csv": (("judge", "human_label", "judge_label", "count"), _confusion),
    "differences.csv": (("first", "second", "figure", *STAT_COLUMNS), _differences),
    "bias.csv": (("judge", "figure", *STAT_COLUMNS), _bias),
    "corrected.csv": (("judge", "summarizer", "figure", "summaries", "labelled", *STAT_COLUMNS), _corrected),
    "systems.csv": (("judge", "summarizer", "human_coverage", "judge_coverage", "summaries"), _systems),
}
"""File name: columns and rows."""


def everything(found: Figures, look: Look) -> dict[str, Any]:
    """All figures as plain values, with how one looked."""
    result: dict[str, Any] = {
        "filters": asdict(look.filters),
        "reference": found.reference,
        "clusters": look.clusters,
        "score": look.score.value,
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
        reference = "majority of the others" if report.is_against_rest else "people"
        people_row = judges.row_json(report.ceiling, reference=reference)
        if report.highest is not None:
            people_row["highest_correlation"] = stat_json({"pearson": report.highest})
    return {
        "judges": judges.as_json(report),
        "people": people_row,
        "differences": [
            {"first": one.first, "second": one.second, **stat_json(one.stats)} for one in report.all_differences
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
                **_correction(one.overall),
                "by_system": {name: _correction(found) for name, found in one.by_summarizer.items()},
                "assumes": ASSUMES,
            }
            for one in corrected
        ],
    }


ASSUMES = "the labelled summaries of each system are a random draw of those that the judge saw"


def _correction(found: Correction) -> dict[str, Any]:
    return {"n_labelled": found.n_labelled, **stat_json({"raw": found.raw, "corrected": found.corrected})}
