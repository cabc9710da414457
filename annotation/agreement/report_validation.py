"""`manage.py report validation`: the judge behind key point recall against people on a sample of its verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.agreement.reports import Report, ReportRefused
from annotation.agreement.scope import find_study
from annotation.models import Study
from annotation.validation.results import as_json, results_of
from annotation.validation.sheet import sheet


def _arguments(parser: Any) -> None:
    parser.add_argument("--study", required=True, metavar="NAME", help="a validation study, by name or id")


def _make(options: Mapping[str, Any]) -> Any:
    study = find_study(options["study"])
    if study.kind != Study.Kind.VALIDATION:
        raise ReportRefused(f"“{study.name}” is no validation study.")
    return results_of(study, public=True)


REPORT = Report("the judge of key point recall against people", _arguments, _make, as_json=as_json, sheet=sheet)
