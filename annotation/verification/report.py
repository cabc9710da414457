"""What `manage.py report agreement` prints of judgments on key points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.models import Study
from annotation.results.reports import ReportRefused, people_called, refuse_filters
from annotation.results.sections import counts_of
from annotation.verification.agreement import TaskAgreement, task_agreement, task_json
from annotation.verification.labels import (
    PAPER_THRESHOLD,
    ExternalAnswer,
    PointTable,
    collect,
    external_point_table,
    judges_points,
    threshold_of,
)
from annotation.verification.machines import machines
from annotation.verification.sheet import task_section
from benchmarks.io.schemas.plain_labels import POINT_CATEGORIES, PlainLabels
from benchmarks.results.sheet import Sheet
from benchmarks.scoring.retention import Task


@dataclass(frozen=True, slots=True)
class PointsReport:
    """One judgment on key points; AutoDS scores keep from `threshold` on."""

    task: TaskAgreement
    scope: str
    threshold: float

    def as_json(self) -> dict[str, Any]:
        """All figures as plain values."""
        return task_json(self.task) | {"scope": self.scope, "autods_threshold": self.threshold}

    def sheet(self) -> Sheet:
        """All figures laid out."""
        return Sheet((counts_of(self.task.people), task_section(self.task)))


def agreement_of(study: Study, options: Mapping[str, Any]) -> PointsReport | None:
    """That of a verification study, or of judgments made elsewhere if their task is named."""
    if study.kind != Study.Kind.VERIFICATION and not (options["task"] in set(Task) and judges_points(study)):
        return None
    threshold = options["threshold"]
    if threshold is not None and not 0 <= threshold <= 1:
        raise ReportRefused("--threshold is a number from 0 to 1.")
    threshold = threshold_of(study) if threshold is None else threshold
    return _report(collect(study), options, threshold=threshold, study=study)


def agreement_in(labels: PlainLabels, options: Mapping[str, Any]) -> PointsReport | None:
    """That of labels in a file, if they have the categories of a task that is named."""
    if labels.categories != POINT_CATEGORIES or options["task"] not in set(Task):
        return None
    rows = (ExternalAnswer(row.annotator, row.task, row.item, row.label, row.cluster) for row in labels.labels)
    return _report(external_point_table(rows), options, threshold=PAPER_THRESHOLD)


def _report(
    table: PointTable, options: Mapping[str, Any], *, threshold: float, study: Study | None = None
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
