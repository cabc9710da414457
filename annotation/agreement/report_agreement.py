"""`manage.py report agreement`: how far people agree, in a study, over all labels, or in a plain file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.agreement.reports import Report, ReportRefused
from annotation.agreement.scope import add_scope, filtered, find_study, people_called, refuse_filters, table_of
from annotation.external.kind import judges_points
from annotation.models import Study
from annotation.results.people import Agreement, agreement, as_json
from annotation.results.sections import people_parts
from annotation.results.table import LabelTable, PlainLabel, plain_table
from annotation.verification.agreement import TaskAgreement, task_agreement, task_json
from annotation.verification.labels import (
    PAPER_THRESHOLD,
    ExternalAnswer,
    PointTable,
    collect,
    external_point_table,
    threshold_of,
)
from annotation.verification.machines import machines
from annotation.verification.sheet import task_section
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import plain_labels
from benchmarks.results.sheet import Note, Sheet
from benchmarks.scoring.retention import Task

ONLY_ON_SITE = ("study", "dataset", "haystack", "domain", "retriever", "summarizer", "guideline", "control")


@dataclass(frozen=True, slots=True)
class PointsReport:
    """One judgment on key points; AutoDS scores keep from `threshold` on."""

    task: TaskAgreement
    scope: str
    threshold: float


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


def _make(options: Mapping[str, Any]) -> Agreement | PointsReport:
    options = {**options, "annotator": [*options["annotator"], *options["annotators"]]}
    if options["labels"]:
        return _of_file(options)
    study = find_study(options["study"]) if options["study"] else None
    if study is not None and _has_points(study, options["task"]):
        table, threshold = collect(study), _threshold(options, study)
        return _of_points(table, options, threshold=threshold, study=study)
    if options["control"]:
        raise ReportRefused("--control is for judgments on key points: name their study with --study.")
    return agreement(table_of(options), public=True)


def _has_points(study: Study, task: str) -> bool:
    return study.kind == Study.Kind.VERIFICATION or (task in set(Task) and judges_points(study))


def _threshold(options: Mapping[str, Any], study: Study) -> float:
    threshold = options["threshold"]
    if threshold is not None and not 0 <= threshold <= 1:
        raise ReportRefused("--threshold is a number from 0 to 1.")
    return threshold_of(study) if threshold is None else threshold


def _of_points(
    table: PointTable,
    options: Mapping[str, Any],
    *,
    threshold: float,
    study: Study | None = None,
) -> PointsReport:
    if options["task"] not in set(Task):
        raise ReportRefused(f"Name a task with --task: {', '.join(Task)}.")
    refuse_filters(options, "judgments on key points")
    task = Task(options["task"])
    if chosen := {*options["annotator"]}:
        table = table.with_people(people_called(chosen, table.people))
    if options["control"]:
        table = table.control()
    if not (table.codes(task) >= 0).any():
        raise ReportRefused("There are no labels here; import some, or choose others.")
    scope = "control group" if options["control"] else "all items"
    beside = machines(study, table, threshold=threshold) if study else ()
    return PointsReport(task_agreement(table.anonymous(), task, beside=beside), scope, threshold)


def _of_file(options: Mapping[str, Any]) -> Agreement | PointsReport:
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
    if labels.categories == plain_labels.POINT_CATEGORIES and options["task"] in set(Task):
        answers = (
            ExternalAnswer(row.annotator, row.task, row.item, row.label, row.cluster) for row in labels.labels
        )
        return _of_points(external_point_table(answers), options, threshold=PAPER_THRESHOLD)
    return agreement(_plain(labels, options))


def _plain(labels: plain_labels.PlainLabels, options: Mapping[str, Any]) -> LabelTable:
    kept = [row for row in labels.labels if row.task == options["task"]]
    if not kept:
        raise ReportRefused(f"No label of task “{options['task']}” is in the file.")
    table = plain_table(
        (PlainLabel(row.annotator, row.item, row.label, row.cluster, row.links) for row in kept),
        categories=labels.categories,
    )
    return filtered(table, options)


def _as_json(report: Agreement | PointsReport) -> Any:
    if isinstance(report, Agreement):
        return as_json(report)
    return task_json(report.task) | {"scope": report.scope, "autods_threshold": report.threshold}


def _sheet(report: Agreement | PointsReport) -> Sheet:
    people = report if isinstance(report, Agreement) else report.task.people
    counts = f"q = {people.q}, {people.n_items} items, {people.n_pairable} with two labels or more"
    parts = people_parts(report) if isinstance(report, Agreement) else (task_section(report.task),)
    return Sheet((Note(counts), *parts))


REPORT = Report("how far people agree among themselves", _arguments, _make, as_json=_as_json, sheet=_sheet)
