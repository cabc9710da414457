"""Reports on labels, `manage.py report agreement` and `results`, and which labels any report is about."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db.models import Exists, OuterRef
from django.http import QueryDict

from annotation.coverage.collect import coverage_table, external_table, external_tasks, labels_of_dataset
from annotation.kinds import kind_named, kinds
from annotation.models import CoverageLabel, ExternalLabel, Study
from annotation.results.judges import MEAN
from annotation.results.people import Agreement, agreement, as_json
from annotation.results.reports import OF_SUMMARIES, Report, find_study, people_called, refuse_filters
from annotation.results.sections import counts_of, people_parts
from annotation.results.study_results import StudyResults
from annotation.results.table import CLUSTERS, SUBTOPICS, Filters, LabelTable, PlainLabel, plain_table
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import plain_labels
from benchmarks.io.schemas.plain_labels import POINT_TASKS
from benchmarks.results.sheet import Note, Sheet
from benchmarks.scoring.summhay import Score


def add_scope(parser: ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--dataset", default="", metavar="NAME", help="labels on the haystacks of this dataset")
    where.add_argument(
        "--study",
        default="",
        metavar="NAME",
        help="labels of this study, by name or id; not needed where only one has labels",
    )
    parser.add_argument("--haystack", default="", metavar="TITLE")
    parser.add_argument("--domain", default="")
    parser.add_argument("--retriever", default="")
    parser.add_argument("--summarizer", default="")
    parser.add_argument("--guideline", type=int, metavar="VERSION")
    parser.add_argument("--annotator", action="append", default=[], metavar="NAME", help="can be repeated")
    parser.add_argument(
        "--clusters", choices=CLUSTERS, default=SUBTOPICS, help="what intervals resample (default: subtopics)"
    )


def add_reference(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--reference",
        default=MEAN,
        help="mean (over annotators, the default), majority, adjudicated, or the name of one annotator",
    )
    parser.add_argument(
        "--score",
        choices=[score.value for score in Score],
        default=Score.LABEL.value,
        help="judges by their labels (the default) or by the coverage they expect, where they say",
    )


def table_of_study(study: Study, *, task: str = "") -> LabelTable:
    """A study's labels beside the judges, or the labels made elsewhere that it holds."""
    if study.kind == Study.Kind.EXTERNAL and study.external_labels.exists():
        return external_table(study, task=task)
    return coverage_table(CoverageLabel.objects.filter(study=study), study=study)


def table_of(options: Mapping[str, Any]) -> LabelTable:
    """The labels that the arguments choose; `CommandError` where there are none."""
    if options["study"]:
        table = table_of_study(find_study(options["study"]), task=options.get("task", ""))
    elif options["dataset"]:
        table = coverage_table(labels_of_dataset(CoverageLabel.objects.all(), options["dataset"]))
    else:
        of_coverage = Exists(CoverageLabel.objects.filter(study=OuterRef("pk")))
        elsewhere = Exists(ExternalLabel.objects.filter(study=OuterRef("pk")).exclude(task__in=POINT_TASKS))
        studies = list(Study.objects.filter(of_coverage | elsewhere).order_by("name"))
        if not studies:
            raise CommandError("There are no labels here; import some, or choose others.")
        if len(studies) > 1:
            names = ", ".join(f"“{study.name}”" for study in studies)
            raise CommandError(
                f"Labels of several studies are never mixed; name one with --study: {names}, or take --dataset."
            )
        table = table_of_study(studies[0], task=options.get("task", ""))
    chosen = filtered(table, options)
    if not len(chosen.codes):
        tasks = [name for name in external_tasks(find_study(options["study"])) if name] if options["study"] else []
        of_tasks = f" Name a task with --task: {', '.join(tasks)}." if tasks else ""
        raise CommandError(f"There are no labels here; import some, or choose others.{of_tasks}")
    return chosen.clustered(options["clusters"])


def filtered(table: LabelTable, options: Mapping[str, Any]) -> LabelTable:
    """Apply the filters, people by name or pseudonym."""
    if len(table.codes) and not table.summaries:
        refuse_filters(options, "labels made elsewhere")
    people = people_called({*options["annotator"]}, table.people)
    return table.filtered(replace(filters_of(options), people=people))


