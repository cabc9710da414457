"""`manage.py report extraction`: how many of the points that people named are among the extracted ones."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.results.reports import Report, ReportRefused
from benchmarks.engine.versions import OFFLINE, judges_called
from benchmarks.io.reading.problems import ImportFailed
from benchmarks.models import Judge
from benchmarks.recall.extraction import Compared, NotThere, Recalled, extraction_sheet, named_in, recalled
from benchmarks.scoring.stat import stat_json


def _arguments(parser: ArgumentParser) -> None:
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


def _make(options: Mapping[str, Any]) -> Recalled:
    try:
        named = named_in(options["points"], limit_bytes=settings.UPLOAD_LIMIT_BYTES)
        return recalled(named, dataset=options["dataset"], judge=_judge(options["judge"]))
    except (OSError, ImportFailed, NotThere) as error:
        raise ReportRefused(str(error)) from error


def _as_json(recalled: Recalled) -> dict[str, Any]:
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


REPORT = Report(
    "how many of the points that people named are among the extracted ones",
    _arguments,
    _make,
    as_json=_as_json,
    sheet=extraction_sheet,
)
