"""Which labels a figure is about: of a study, of a dataset, or all that somebody may see."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db.models import Exists, OuterRef

from annotation.coverage.collect import coverage_table, external_table, external_tasks, labels_of_dataset
from annotation.models import CoverageLabel, ExternalLabel, Study
from annotation.results.judges import MEAN
from annotation.results.reports import ReportRefused, find_study, people_called, refuse_filters
from annotation.results.table import CLUSTERS, SUBTOPICS, Filters, LabelTable
from benchmarks.io.schemas.plain_labels import POINT_TASKS
from benchmarks.scoring.summhay import Score


def add_scope(parser: ArgumentParser) -> None:
    """The arguments that choose labels."""
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
    parser.add_argument("--guideline", type=int, default=None, metavar="VERSION")
    parser.add_argument("--annotator", action="append", default=[], metavar="NAME", help="can be repeated")
    parser.add_argument(
        "--clusters", choices=CLUSTERS, default=SUBTOPICS, help="what intervals resample (default: subtopics)"
    )


def add_reference(parser: ArgumentParser) -> None:
    """The argument that chooses whom judges are compared with."""
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
    """The labels that the arguments choose; `ReportRefused` where there are none."""
    if options["study"]:
        table = table_of_study(find_study(options["study"]), task=options.get("task", ""))
    else:
        table = _table_of_dataset(options["dataset"]) if options["dataset"] else _only_table(options)
    chosen = filtered(table, options)
    if not len(chosen.codes):
        tasks = [name for name in external_tasks(find_study(options["study"])) if name] if options["study"] else []
        of_tasks = f" Name a task with --task: {', '.join(tasks)}." if tasks else ""
        raise ReportRefused(f"There are no labels here; import some, or choose others.{of_tasks}")
    return chosen.clustered(options["clusters"])


def _table_of_dataset(name: str) -> LabelTable:
    return coverage_table(labels_of_dataset(CoverageLabel.objects.all(), name))


def _only_table(options: Mapping[str, Any]) -> LabelTable:
    """The labels of the only study that has any; labels of several are never mixed."""
    of_coverage = Exists(CoverageLabel.objects.filter(study=OuterRef("pk")))
    elsewhere = Exists(ExternalLabel.objects.filter(study=OuterRef("pk")).exclude(task__in=POINT_TASKS))
    studies = list(Study.objects.filter(of_coverage | elsewhere).order_by("name"))
    if not studies:
        raise ReportRefused("There are no labels here; import some, or choose others.")
    if len(studies) > 1:
        names = ", ".join(f"“{study.name}”" for study in studies)
        raise ReportRefused(
            f"Labels of several studies are never mixed; name one with --study: {names}, or take --dataset."
        )
    return table_of_study(studies[0], task=options.get("task", ""))


def filtered(table: LabelTable, options: Mapping[str, Any]) -> LabelTable:
    """Apply the filters, people by name or pseudonym."""
    if len(table.codes) and not table.summaries:
        refuse_filters(options, "labels made elsewhere")
    people = people_called({*options["annotator"]}, table.people)
    return table.filtered(replace(filters_of(options), people=people))


def filters_of(options: Mapping[str, Any]) -> Filters:
    """What the arguments leave out, people apart."""
    return Filters(
        haystack=options["haystack"],
        domain=options["domain"],
        retriever=options["retriever"],
        summarizer=options["summarizer"],
        guideline=options["guideline"],
    )


def judged_table(options: Mapping[str, Any]) -> LabelTable:
    """As `table_of`, for reports on judges."""
    table = table_of(options)
    if not table.judges:
        raise ReportRefused("No judge has judged what was labelled here; run one with manage.py run_judge.")
    return table.scored(options.get("score", Score.LABEL))
