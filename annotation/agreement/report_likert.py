"""`manage.py report likert`: ratings from 1 to 5 by people and by judges on the same summaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from annotation.agreement.reports import Report, ReportRefused
from annotation.agreement.scope import find_study
from annotation.models import Study
from annotation.rating.results import Results, as_json, results_of
from annotation.rating.sheet import sheet
from benchmarks.results.sheet import Note, Sheet


class StudyRatings(NamedTuple):
    """The ratings of a study, and what it is called."""

    study: str
    results: Results


def _arguments(parser: Any) -> None:
    parser.add_argument(
        "--study", default="", metavar="NAME", help="a rating study, by name or id; not needed where only one is"
    )


def _make(options: Mapping[str, Any]) -> StudyRatings:
    study = find_study(options["study"]) if options["study"] else _only_study()
    if study.kind != Study.Kind.RATING:
        raise ReportRefused(f"“{study.name}” is no rating study.")
    return StudyRatings(study.name, results_of(study, public=True))


def _only_study() -> Study:
    studies: list[Study] = list(Study.objects.filter(kind=Study.Kind.RATING).order_by("name"))
    if len(studies) == 1:
        return studies[0]
    if not studies:
        raise ReportRefused("There is no rating study here.")
    names = ", ".join(f"“{study.name}”" for study in studies)
    raise ReportRefused(f"Ratings of several studies are never mixed; name one with --study: {names}.")


def _as_json(ratings: StudyRatings) -> dict[str, Any]:
    return {"study": ratings.study, **as_json(ratings.results)}


def _sheet(ratings: StudyRatings) -> Sheet:
    return Sheet((Note(ratings.study), *sheet(ratings.results).parts))


REPORT = Report("ratings from 1 to 5 by people and by judges", _arguments, _make, as_json=_as_json, sheet=_sheet)
