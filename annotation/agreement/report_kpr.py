"""`manage.py report kpr`: key point recall, precision and F of responses, over all or verified key points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.kinds import kind_named
from annotation.results.reports import Report, ReportRefused, find_study
from benchmarks.io.schemas.plain_labels import split_categories
from benchmarks.management import judges as judges_argument
from benchmarks.models import Judge, Question, System
from benchmarks.recall import figures, people
from benchmarks.recall.people import Measured, Verified
from benchmarks.recall.results import RecallFigures, as_json, figures_of
from benchmarks.recall.sheet import Beside, sheet
from benchmarks.results.sheet import Note, Sheet
from benchmarks.scoring.stat import stat_json


def _arguments(parser: Any) -> None:
    parser.add_argument("--dataset", default="", metavar="NAME", help="questions imported under this name")
    parser.add_argument("--judge", default="", metavar="NAME", help="only this judge")
    parser.add_argument("--system", default="", metavar="A,B", help="only responses of these systems")
    parser.add_argument("--category", default="")
    parser.add_argument("--domain", default="")
    parser.add_argument(
        "--study", default="", metavar="NAME", help="only key points that this verification study keeps"
    )
    parser.add_argument(
        "--version",
        type=int,
        default=None,
        metavar="N",
        help="of --study: this version of its dataset, else the newest",
    )
    parser.add_argument(
        "--by",
        choices=("system", "documents"),
        default="",
        help="each system by category, domain, lengths and judge, and how alike judges rank the systems; or each "
        "model by what it was shown of the documents",
    )
    parser.add_argument(
        "--all-questions",
        action="store_true",
        help="of --by: count questions too that some of the systems have not answered",
    )


@dataclass(frozen=True, slots=True)
class KprReport:
    """Figures of key point recall with what they were asked for, and what people found of their judges."""

    figures: RecallFigures
    filters: dict[str, str]
    verified: Verified | None
    measured: dict[str, list[Measured]]


def _make(options: Mapping[str, Any]) -> KprReport:
    names = ("dataset", "judge", "system", "category", "domain")
    chosen = {name: options[name] for name in names}
    if chosen["judge"]:
        judges_argument.chosen(chosen["judge"], Judge.objects.all())
    systems = split_categories(chosen["system"])
    _check(chosen, systems)
    verified = _verified(options)
    table = figures.table(
        figures.ResponseFilter(
            **{name: chosen[name] for name in ("dataset", "category", "domain")},
            systems=systems,
            key_points=tuple(verified.key_points) if verified else None,
            questions=tuple(verified.questions) if verified else None,
        ),
        judge=chosen["judge"],
    )
    recall_figures = figures_of(
        table,
        only_common=not options["all_questions"],
        has_systems=options["by"] == "system",
        has_conditions=options["by"] == "documents",
    )
    measured = {
        str(judge): people.measured(None, judge) for judge in Judge.objects.all() if str(judge) in table.judges
    }
    return KprReport(recall_figures, {name: value for name, value in chosen.items() if value}, verified, measured)


def _as_json(report: KprReport) -> dict[str, Any]:
    version = report.verified
    return {
        **as_json(report.figures),
        "validation": [_measured(judge, measured) for judge, rows in report.measured.items() for measured in rows],
        "filters": report.filters,
        "verified": version
        and {
            "study": version.version.study,
            "version": version.version.number,
            "n_kept": len(version.key_points),
        },
    }


def _measured(judge: str, measured: Measured) -> dict[str, Any]:
    """What a validation study found of a judge."""
    return {
        "judge": judge,
        "study": measured.study,
        "protocol": "verdict shown" if measured.is_shown else "blind",
        "n_answered": measured.n_answered,
        **stat_json({"accuracy": measured.accuracy, "weighted": measured.weighted, "people": measured.people}),
    }


def _verified(options: Mapping[str, Any]) -> Verified | None:
    if not options["study"]:
        if options["version"] is not None:
            raise ReportRefused("--version is of a verification study: name it with --study.")
        return None
    study = find_study(options["study"])
    try:
        verified: Verified | None = kind_named(study.kind).verified(study, options["version"])
    except LookupError as problem:
        raise ReportRefused(str(problem)) from problem
    if verified is None:
        raise ReportRefused(f"“{study.name}” verifies no key points; name a verification study.")
    return verified


def _check(chosen: Mapping[str, str], systems: Sequence[str]) -> None:
    """A name that nothing has is a mistake, not an empty report."""
    if chosen["dataset"] and not Question.objects.of(dataset=chosen["dataset"]).exists():
        raise ReportRefused(f"No question was imported as “{chosen['dataset']}”.")
    for name in systems:
        if not System.objects.filter(key=name, responses__isnull=False).exists():
            raise ReportRefused(f"No system “{name}” has responses.")


def _sheet(report: KprReport) -> Sheet:
    judges = report.figures.judges
    beside = Beside(measured=report.measured, verified=report.verified)
    laid_out = sheet(report.figures, beside, judge=judges[0] if len(judges) == 1 else "")
    if report.figures.conditions == ():
        text = "No two conditions: all responses were written from the same of the documents."
        return Sheet((*laid_out.parts, Note(text)))
    return laid_out


REPORT = Report(
    "recall, precision and F of key points in responses", _arguments, _make, as_json=_as_json, sheet=_sheet
)
