"""Plain labels made elsewhere, in and out: a study of kind external with its categories in their order.

An item that names a summary and an insight of this site becomes a coverage label, so that judges stand beside it;
any other is an item of its own. The tasks grounded and key_point are the two judgments on key points: an external
study may hold both, with known categories, and figures leave task 2 out after a no (what was stored stays).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from annotation.importing.label_studies import LABELS, PERMISSION, LabelPlan, address_of_figures
from annotation.importing.opened import Opened
from annotation.kinds import StudyFile
from annotation.models import CoverageLabel, ExternalLabel, Study
from annotation.studies.rows import PERSON, Columns, csv_file, objects, rows_of
from benchmarks.io.formats import Format, Option
from benchmarks.io.plan import Answer, ImportRequest
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas import plain_labels
from benchmarks.io.schemas.plain_labels import Label, PlainLabels
from benchmarks.io.schemas.topics import TopicVerdict
from benchmarks.models import Insight, Summary
from benchmarks.scoring.summhay import COVERAGES
from benchmarks.system_names import PREFIX

CHUNK = 500
Place = tuple[Summary, Insight]
"""A summary and one of its insights."""


COLUMNS: Columns = {
    "annotator": PERSON,
    "item": "item",
    "label": "label",
    "cluster": "cluster",
    "task": "task",
    "links": (lambda links: ";".join(map(str, links)), "links"),
}


def _label_rows(study: Study) -> Iterator[tuple[Any, ...]]:
    return rows_of(study, study.external_labels.order_by("pk"), COLUMNS)


def files_of(study: Study, now: datetime) -> list[StudyFile]:
    """The labels, links as “2;3”."""
    return [csv_file("labels.csv", "Labels", COLUMNS, partial(_label_rows, study))]


def told_of(study: Study) -> Iterator[Mapping[str, Any]]:
    """The same labels by the names of their columns."""
    return objects(COLUMNS, _label_rows(study))


class PlainLabelsPlan(LabelPlan[PlainLabels]):
    """Labels compared with those that the study holds."""

    MODELS = (*LabelPlan.MODELS, CoverageLabel, ExternalLabel)
    TOLD = ("annotator", "task", "item", "label")

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.task = request.options.get("task", "")
        self.external: dict[tuple[str, str, str], Answer] = {}
        self.coverage: dict[tuple[str, int, int], Answer] = {}

    @classmethod
    def read(cls, archive: Opened) -> tuple[PlainLabels, Iterable[Mapping[str, Any]]]:
        """Labels made elsewhere, or those of a study of another kind that cannot come back as one of its own."""
        study = archive.manifest.study
        name, categories = LABELS, list[str]()
        if study.kind == Study.Kind.EXTERNAL:
            name, categories = "labels.csv", study.categories
        with (
            archive.stream(name) as stream,
            plain_labels.opened(stream, archive.problems, name=name) as rows,
        ):
            labels = plain_labels.read(rows, categories=categories, problems=archive.problems)
        return labels, [{name: getattr(row, name) for name in cls.TOLD} for row in labels.labels]

    def take(self, rows: PlainLabels) -> None:
        """Compare the labels of one file."""
        is_first = self.study is None
        study = self.find_study(
            self.request.options.get("study", ""), kind=Study.Kind.EXTERNAL, categories=rows.categories
        )
        if is_first and not self.is_new:
            self._load_labels(study)
        places = _places(rows, task=self.task, problems=self.problems)
        kind = "coverage_labels" if places else "labels"
        self.kinds = tuple(dict.fromkeys((*self.kinds, kind)))
        for row in rows.labels:
            if places:
                self._plan_coverage(row, *places[row.item])
            else:
                self._plan_external(row)

    def _load_labels(self, study: Study) -> None:
        rows = ExternalLabel.objects.filter(study=study, annotator__user=None).values_list(
            "annotator__label", "task", "item", "label", "cluster", "links"
        )
        for who, task, item, label, cluster, links in rows.iterator():
            self.external[who, task, item] = (label, (cluster, *links))
        current = study.coveragelabels.filter(is_current=True, annotator__user=None)
        for who, summary, insight, coverage, lines in current.values_list(
            "annotator__label", "summary", "insight", "coverage", "lines"
        ):
            self.coverage[who, summary, insight] = (coverage, tuple(lines))

    def _plan_external(self, row: Label) -> None:
        task = self.task or row.task
        place, answer = (row.annotator, task, row.item), (row.label, (row.cluster, *row.links))
        if self._is_new(self.external, place, answer, row, "labels"):
            made = ExternalLabel(
                study=self.study,
                annotator=self.annotator(row.annotator),
                task=task,
                item=row.item,
                label=row.label,
                cluster=row.cluster,
                links=list(row.links),
                imported_at=self.now,
            )
            self.create(made, "labels")

    def _plan_coverage(self, row: Label, summary: Summary, insight: Insight) -> None:
        lines = self._lines(row, summary)
        place = (row.annotator, summary.pk, insight.pk)
        if self._is_new(self.coverage, place, (row.label, lines), row, "coverage_labels"):
            raw = {"item": row.item, "links": list(row.links)}
            incoming = TopicVerdict(insight.key, row.label, lines)
            made = self.coverage_label(row.annotator, summary, insight, incoming, raw=raw)
            self.create(made, "coverage_labels")

    def _is_new(self, known: dict[Any, Answer], place: Any, answer: Answer, row: Label, kind: str) -> bool:
        return self.is_new_answer(
            known,
            place,
            answer,
            kind=kind,
            where=row.where,
            name="label",
            worded=lambda said: f"“{said[0]}” with its links and cluster",
        )

    def _lines(self, row: Label, summary: Summary) -> tuple[int, ...]:
        n_lines = len(summary.lines)
        lines = sorted(link for link in row.links if isinstance(link, int) and 1 <= link <= n_lines)
        if len(lines) != len(row.links):
            expected, got = f"lines 1 to {n_lines} of the summary", Got(", ".join(map(str, row.links)))
            self.problems.error("unknown_line", row.where, "links", expected=expected, got=got)
        return tuple(lines)


def _places(rows: PlainLabels, *, task: str, problems: Problems) -> dict[str, Place]:
    """Where each item is, if all of them are summaries and insights of this site; else nothing."""
    if task or not set(rows.categories) <= set(COVERAGES) or any(label.task for label in rows.labels):
        return {}
    items = dict.fromkeys(label.item for label in rows.labels)
    named = {item: split for item in items if (split := _split(item)) is not None}
    summaries = _summaries({summary for summary, _ in named.values()})
    subtopics = {summary.subtopic_id for summary in summaries.values()}
    insights: dict[tuple[int, str], Insight] = {}
    for row in Insight.objects.filter(subtopic__in=subtopics):
        insights[row.subtopic_id, row.key] = insights[row.subtopic_id, str(row.uid)] = row
    places: dict[str, Place] = {}
    for item, (name, key) in named.items():
        summary = summaries.get(name)
        insight = insights.get((summary.subtopic_id, key)) if summary is not None else None
        if summary is not None and insight is not None:
            places[item] = (summary, insight)
    if named and len(places) < len(items):
        missing = next(item for item in items if item not in places)
        problems.warning(
            "unknown_items",
            "",
            "item",
            expected="SUMMARY/INSIGHT or SUBTOPIC/SYSTEM/INSIGHT of this site",
            got=missing,
            message="All items of this file are kept under their own names, and no judge stands beside them.",
            count=len(items) - len(places),
        )
        return {}
    return places


def _split(item: str) -> tuple[str, str] | None:
    """`SUMMARY/INSIGHT`, the summary an id of this site or `SUBTOPIC/SYSTEM`; keys of systems may hold a slash.

    SYSTEM is the published key of a summary, with or without its prefix.
    """
    summary, slash, insight = item.rpartition("/")
    return (summary.strip(), insight.strip()) if slash and summary.strip() and insight.strip() else None


def _summaries(names: Iterable[str]) -> dict[str, Summary]:
    by_uid: dict[str, UUID] = {}
    by_key: dict[str, tuple[str, str]] = {}
    for name in names:
        try:
            by_uid[name] = UUID(name)
        except ValueError:
            subtopic, slash, system = name.partition("/")
            if slash:
                by_key[name] = (subtopic, system.removeprefix(PREFIX))
    summaries: dict[str, Summary] = {}
    uids = list(by_uid.values())
    rows = [
        row
        for start in range(0, len(uids), CHUNK)
        for row in Summary.objects.filter(uid__in=uids[start : start + CHUNK])
    ]
    with_uid = {row.uid: row for row in rows}
    summaries |= {name: with_uid[uid] for name, uid in by_uid.items() if uid in with_uid}
    keys = sorted({subtopic for subtopic, _ in by_key.values()})
    for start in range(0, len(keys), CHUNK):
        chunk = Summary.objects.filter(subtopic__key__in=keys[start : start + CHUNK]).counted()
        with_key = {(row.subtopic.key, row.system.key): row for row in chunk.select_related("subtopic", "system")}
        summaries |= {name: with_key[key] for name, key in by_key.items() if key in with_key}
    return summaries


def _parse(file: File, problems: Problems, options: Mapping[str, str]) -> PlainLabels:
    categories = plain_labels.split_categories(options.get("categories", ""))
    with plain_labels.opened(file.path, problems, name=file.name, **file.limits) as rows:
        return plain_labels.read(rows, categories=categories, task=options.get("task", ""), problems=problems)


PLAIN_LABELS = Format(
    name="labels",
    title="Plain labels",
    description=(
        "CSV or JSONL with annotator, item and label on each row, and where there are, links, cluster and task: "
        "labels made elsewhere, or exported from here. They become a study of their own on the agreement pages."
    ),
    extensions=(".csv", ".tsv", ".jsonl"),
    example=plain_labels.EXAMPLE,
    parse=_parse,
    plan=PlainLabelsPlan,
    kinds=("labels", "coverage_labels"),
    address=address_of_figures,
    options=(
        Option("study", "Name of the study", "Created if there is none with this name.", is_required=True),
        Option(
            "categories",
            "Categories",
            "All labels that the task allows, in their order, as a,b,c; by default those of the file.",
            max_length=2000,
        ),
        Option(
            "task",
            _("Task"),
            (
                "A name for one of several tasks on the same items; grounded and key_point are the two judgments "
                "on key points, whose categories are known."
            ),
            max_length=plain_labels.LENGTHS["task"],
        ),
    ),
    permission=PERMISSION,
)
