"""`manage.py report judges`: one object for each judge, against people on the same insights (Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotation.agreement.scope import add_reference, add_scope, filters_of, judged_table
from annotation.coverage.files import judges_json
from annotation.coverage.repeats import consistency
from annotation.coverage.systems import corrected, judged_summaries, rankings
from annotation.models import CoverageLabel
from annotation.results.judges import as_json, judge_report
from annotation.results.reports import Report, bounds_of, number, with_interval
from benchmarks.results.writing import aligned


def _arguments(parser: Any) -> None:
    add_scope(parser)
    add_reference(parser)
    parser.add_argument(
        "--full",
        action="store_true",
        help="with --json: an object of judges, people, differences, ranking, corrected and consistency",
    )
    parser.add_argument(
        "--random-labels",
        action="store_true",
        help="declare the labelled summaries of each system a random draw, which corrected scores need",
    )


def _make(options: Mapping[str, Any]) -> Any:
    table, reference = judged_table(options), options["reference"]
    table = replace(table, is_random=table.is_random or options["random_labels"])
    report = judge_report(table, reference=reference, with_differences=options["full"])
    if not options["full"]:
        return as_json(report)
    labels = CoverageLabel.objects.filter(summary__in=[info.pk for info in table.summaries])
    judged = judged_summaries(table, filters_of(options)) if table.summaries else {}
    return judges_json(
        report,
        consistency(labels, table) if table.summaries else (),
        rankings(table, reference=reference) if table.summaries else (),
        corrected(table, judged, reference=reference) if table.summaries else (),
    )


def _lines(values: Any) -> list[str]:
    rows: list[dict[str, Any]] = values["judges"] if isinstance(values, dict) else values
    head = ["judge", "Pearson", "exact", "quadratic κ", "covered κ", "linking", "authors' rule", "strict", "n"]
    table = [head]
    for row in rows:
        linking = [
            f"{row[rule]['hits']}/{row[rule]['n']}{bounds_of(row['intervals'].get(rule))}"
            for rule in ("linking", "linking_authors", "linking_strict")
        ]
        table.append(
            [
                row["judge"],
                with_interval(row, "pearson"),
                with_interval(row, "exact_agreement"),
                with_interval(row, "quadratic_kappa"),
                number(row["covered"].get("kappa")) + bounds_of(row["intervals"].get("covered.kappa")),
                *linking,
                str(row["n_insights"]),
            ]
        )
    fitted = [row["judge"] for row in rows if row["fitted_here"]]
    caution = [f"Fitted on labels of these haystacks, so too good here: {', '.join(fitted)}."] if fitted else []
    return [*aligned(table), *caution]


REPORT = Report("judges beside people on the same insights", _arguments, _make, _lines)
