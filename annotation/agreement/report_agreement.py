"""`manage.py report agreement`: how far people agree, in a study, over all labels, or in a plain file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.agreement.scope import add_scope, filtered, table_of
from annotation.kinds import kind_named, kinds
from annotation.results.people import Agreement, agreement, as_json
from annotation.results.reports import Report, ReportRefused, find_study
from annotation.results.sections import counts_of, people_parts
from annotation.results.table import LabelTable, PlainLabel, plain_table
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import plain_labels
from benchmarks.results.sheet import Sheet

ONLY_ON_SITE = ("study", "dataset", "haystack", "domain", "retriever", "summarizer", "guideline", "control")


def _arguments(parser: Any) -> None:
    add_scope(parser)
    parser.add_argument(
        "--labels",
        type=Path,
        default=None,
        metavar="FILE",
        help="a CSV or JSONL of labels instead of the database",
    )
    parser.add_argument(
        "--categories",
        type=plain_labels.split_categories,
        default=(),
        metavar="A,B,C",
        help="of --labels: all labels the task allows, in their order",
    )
    parser.add_argument(
        "--task",
        default="",
        help="of key points: grounded, key_point or keep; of other labels made elsewhere: the name of the task",
    )
    parser.add_argument(
        "--annotators",
        type=plain_labels.split_categories,
        default=(),
        metavar="A,B",
        help="only these, by name or as in exports",
    )
    parser.add_argument(
        "--threshold", type=float, default=None, metavar="X", help="of key points: AutoDS scores from here on keep"
    )
    parser.add_argument("--control", action="store_true", help="of key points: the control group only")


def _make(options: Mapping[str, Any]) -> Any:
    options = {**options, "annotator": [*options["annotator"], *options["annotators"]]}
    if options["labels"]:
        return _of_file(options)
    study = find_study(options["study"]) if options["study"] else None
    if study is not None and (report := kind_named(study.kind).agreement_of(study, options)) is not None:
        return report
    if options["control"]:
        raise ReportRefused("--control is for judgments on key points: name their study with --study.")
    return OfLabels(agreement(table_of(options), public=True))


@dataclass(frozen=True, slots=True)
class OfLabels:
    """Agreement on labels of any kind."""

    people: Agreement

    def as_json(self) -> dict[str, Any]:
        """All figures as plain values."""
        return as_json(self.people)

    def sheet(self) -> Sheet:
        """All figures laid out."""
        return Sheet((counts_of(self.people), *people_parts(self.people)))


def _of_file(options: Mapping[str, Any]) -> Any:
    if of_site := [f"--{name}" for name in ONLY_ON_SITE if options[name]]:
        raise ReportRefused(f"--labels reads the file alone: leave out {', '.join(of_site)}.")
    problems = Problems()
    try:
        with plain_labels.opened(options["labels"], problems, limit_bytes=settings.UPLOAD_LIMIT_BYTES) as rows:
            labels = plain_labels.read(rows, categories=options["categories"], problems=problems)
    except ImportFailed as failure:
        sentences = "\n".join(str(problem) for problem in failure.problems.errors)
        raise ReportRefused(sentences) from failure
    for warning in problems.warnings:
        (options.get("stderr") or sys.stderr).write(f"warning: {warning.example}\n")
    reports = (kind.agreement_in(labels, options) for kind in kinds())
    report = next((report for report in reports if report is not None), None)
    return OfLabels(agreement(_plain(labels, options))) if report is None else report


def _plain(labels: plain_labels.PlainLabels, options: Mapping[str, Any]) -> LabelTable:
    kept = [row for row in labels.labels if row.task == options["task"]]
    if not kept:
        raise ReportRefused(f"No label of task “{options['task']}” is in the file.")
    table = plain_table(
        (PlainLabel(row.annotator, row.item, row.label, row.cluster, row.links) for row in kept),
        categories=labels.categories,
    )
    return filtered(table, options)


REPORT = Report(
    "how far people agree among themselves",
    _arguments,
    _make,
    as_json=lambda report: report.as_json(),
    sheet=lambda report: report.sheet(),
)
