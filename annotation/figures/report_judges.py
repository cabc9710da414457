"""`manage.py report judges`: one object for each judge, against people on the same insights (Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.figures.judges import UnknownReference, as_json, judge_report
from annotation.figures.reports import Report, ReportRefused, aligned, number, with_interval
from annotation.figures.scope import add_reference, add_scope, judged_table


def _arguments(parser: Any) -> None:
    add_scope(parser)
    add_reference(parser)


def _make(options: Mapping[str, Any]) -> Any:
    try:
        report = judge_report(judged_table(options), reference=options["reference"], with_differences=False)
    except UnknownReference as unknown:
        raise ReportRefused(str(unknown)) from unknown
    return as_json(report)


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    head = ["judge", "Pearson", "exact", "quadratic κ", "covered κ", "linking", "authors' rule", "strict", "n"]
    table = [head]
    for row in rows:
        linking = [
            f"{row[rule]['hits']}/{row[rule]['n']}" for rule in ("linking", "linking_authors", "linking_strict")
        ]
        table.append(
            [
                row["judge"],
                with_interval(row, "pearson"),
                number(row["exact_agreement"]),
                number(row["quadratic_kappa"]),
                number(row["covered"].get("kappa")),
                *linking,
                str(row["n_insights"]),
            ]
        )
    return aligned(table)


REPORT = Report("judges beside people on the same insights", _arguments, _make, _lines)
