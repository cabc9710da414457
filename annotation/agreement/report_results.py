"""`manage.py report results`: all that the page of results of a study shows, of any kind that has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.http import QueryDict

from annotation.kinds import kind_named
from annotation.models import Study
from annotation.results.reports import Report, ReportRefused, find_study
from annotation.results.study_results import StudyResults
from benchmarks.results.sheet import Note, Sheet


class StudyFigures(NamedTuple):
    """The figures of a study, and how its kind shows them."""

    study: Study
    results: StudyResults[Any, Any]
    figures: Any


def _arguments(parser: Any) -> None:
    parser.add_argument("--study", required=True, metavar="NAME", help="a study, by name or id")


def _make(options: Mapping[str, Any]) -> StudyFigures:
    study = find_study(options["study"])
    kind = kind_named(study.kind)
    results: StudyResults[Any, Any] | None = kind.results_of(study)
    if results is None:
        raise ReportRefused(f"“{study.name}” has other reports: its kind is {kind.label}.")
    return StudyFigures(study, results, results.computation.compute(results.public(results.first(study))))


def _as_json(chosen: StudyFigures) -> Any:
    return chosen.results.as_json(chosen.figures)


def _sheet(chosen: StudyFigures) -> Sheet:
    parts = chosen.results.sheet(chosen.study, chosen.figures, QueryDict()).parts
    judged = chosen.results.judged(chosen.study, chosen.results.first(chosen.study), chosen.figures)
    return Sheet((Note(chosen.study.name), *parts), judged)


REPORT = Report(
    "all figures of a study, as its page of results shows them", _arguments, _make, None, _as_json, _sheet
)
