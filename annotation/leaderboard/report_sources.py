"""`manage.py report sources`: mean scores on documents with reference summaries by system, method and dataset."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from annotation.agreement.reports import Report, ReportRefused
from annotation.leaderboard.ratings import KINDS
from annotation.leaderboard.source_scores import SOURCE_SCORES, SourceLook, as_json
from annotation.leaderboard.source_sheet import USUAL, SourceView, source_sheet
from annotation.models import Study
from benchmarks.models import Haystack, SourceSample


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--dataset",
        action="append",
        default=[],
        metavar="NAME",
        help="a dataset of sources; repeatable (default: all)",
    )
    parser.add_argument("--sample", metavar="NAME", help="a sample of sources instead")
    parser.add_argument(
        "--measure", default=USUAL, metavar="NAME", help=f"what is compared over datasets (default: {USUAL})"
    )


def _make(options: Mapping[str, Any]) -> SourceView:
    if options["dataset"] and options["sample"]:
        raise ReportRefused("Name datasets or a sample.")
    sample = None
    if options["sample"]:
        sample = SourceSample.objects.filter(name=options["sample"]).first()
        if sample is None:
            raise ReportRefused(f"There is no sample “{options['sample']}”.")
    known = set(Haystack.objects.current().sources().values_list("dataset", flat=True))
    if unknown := sorted(set(options["dataset"]) - known):
        raise ReportRefused(f"There is no dataset of sources “{unknown[0]}”.")
    studies = Study.objects.filter(kind__in=KINDS).order_by("pk").values_list("pk", flat=True)
    look = SourceLook(tuple(sorted(options["dataset"])), None if sample is None else sample.pk, tuple(studies))
    view = SourceView(SOURCE_SCORES.compute(look), options["measure"])
    if view.figures.rows and options["measure"] not in view.scores:
        raise ReportRefused(f"No text has “{options['measure']}”; known: {', '.join(view.scores)}.")
    return view


REPORT = Report(
    "mean scores on sources by system, method and dataset",
    _add_arguments,
    _make,
    as_json=lambda view: as_json(view.figures),
    sheet=source_sheet,
)
