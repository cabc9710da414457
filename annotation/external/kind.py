"""Study kind: labels made elsewhere. They are imported and compared, nobody works in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import Any
from uuid import UUID

from annotation.approvals import pages as approvals
from annotation.coverage.results import RESULTS
from annotation.importing.label_studies import LABELS, PERMISSION, LabelPlan, address_of_figures
from annotation.importing.opened import Opened
from annotation.kinds import SUMMARIES, StudyFile, StudyKind, kinds, register, results_tab
from annotation.labelling.archive import BY, VERDICTS, verdict_file
from annotation.models import CoverageLabel, ExternalLabel, ExternalVerdict, Study
from annotation.studies.rows import PERSON, Columns, csv_file, objects, rows_of
from benchmarks.engine.versions import judges_called, name_and_version
from benchmarks.io import mapping, published
from benchmarks.io.formats import Format, Option
from benchmarks.io.plan import Answer, ImportRequest
from benchmarks.io.reading import tables
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.reading.tables import Numbered
from benchmarks.io.schemas import plain_labels
from benchmarks.io.schemas.plain_labels import Label, PlainLabels
from benchmarks.io.schemas.topics import TopicVerdict
from benchmarks.models import Insight, Judge, Summary, Verdict
from benchmarks.models.querysets import counted_judges
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
    """The labels, links as “2;3”, and what judges said of the items, if any did."""
    said = ExternalVerdict.objects.filter(counted_judges("judge__"), study=study)
    columns: Columns = {**BY, "task": "task", "item": "item", "label": "label"}
    verdicts = [verdict_file(study, columns, said)] if said.exists() else []
    return [csv_file("labels.csv", "Labels", COLUMNS, partial(_label_rows, study)), *verdicts]


def told_of(study: Study) -> Iterator[Mapping[str, Any]]:
    """The same labels by the names of their columns."""
    return objects(COLUMNS, _label_rows(study))


def _verdict_rows(archive: Opened) -> Iterator[Numbered]:
    """What judges said, as rows of labels; older archives, and studies without judges, have no such file."""
    if VERDICTS in archive.members:
        with (
            archive.stream(VERDICTS) as stream,
            tables.opened(stream, archive.problems, required=("judge", "item", "label"), name=VERDICTS) as rows,
        ):
            for where, row in rows:
                yield f"{VERDICTS}, {where}", {**row, "annotator": row.get("judge"), "is_judge": "true"}


class PlainLabelsPlan(LabelPlan[PlainLabels]):
    """Labels compared with those that the study holds."""

    MODELS = (*LabelPlan.MODELS, Judge, CoverageLabel, ExternalLabel, Verdict, ExternalVerdict)
    TOLD = ("annotator", "task", "item", "label")

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.task = request.options.get("task", "")
        self.external: dict[tuple[str, str, str], Answer] = {}
        self.coverage: dict[tuple[str, int, int], Answer] = {}
        self.judges: dict[str, Judge] = {}
        self.said: dict[str, dict[Any, Any]] = {}
        """What judges say in the files so far, by what they are called."""

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
            told = chain(rows, _verdict_rows(archive) if name == "labels.csv" else ())
            labels = plain_labels.read(told, categories=categories, problems=archive.problems)
        return labels, [{name: getattr(row, name) for name in cls.TOLD} for row in labels.labels]

    def take(self, rows: PlainLabels) -> None:
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
                self._take_coverage(row, *places[row.item])
            else:
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
        if rows.verdicts:
            self.kinds = tuple(dict.fromkeys((*self.kinds, "verdicts")))
        for name in dict.fromkeys(row.annotator for row in rows.verdicts):
            self._take_verdicts(name, [row for row in rows.verdicts if row.annotator == name], places)

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

    def _take_coverage(self, row: Label, summary: Summary, insight: Insight) -> None:
        lines = self._lines(row, summary)
        place = (row.annotator, summary.pk, insight.pk)
        if self._is_new(self.coverage, place, (row.label, lines), row, "coverage_labels"):
            raw = {"item": row.item, "links": list(row.links)}
            incoming = TopicVerdict(insight.key, row.label, lines)
            made = self.coverage_label(row.annotator, summary, insight, incoming, raw=raw)
            self.create(made, "coverage_labels")

    def _take_verdicts(self, called: str, rows: Sequence[Label], places: Mapping[str, Place]) -> None:
        """Verdicts of a judge so called, or of one of this name, that says nothing else, or of a new version."""
        incoming: dict[Any, Any] = {}
        for row in rows:
            if places:
                summary, insight = places[row.item]
                incoming[summary.pk, insight.pk] = (row.label, self._lines(row, summary))
            else:
                incoming[self.task or row.task, row.item] = row.label
        free = [judge for judge in judges_called(called) if judge not in self.judges.values()]
        versions = [self.judges[called]] if called in self.judges else free
        known: dict[int, Any] = defaultdict(dict)
        if places:
            known |= published.answers_of(versions, [places[row.item][0].haystack for row in rows])
        elif not self.is_new:
            verdicts = ExternalVerdict.objects.filter(study=self.study, judge__in=[row.pk for row in versions])
            for judge_pk, task, item, label in verdicts.values_list("judge", "task", "item", "label"):
                known[judge_pk][task, item] = label
        if called in self.judges:
            known[self.judges[called].pk] |= self.said[called]
        name, version = name_and_version(called)
        judges = (*Judge.objects.filter(name=name), *self.new(Judge))
        numbers = {judge.version for judge in judges if judge.name == name}
        if not known:  # it is the version that is called so, unless that works here
            exact = [judge for judge in versions if str(judge) == called and judge.kind == Judge.Kind.IMPORTED]
            versions = exact or (versions if version in numbers else [])
        number = max(numbers) + 1 if version in numbers else version
        new = published.new_judge(name, config={"source": "labels"}, version=number, now=self.now)
        same = published.version_said_by(versions, incoming, lambda judge: known.get(judge.pk, {}), new=new)
        judge = self.judges[called] = same or self.create(new)
        stored = known.get(judge.pk, {}) if same else {}
        self.said[called] = {**stored, **incoming}
        for row, (place, answer) in zip(rows, incoming.items(), strict=True):
            if place in stored:
                self.unchanged["verdicts"] += 1
            elif places:
                verdict = TopicVerdict(places[row.item][1].key, *answer)
                self.create(published.new_verdict(judge, *places[row.item], verdict, now=self.now), "verdicts")
            else:
                about = {"task": place[0], "item": place[1], "label": answer, "imported_at": self.now}
                self.create(ExternalVerdict(study=self.study, judge=judge, **about), "verdicts")

    def _is_new(self, known: dict[Any, Answer], place: Any, answer: Answer, row: Label, kind: str) -> bool:
        def worded(said: Answer) -> str:
            return f"“{said[0]}” with its links and cluster"

        return self.is_new_answer(known, place, answer, kind=kind, where=row.where, name="label", worded=worded)

    def _lines(self, row: Label, summary: Summary) -> tuple[int, ...]:
        n_lines = len(summary.lines)
        lines = sorted(link for link in row.links if isinstance(link, int) and 1 <= link <= n_lines)
        if len(lines) != len(row.links):
            expected, got = f"lines 1 to {n_lines} of the summary", Got(", ".join(map(str, row.links)))
            self.problems.error("unknown_line", row.where, "links", expected=expected, got=got)
        return tuple(lines)


def _places(rows: PlainLabels, *, task: str, problems: Problems) -> dict[str, Place]:
    """Where each item is, if all of them are summaries and insights of this site; else nothing."""
    labels = (*rows.labels, *rows.verdicts)
    if task or not set(rows.categories) <= set(COVERAGES) or any(label.task for label in labels):
        return {}
    items = dict.fromkeys(label.item for label in labels)
    split = {item: [part.strip() for part in item.rpartition("/")] for item in items}
    named = {item: (summary, insight) for item, (summary, _slash, insight) in split.items() if summary and insight}
    summaries = _summaries({summary for summary, _insight in named.values()})
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
            message="All items of this file are kept under their own names, without verdicts from this site.",
            count=len(items) - len(places),
        )
        return {}
    return places


def _summaries(names: Iterable[str]) -> dict[str, Summary]:
    """Summaries by an id of this site or by SUBTOPIC/SYSTEM, a published key with or without its prefix."""
    by_uid: dict[UUID, list[str]] = defaultdict(list)
    by_key: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in names:
        try:
            by_uid[UUID(name)].append(name)
        except ValueError:
            subtopic, slash, system = name.partition("/")
            if slash:
                by_key[subtopic, system.removeprefix(PREFIX)].append(name)
    summaries: dict[str, Summary] = {}
    for uids in _batched(by_uid):
        for row in Summary.objects.filter(uid__in=uids):
            summaries |= dict.fromkeys(by_uid[row.uid], row)
    for keys in _batched(sorted({subtopic for subtopic, _system in by_key})):
        rows = Summary.objects.filter(subtopic__key__in=keys).counted().select_related("subtopic", "system")
        for row in rows:
            summaries |= dict.fromkeys(by_key.get((row.subtopic.key, row.system.key), ()), row)
    return summaries


def _batched(values: Iterable[Any]) -> Iterator[list[Any]]:
    """Values in parts that a query can name."""
    rows = iter(values)
    while part := list(islice(rows, CHUNK)):
        yield part


def _parse(file: File, problems: Problems, options: Mapping[str, str]) -> PlainLabels:
    categories = plain_labels.split_categories(options.get("categories", ""))
    with plain_labels.opened(file.path, problems, name=file.name, **file.limits) as rows:
        return plain_labels.read(rows, categories=categories, task=options.get("task", ""), problems=problems)


STUDY = Option("study", "Name of the study", "Created if there is none with this name.", is_required=True)
CATEGORIES = Option(
    "categories",
    "Categories",
    "All labels that the task allows, in their order, as a,b,c; by default those of the file.",
    max_length=2000,
)
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
    kinds=("labels", "coverage_labels", "verdicts"),
    address=address_of_figures,
    options=(
        STUDY,
        CATEGORIES,
        Option(
            "task",
            "Task",
            (
                "A name for one of several tasks on the same items; grounded and key_point are the two judgments "
                "on key points, whose categories are known."
            ),
            max_length=plain_labels.LENGTHS["task"],
        ),
    ),
    permission=PERMISSION,
)


def _parse_mapped(file: File, problems: Problems, options: Mapping[str, str]) -> PlainLabels:
    rows = mapping.rows_of(file, problems, options)
    categories = plain_labels.split_categories(problems.look["mapping"]["categories"])
    return plain_labels.read(rows, categories=categories, problems=problems)


TOOL_LABELS = replace(
    PLAIN_LABELS,
    name="tool-labels",
    title="Labels of other tools",
    description=(
        "The export of Label Studio, Argilla, Potato, doccano or Prodigy, assignments of nuggetizer, or a table. "
        "You see what its columns become, can change that, and keep it under a name for the next file."
    ),
    extensions=(".json", ".jsonl", ".csv", ".tsv"),
    example="",
    parse=_parse_mapped,
    options=(
        STUDY,
        CATEGORIES,
        Option(
            "mapping",
            "Mapping",
            "The name of a remembered one; by default one that fits the file, else a guess that you can change.",
            max_length=20_000,
        ),
    ),
)


class External(StudyKind):
    value = Study.Kind.EXTERNAL
    label = "labels made elsewhere"
    is_of_coverage = True
    judged = SUMMARIES
    study_page = "annotation:study-figures"
    tabs = (results_tab("agreement", "Agreement", "annotation:study-figures"), approvals.TAB)
    files = staticmethod(files_of)
    formats = (PLAIN_LABELS, TOOL_LABELS)
    archive_plan = PlainLabelsPlan
    told_of = staticmethod(told_of)

    def deciding_of(self, study: Study) -> Any:
        """Labels of coverage are decided on as those that were given here."""
        here = (kind for kind in kinds() if kind.is_of_coverage and kind is not self)
        return next((kind.deciding_of(study) for kind in here), None)

    def results_of(self, study: Study, part: str = "") -> Any:
        """Labels that answer what a kind of study asks have the results of those given here."""
        if part:
            return approvals.RESULTS if part == approvals.TAB.here else None
        return next((kind.results_of(study) for kind in kinds() if kind.has_imported(study)), RESULTS)

    def agreement_of(self, study: Study, options: Mapping[str, Any]) -> Any:
        here = (kind for kind in kinds() if kind.has_imported(study))
        return next((kind.agreement_of(study, options) for kind in here), None)


KIND = register(External())
