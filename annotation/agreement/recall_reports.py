"""Reports on key points: `manage.py report kpr`, `extraction` and `segments`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from annotation.kinds import kind_named
from annotation.results.reports import Report, find_study
from benchmarks.engine.versions import OFFLINE, judges_called
from benchmarks.io.reading.problems import ImportFailed
from benchmarks.io.schemas.plain_labels import split_categories
from benchmarks.management import named
from benchmarks.models import Judge, Question, System
from benchmarks.recall import figures, people
from benchmarks.recall.extraction import Compared, NotThere, Recalled, extraction_sheet, named_in, recalled
from benchmarks.recall.people import Measured, Verified
from benchmarks.recall.results import RecallFigures, as_json, figures_of
from benchmarks.recall.segments import TOKENS, Closeness, Requests, closeness
from benchmarks.recall.sheet import Beside, sheet
from benchmarks.results.sheet import Measure, Name, Note, Row, Sheet, Table, Unit, values_of
from benchmarks.retrieval.base import RetrievalFailed
from benchmarks.retrieval.servers import Embeddings
from benchmarks.scoring.stat import stat_json
from benchmarks.summarizers.documents import counted_by


def _kpr_arguments(parser: Any) -> None:
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


def _kpr_make(options: Mapping[str, Any]) -> KprReport:
    names = ("dataset", "judge", "system", "category", "domain")
    chosen = {name: options[name] for name in names}
    if chosen["judge"]:
        named.judge_called(chosen["judge"], Judge.objects.all())
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


def _kpr_as_json(report: KprReport) -> dict[str, Any]:
    version = report.verified
    return {
        **as_json(report.figures),
        "validation": [
            {
                "judge": judge,
                "study": row.study,
                "protocol": "verdict shown" if row.is_shown else "blind",
                "n_answered": row.n_answered,
                **stat_json({"accuracy": row.accuracy, "weighted": row.weighted, "people": row.people}),
            }
            for judge, rows in report.measured.items()
            for row in rows
        ],
        "filters": report.filters,
        "verified": version
        and {
            "study": version.version.study,
            "version": version.version.number,
            "n_kept": len(version.key_points),
        },
    }


def _verified(options: Mapping[str, Any]) -> Verified | None:
    if not options["study"]:
        if options["version"] is not None:
            raise CommandError("--version is of a verification study: name it with --study.")
        return None
    study = find_study(options["study"])
    try:
        verified: Verified | None = kind_named(study.kind).verified(study, options["version"])
    except LookupError as problem:
        raise CommandError(str(problem)) from problem
    if verified is None:
        raise CommandError(f"“{study.name}” verifies no key points; name a verification study.")
    return verified


def _check(chosen: Mapping[str, str], systems: Sequence[str]) -> None:
    """A name that nothing has is a mistake, not an empty report."""
    if chosen["dataset"] and not Question.objects.of(dataset=chosen["dataset"]).exists():
        raise CommandError(f"No question was imported as “{chosen['dataset']}”.")
    for name in systems:
        if not System.objects.filter(key=name, responses__isnull=False).exists():
            raise CommandError(f"No system “{name}” has responses.")


def _kpr_sheet(report: KprReport) -> Sheet:
    judges = report.figures.judges
    beside = Beside(measured=report.measured, verified=report.verified)
    laid_out = sheet(report.figures, beside, judge=judges[0] if len(judges) == 1 else "")
    if report.figures.conditions == ():
        text = "No two conditions: all responses were written from the same of the documents."
        return Sheet((*laid_out.parts, Note(text)))
    return laid_out


KPR = Report(
    "recall, precision and F of key points in responses",
    _kpr_arguments,
    _kpr_make,
    as_json=_kpr_as_json,
    sheet=_kpr_sheet,
)


def _extraction_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "points",
        type=Path,
        metavar="FILE",
        help="CSV or JSONL with question and point; system where it is a point of a response; found (yes, no) "
        "where people have looked for it",
    )
    parser.add_argument("--dataset", default="", metavar="NAME", help="questions imported under this name")
    parser.add_argument(
        "--judge",
        default=OFFLINE,
        metavar="NAME",
        help="who extracted the points of responses (default: %(default)s)",
    )


def _extraction_make(options: Mapping[str, Any]) -> Recalled:
    try:
        named = named_in(options["points"], limit_bytes=settings.UPLOAD_LIMIT_BYTES)
        return recalled(named, dataset=options["dataset"], judge=_judge(options["judge"]))
    except (OSError, ImportFailed, NotThere) as error:
        raise CommandError(str(error)) from error


def _extraction_as_json(recalled: Recalled) -> dict[str, Any]:
    return {
        "n_points": len(recalled.points),
        "n_questions": recalled.n_questions,
        "people": {"n_points": recalled.n_labelled, **stat_json(recalled.people)},
        "lexical": {"n_points": len(recalled.points), **stat_json(recalled.lexical)},
        "agreement": stat_json({"accuracy": recalled.agreement}),
        "points": [_row(point) for point in recalled.points],
    }


def _judge(name: str) -> Judge | None:
    named = judges_called(name)
    return named[0] if named else None


def _row(point: Compared) -> dict[str, Any]:
    return {
        "question": point.named.question,
        "system": point.named.system,
        "point": point.named.text,
        "found_by_people": point.named.found,
        "found_by_lexical": point.is_alike,
        "closest": point.closest,
    }


EXTRACTION = Report(
    "how many of the points that people named are among the extracted ones",
    _extraction_arguments,
    _extraction_make,
    as_json=_extraction_as_json,
    sheet=extraction_sheet,
)


def _segments_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dataset", required=True, metavar="NAME", help="questions imported under this name")
    parser.add_argument("--base-url", required=True, metavar="URL", help="the server, one that the settings allow")
    parser.add_argument("--model", required=True, metavar="NAME", help="of embeddings, as the server calls it")
    parser.add_argument(
        "--query-prefix", default="", metavar="TEXT", help="what the model wants before a question"
    )
    parser.add_argument("--document-prefix", default="", metavar="TEXT", help="likewise before a segment")
    parser.add_argument("--max-requests", type=int, metavar="N", help="send at most so many; failed tries count")


def _segments_make(options: Mapping[str, Any]) -> Closeness:
    most = options["max_requests"]
    if most is not None and most < 0:
        raise CommandError("--max-requests is 0 or more.")
    questions = list(named.questions(options["dataset"]).order_by("pk"))
    retriever = Embeddings(
        with_subtopic=False,
        **{name: options[name] for name in ("base_url", "model", "query_prefix", "document_prefix")},
    )
    try:
        return closeness(
            dataset=options["dataset"],
            questions=questions,
            retriever=retriever,
            requests=Requests(most),
            counted_by=counted_by(),
        )
    except RetrievalFailed as failed:
        raise CommandError(str(failed)) from failed


def _segments_as_json(closeness: Closeness) -> dict[str, Any]:
    plain = asdict(closeness)
    del plain["mean"]
    return {**plain, **stat_json({"mean": closeness.mean})}


def _segments_sheet(closeness: Closeness) -> Sheet:
    measures = (
        Measure("mean", "Mean cosine"),
        Measure("deviation", "Standard deviation"),
        Measure("n_questions", "Questions", Unit.COUNT),
        Measure("n_documents", "Documents", Unit.COUNT),
        Measure("n_segments", "Segments", Unit.COUNT),
    )
    values = values_of(measures, closeness)
    table = Table(
        "segments",
        "Questions and the segments of their documents",
        (Name("dataset", "Dataset"), Name("model", "Embeddings")),
        measures,
        (Row((closeness.dataset, closeness.model), values),),
        about=f"Segments of {TOKENS:,} tokens, counted as {closeness.counted_by}; the interval draws questions.",
    )
    return Sheet((table,))


SEGMENTS = Report(
    "how close the documents of questions are to them, by embeddings",
    _segments_arguments,
    _segments_make,
    as_json=_segments_as_json,
    sheet=_segments_sheet,
)
