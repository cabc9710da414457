"""`manage.py report agreement`: how far people agree, in a study, over all labels, or in a plain file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.agreement.reports import Report, ReportRefused, number, with_interval
from annotation.agreement.scope import add_scope, find_study, table_of
from annotation.figures.people import agreement, as_json
from annotation.figures.table import LabelTable, PlainLabel, plain_table
from annotation.models import Study
from annotation.verification.agreement import task_agreement, task_json
from annotation.verification.labels import (
    ExternalAnswer,
    PointTable,
    collect,
    external_point_table,
    has_point_labels,
)
from annotation.verification.machines import FIGURES, PAPER_THRESHOLD, machines, threshold_of
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import plain_labels
from benchmarks.scoring.retention import Task


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
    if options["labels"]:
        return _of_file(options)
    study = find_study(options["study"]) if options["study"] else None
    if study is not None and _has_points(study, options["task"]):
        table, threshold = collect(study), _threshold(options, study)
        return _of_points(table, options, threshold=threshold, public=True, study=study)
    if options["control"]:
        raise ReportRefused("--control is for judgments on key points: name their study with --study.")
    chosen = {**options, "annotator": [*options["annotator"], *options["annotators"]]}
    return as_json(agreement(table_of(chosen), public=True))


def _has_points(study: Study, task: str) -> bool:
    return study.kind == Study.Kind.VERIFICATION or (task in set(Task) and has_point_labels(study))


def _threshold(options: Mapping[str, Any], study: Study) -> float:
    asked = options["threshold"]
    if asked is not None and not 0 <= asked <= 1:
        raise ReportRefused("--threshold is a number from 0 to 1.")
    return threshold_of(study) if asked is None else asked


def _of_points(
    table: PointTable,
    options: Mapping[str, Any],
    *,
    threshold: float,
    public: bool,
    study: Study | None = None,
) -> Any:
    if options["task"] not in set(Task):
        raise ReportRefused(f"Name a task with --task: {', '.join(Task)}.")
    task = Task(options["task"])
    if chosen := {*options["annotator"], *options["annotators"]}:
        known = {name: one.key for one in table.people for name in (one.name, one.pseudonym)}
        if missing := sorted(chosen - set(known)):
            names = ", ".join(one.pseudonym if public else one.name for one in table.people)
            raise ReportRefused(f"Nobody called {', '.join(missing)} labelled here; there are: {names}.")
        table = table.with_people(known[name] for name in chosen)
    if options["control"]:
        table = table.control()
    if not (table.codes(task) >= 0).any():
        raise ReportRefused("There are no labels here; import some, or choose others.")
    scope = "control group" if options["control"] else "all items"
    asked = machines(study, table, threshold=threshold) if study else ()
    found = task_json(task_agreement(table, task, machines=asked, public=public))
    return found | {"scope": scope, "autods_threshold": threshold}


def _of_file(options: Mapping[str, Any]) -> Any:
    problems = Problems()
    try:
        with plain_labels.opened(options["labels"], problems, limit_bytes=settings.UPLOAD_LIMIT_BYTES) as rows:
            found = plain_labels.read(rows, categories=options["categories"], problems=problems)
    except ImportFailed as failure:
        sentences = "\n".join(str(problem) for problem in failure.problems.errors)
        raise ReportRefused(sentences) from failure
    if found.categories == plain_labels.POINT_CATEGORIES and options["task"] in set(Task):
        answers = (
            ExternalAnswer(row.annotator, row.task, row.item, row.label, row.cluster) for row in found.labels
        )
        return _of_points(external_point_table(answers), options, threshold=PAPER_THRESHOLD, public=False)
    return as_json(agreement(_plain(found, options), public=False))


def _plain(found: plain_labels.PlainLabels, options: Mapping[str, Any]) -> LabelTable:
    kept = [row for row in found.labels if row.task == options["task"]]
    if not kept:
        raise ReportRefused(f"No label of task “{options['task']}” is in the file.")
    return plain_table(
        (PlainLabel(row.annotator, row.item, row.label, row.cluster, row.links) for row in kept),
        categories=found.categories,
    )


def _lines(values: dict[str, Any]) -> list[str]:
    names = ("percent", "randolph", "fleiss", "ac1", "alpha_nominal", "alpha_ordinal", "correlation", "linking")
    lines = [f"{name:<15}{with_interval(values, name)}" for name in names]
    lines += [f"{name:<15}{values['reasons'][name]}" for name in names if values[name] is None]
    lines.append(f"q = {values['q']}, {values['n_items']} items, {values['n_pairable']} with two labels or more")
    for pair in values["pairs"]:
        figures = (
            f"{name} {number(pair[name])}" for name in ("percent", "randolph", "cohen", "pearson", "linking")
        )
        lines.append(f"{pair['a']} – {pair['b']}: n = {pair['n']}, {', '.join(figures)}")
    for row in values.get("machines", ()):
        figures = (f"{name} {with_interval(row, name)}" for name in FIGURES)
        lines.append(f"{row['name']}: n = {row['n']}, {', '.join(figures)}")
    return lines


REPORT = Report("how far people agree among themselves", _arguments, _make, _lines)
