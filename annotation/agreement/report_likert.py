"""`manage.py report likert`: ratings from 1 to 5 by people and by judges on the same summaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.agreement.reports import Report, ReportRefused, aligned, number, with_interval
from annotation.agreement.scope import find_study
from annotation.models import Study
from annotation.rating.results import as_json, results_of
from benchmarks.scoring.likert import CORRELATIONS, MEASURES

FIGURES = ("alpha", *CORRELATIONS, "quadratic_kappa", "exact_agreement", "difference")


def _arguments(parser: Any) -> None:
    parser.add_argument(
        "--study", default="", metavar="NAME", help="a rating study, by name or id; not needed where only one is"
    )


def _make(options: Mapping[str, Any]) -> Any:
    study = find_study(options["study"]) if options["study"] else _only_study()
    if study.kind != Study.Kind.RATING:
        raise ReportRefused(f"“{study.name}” is no rating study.")
    return {"study": study.name, **as_json(results_of(study, public=True))}


def _only_study() -> Study:
    studies: list[Study] = list(Study.objects.filter(kind=Study.Kind.RATING).order_by("name"))
    if len(studies) == 1:
        return studies[0]
    if not studies:
        raise ReportRefused("There is no rating study here.")
    names = ", ".join(f"“{study.name}”" for study in studies)
    raise ReportRefused(f"Ratings of several studies are never mixed; name one with --study: {names}.")


def _lines(found: dict[str, Any]) -> list[str]:
    head = ["measure", "rater", "n", *(name.replace("_", " ") for name in FIGURES)]
    rows = [head]
    for one in found["measures"]:
        sides = [("people", one["people"]), *((row["judge"], row) for row in one["judges"])]
        for name, row in sides:
            cells = [with_interval(row, figure) if figure in row else "" for figure in FIGURES]
            rows.append([one["measure"], name, str(row["n"]), *cells])
    lines = [f"{found['study']}: {found['n_rated']} of {found['n_summaries']} summaries rated in full"]
    lines += [f"{one['judge']}: {one['n_invalid']} ratings could not be used" for one in found["judges"]]
    lines += aligned(rows)
    for side in found["systems"]:
        head = [f"mean rating by {side['rater']}", "n", *MEASURES]
        body = [[row["system"], str(row["n"]), *(number(row[name]) for name in MEASURES)] for row in side["rows"]]
        lines += ["", *aligned([head, *body])]
        if side["ranking"] is not None:
            lines.append(f"order of systems like people's: Kendall {with_interval(side['ranking'], 'kendall')}")
    return lines


REPORT = Report("ratings from 1 to 5 by people and by judges", _arguments, _make, _lines)
