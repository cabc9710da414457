"""`manage.py report bias`: judge minus human coverage by summarizer, and how it goes with length (Table 4)."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from annotation.agreement.scope import add_reference, add_scope, judged_table
from annotation.coverage.biases import as_json, bias_report
from annotation.results.reports import Report, bounds_of, number, with_interval
from benchmarks.results.writing import aligned

OURS, AUTHORS = "ours", "authors"
LENGTHS = {
    "bullets": "words per bullet",
    "all_lines": "words per line",
    "with_citations": "words per bullet with citations",
    "authors": "words as the authors count",
}


def _arguments(parser: Any) -> None:
    add_scope(parser)
    add_reference(parser)
    parser.add_argument(
        "--rule",
        choices=(OURS, AUTHORS),
        default=OURS,
        help="ours (the default): three averages and four lengths; or what the authors of Table 4 take: the mean "
        "over summarizers, and words of all lines as spaces part them",
    )


def _make(options: Mapping[str, Any]) -> Any:
    rows = as_json(bias_report(judged_table(options), reference=options["reference"]))
    return [_by_authors(row) for row in rows] if options["rule"] == AUTHORS else rows


def _by_authors(row: dict[str, Any]) -> dict[str, Any]:
    """A judge's figures as Table 4 has them."""
    kept = {name: row[name] for name in ("judge", "reference", "n_summaries", "summarizers")}
    intervals = row["overall"]["intervals"]
    average = {"average": row["overall"]["over_summarizers"], "intervals": {}}
    if "over_summarizers" in intervals:
        average["intervals"] = {"average": intervals["over_summarizers"]}
    return {**kept, "rule": AUTHORS, **average, "length": {AUTHORS: row["length"][AUTHORS]}}


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    deltas = [
        {
            mean["summarizer"]: (mean["delta"], number(mean["delta"]) + bounds_of(mean))
            for mean in row["summarizers"]
        }
        for row in rows
    ]
    table = [["summarizer", *(row["judge"] for row in rows)]]
    by_authors = any("rule" in row for row in rows)
    names = sorted({name for of_judge in deltas for name in of_judge})
    if by_authors:
        names.sort(key=lambda name: fmean(of_judge[name][0] for of_judge in deltas if name in of_judge))
    table += [[name, *(of_judge.get(name, (0.0, number(None)))[1] for of_judge in deltas)] for name in names]
    if by_authors:
        averages = {"average": "average"}
    else:
        averages = {
            average: average.replace("_", " ")
            for average in ("over_summarizers", "over_summaries", "over_insights")
        }
    for average, words in averages.items():
        table.append([words, *(with_interval(row if by_authors else row["overall"], average) for row in rows)])
    for kind, words in LENGTHS.items():
        for side in ("score", "difference"):
            if all(kind in row["length"] for row in rows):
                table.append([f"{words} and {side}", *(with_interval(row["length"][kind], side) for row in rows)])
    return aligned(table)


REPORT = Report("judge minus human coverage, by summarizer and by length", _arguments, _make, _lines)
