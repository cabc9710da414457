"""`manage.py report licence`: may a judge stand in for people, for absolute scores and for ranking systems?"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from annotation.agreement.scope import add_reference, add_scope, judged_table
from annotation.coverage.look import Look
from annotation.licences.computing import LicenceLook, Licences, as_json, licences_on
from annotation.licences.sheet import sheet
from annotation.results.reports import Report, ReportRefused
from benchmarks.scoring.licence import STANDARD, Thresholds
from benchmarks.scoring.replaceability import EPSILON


def _arguments(parser: ArgumentParser) -> None:
    add_scope(parser)
    add_reference(parser)
    parser.add_argument("--judge", default="", metavar="NAME", help="only this judge")
    for name, help_text in (
        ("bias", "points that it may be from people on average"),
        ("spread", "points that its bias may vary between systems"),
        ("concordance", "percent of the gaps between systems that it must order as people do"),
    ):
        usual = 100 * getattr(STANDARD, name)
        parser.add_argument(f"--{name}", type=float, default=usual, help=f"{help_text} (default: {usual:g})")
    parser.add_argument(
        "--epsilon", type=float, default=EPSILON, help=f"of the alternative annotator test (default: {EPSILON})"
    )


def _make(options: Mapping[str, Any]) -> Licences:
    if not 0 <= options["epsilon"] < 1:
        raise ReportRefused("--epsilon is a number from 0 up to, but not, 1.")
    if not (0 < options["bias"] <= 100 and 0 < options["spread"] <= 100 and 0 < options["concordance"] <= 100):
        raise ReportRefused("--bias, --spread and --concordance are above 0 and at most 100.")
    table = judged_table(options).anonymous()
    limits = Thresholds(options["bias"] / 100, options["spread"] / 100, options["concordance"] / 100)
    look = LicenceLook(Look(reference=options["reference"], score=table.score), limits, options["epsilon"])
    licences = licences_on(table, look)
    if not options["judge"]:
        return licences
    if options["judge"] not in {row.name for row in licences.rows}:
        known = ", ".join(row.name for row in licences.rows) or "none"
        raise ReportRefused(f"There is no judge “{options['judge']}” here; there are: {known}.")
    return licences.only(options["judge"])


REPORT = Report("may a judge stand in for people", _arguments, _make, sheet=sheet, as_json=as_json)