def filters_of(options: Mapping[str, Any]) -> Filters:
    return Filters(**{name: options[name] for name in OF_SUMMARIES})


def judged_table(options: Mapping[str, Any]) -> LabelTable:
    table = table_of(options)
    if not table.judges:
        raise CommandError("No judge has judged what was labelled here; run one with manage.py run_judge.")
    return table.scored(options.get("score", Score.LABEL))


def _agreement_arguments(parser: Any) -> None:
    add_scope(parser)
    parser.add_argument(
        "--labels",
        type=Path,
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
        "--threshold", type=float, metavar="X", help="of key points: AutoDS scores from here on keep"
    )
    parser.add_argument("--control", action="store_true", help="of key points: the control group only")


ONLY_ON_SITE = ("study", "dataset", "haystack", "domain", "retriever", "summarizer", "guideline", "control")


def _agreement_make(options: Mapping[str, Any]) -> Any:
    options = {**options, "annotator": [*options["annotator"], *options["annotators"]]}
    if options["labels"]:
        if of_site := [f"--{name}" for name in ONLY_ON_SITE if options[name]]:
            raise CommandError(f"--labels reads the file alone: leave out {', '.join(of_site)}.")
        problems = Problems()
        try:
            with plain_labels.opened(options["labels"], problems, limit_bytes=settings.UPLOAD_LIMIT_BYTES) as rows:
                labels = plain_labels.read(rows, categories=options["categories"], problems=problems)
        except ImportFailed as failure:
            sentences = "\n".join(str(problem) for problem in failure.problems.errors)
            raise CommandError(sentences) from failure
        for warning in problems.warnings:
            (options.get("stderr") or sys.stderr).write(f"warning: {warning['example']}\n")
        reports = (kind.agreement_in(labels, options) for kind in kinds())
        report = next((report for report in reports if report is not None), None)
        return OfLabels(agreement(_plain(labels, options))) if report is None else report
    study = find_study(options["study"]) if options["study"] else None
    if study is not None and (report := kind_named(study.kind).agreement_of(study, options)) is not None:
        return report
    if options["control"]:
        raise CommandError("--control is for judgments on key points: name their study with --study.")
    return OfLabels(agreement(table_of(options).anonymous()))


@dataclass(frozen=True, slots=True)
class OfLabels:
    """Figures of labels that no kind has figures of its own for."""

    people: Agreement

    def as_json(self) -> dict[str, Any]:
        return as_json(self.people)

    def sheet(self) -> Sheet:
        return Sheet((counts_of(self.people), *people_parts(self.people)))


def _plain(labels: plain_labels.PlainLabels, options: Mapping[str, Any]) -> LabelTable:
    kept = [row for row in labels.labels if row.task == options["task"]]
    if not kept:
        raise CommandError(f"No label of task “{options['task']}” is in the file.")
    table = plain_table(
        (PlainLabel(row.annotator, row.item, row.label, row.cluster, row.links) for row in kept),
        categories=labels.categories,
    )
    return filtered(table, options)


AGREEMENT = Report(
    "how far people agree among themselves",
    _agreement_arguments,
    _agreement_make,
    as_json=lambda report: report.as_json(),
    sheet=lambda report: report.sheet(),
)


def _results_arguments(parser: Any) -> None:
    parser.add_argument("--study", required=True, metavar="NAME", help="a study, by name or id")


def _results_make(options: Mapping[str, Any]) -> tuple[Study, StudyResults[Any, Any], Any]:
    study = find_study(options["study"])
    kind = kind_named(study.kind)
    results: StudyResults[Any, Any] | None = kind.results_of(study)
    if results is None:
        raise CommandError(f"“{study.name}” has other reports: its kind is {kind.label}.")
    return study, results, results.computation.compute(results.public(results.first(study)))


def _sheet(study: Study, results: StudyResults[Any, Any], figures: Any) -> Sheet:
    parts = results.sheet(study, figures, QueryDict()).parts
    return Sheet((Note(study.name), *parts), results.judged(study, results.first(study), figures))


RESULTS = Report(
    "all figures of a study, as its page of results shows them",
    _results_arguments,
    _results_make,
    as_json=lambda made: made[1].as_json(made[2]),
    sheet=lambda made: _sheet(*made),
)
