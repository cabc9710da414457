"""`manage.py report bias`: judge minus human coverage by summarizer, and how it goes with length (Table 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.agreement.reports import Report, number
from annotation.agreement.scope import add_reference, add_scope, judged_table
from annotation.figures.biases import as_json, bias_report
from benchmarks.results.writing import aligned


def _arguments(parser: Any) -> None:
    add_scope(parser)
    add_reference(parser)


def _make(options: Mapping[str, Any]) -> Any:
    return as_json(bias_report(judged_table(options), reference=options["reference"]))


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    deltas = [{one["summarizer"]: one["delta"] for one in row["summarizers"]} for row in rows]
    table = [["summarizer", *(row["judge"] for row in rows)]]
    names = sorted({name for of_judge in deltas for name in of_judge})
    table += [[name, *(number(of_judge.get(name)) for of_judge in deltas)] for name in names]
    table += [
        [average.replace("_", " "), *(number(row["overall"][average]) for row in rows)]
        for average in ("over_summarizers", "over_summaries", "over_insights")
    ]
    for kind in ("bullets", "all_lines"):
        for side in ("score", "difference"):
            label = f"words per {'bullet' if kind == 'bullets' else 'line'} and {side}"
            table.append([label, *(number(row["length"][kind][side]) for row in rows)])
    return aligned(table)


REPORT = Report("judge minus human coverage, by summarizer and by length", _arguments, _make, _lines)
