"""`manage.py report validation`: the judge behind key point recall against people on a sample of its verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.agreement.reports import Report, ReportRefused, aligned, number, with_interval
from annotation.agreement.scope import find_study
from annotation.models import Study
from annotation.validation.results import as_json, results_of


def _arguments(parser: Any) -> None:
    parser.add_argument("--study", required=True, metavar="NAME", help="a validation study, by name or id")


def _make(options: Mapping[str, Any]) -> Any:
    study = find_study(options["study"])
    if study.kind != Study.Kind.VALIDATION:
        raise ReportRefused(f"“{study.name}” is no validation study.")
    return as_json(results_of(study, public=True))


def _lines(found: dict[str, Any]) -> list[str]:
    head = ["against", "accuracy", "three answers", "Cohen κ", "Randolph κ"]
    rows = [{"annotator": "mean", **found["mean"]}, *found["people"]]
    table = [
        [
            row["annotator"],
            with_interval(row, "accuracy"),
            *(number(row.get(name)) for name in ("accuracy_three", "cohen", "randolph")),
        ]
        for row in rows
    ]
    ceiling = found["ceiling"]
    return [
        f"{found['judge']} ({found['protocol']}): {found['n_answered']} of {found['n_sampled']} verdicts answered",
        *aligned([head, *table]),
        f"weighted to all verdicts: {with_interval(found['weighted'], 'accuracy')}",
        f"people among themselves: {with_interval(ceiling, 'percent')}, Randolph κ {number(ceiling['randolph'])}",
    ]


REPORT = Report("the judge of key point recall against people", _arguments, _make, _lines)
