"""Annotated summaries: the labels of people, the predictions of judges, and the texts that both are about.

A label or prediction that differs from what was imported before is an error: labels never change.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.importing.label_studies import PERMISSION, LabelPlan, address_of_figures
from annotation.models import CoverageLabel, Study
from benchmarks.engine.juries import fitted_haystacks, names_of_haystack
from benchmarks.engine.naming import judges_called
from benchmarks.io.formats import Format
from benchmarks.io.plan import ImportRequest
from benchmarks.io.published import (
    imported_verdict,
    new_judge,
    new_system,
    of_configuration,
    source_title,
    version_said_by,
)
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas import eval_benchmark
from benchmarks.io.schemas.eval_benchmark import PERSON, BenchmarkEntry
from benchmarks.io.schemas.topics import TopicInsight, TopicVerdict
from benchmarks.models import Haystack, Insight, Judge, Subtopic, Summary, System, Verdict
from benchmarks.scoring.text import without_emphasis

IMPORTED = "imported"
DEFAULT_DATASET = "summhay-eval-benchmark"
Answer = tuple[str, tuple[int, ...]]
"""Coverage, and the lines it is linked to."""
Place = tuple[UUID, UUID]
"""The public ids of a summary and of an insight."""


class Said(NamedTuple):
    """A prediction, with the rows that it is about and where it stands in the file."""

    summary: Summary
    insight: Insight
    verdict: TopicVerdict
    where: str

    @property
    def place(self) -> Place:
        """What it is about."""
        return self.summary.uid, self.insight.uid

    @property
    def answer(self) -> Answer:
        """What counts of it."""
        return self.verdict.coverage, self.verdict.lines


def study_name(dataset: str) -> str:
    """The name of the study that holds the published labels of a dataset."""
    return f"{dataset}: published labels"


class AnnotatedSummariesPlan(LabelPlan[Sequence[BenchmarkEntry]]):
    """Labels of annotator "imported", or of those the file names, and predictions as imported judges.

    The texts that they are about may be new too.

    Haystacks, subtopics and insights that are known by their keys are used as they are, summaries if they also
    have the same text. Another text of the same system is another summary, which no leaderboard counts.
    """

    MODELS = (*LabelPlan.MODELS, Judge, System, Haystack, Subtopic, Insight, Summary, CoverageLabel, Verdict)

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.dataset = self.dataset or DEFAULT_DATASET
        self.haystacks: dict[str, Haystack] = {}
        self.subtopics: dict[tuple[UUID, str], Subtopic] = {}
        self.insights: dict[tuple[UUID, str], Insight] = {}
        self.systems: dict[str, System] = {}
        self.summaries: dict[tuple[UUID, str, str], Summary] = {}
        self.have_text: set[tuple[UUID, str]] = set()
        self.judges: dict[str, Judge] = {}
        self.fitted_on: dict[str, set[str]] = defaultdict(set)
        self.counted: set[UUID] = set()
        self.labels: dict[str, dict[Place, Answer]] = defaultdict(dict)
        self.verdicts: dict[tuple[UUID, UUID], dict[Place, Answer]] = {}

    def take(self, rows: Sequence[BenchmarkEntry]) -> None:
        """Compare the summaries of one file with their labels and predictions."""
        if self.study is None:
            name = self.request.options.get("study") or study_name(self.dataset)
            study = self.find_study(name, kind=Study.Kind.LINKING)
            if not self.is_new:
                known = study.coveragelabels.filter(is_current=True, annotator__user=None)
                values = known.values_list("annotator__label", "summary__uid", "insight__uid", "coverage", "lines")
                for name, summary, insight, coverage, lines in values:
                    self.labels[name][summary, insight] = (coverage, tuple(lines))
        names = {name for entry in rows for name in entry.people}
        for name in sorted(names, key=lambda name: (len(name), name)):  # annotator2 comes before annotator10
            self.annotator(name)
        for entry in rows:
            for name in entry.fitted:
                self.fitted_on[name].add(self._haystack(entry).key)
        said: dict[str, list[Said]] = defaultdict(list)
        for index, entry in enumerate(rows):
            for name, given in self._take(entry, f"[{index}]"):
                said[name].append(given)
        for name, predictions in said.items():
            self._predictions(self._judge(name, predictions), predictions)

    def _take(self, entry: BenchmarkEntry, where: str) -> Iterator[tuple[str, Said]]:
        """Take the texts and the labels of a summary; gives what judges say of it, by name."""
        haystack = self._haystack(entry)
        subtopic = self._subtopic(haystack, entry)
        insights = {one.key: self._insight(subtopic, one, where) for one in entry.insights}
        summary = self._summary(haystack, subtopic, entry)
        for name, labels in ({IMPORTED: entry.human} | dict(entry.people)).items():
            for label in labels:
                self._label(name, summary, insights[label.insight_key], label, where)
        for name, verdicts in entry.predictions.items():
            for verdict in verdicts:
                yield name, Said(summary, insights[verdict.insight_key], verdict, where)

    def _haystack(self, entry: BenchmarkEntry) -> Haystack:
        """Find it by its key or the name of its file, or make one without documents."""
        key = entry.haystack_key
        if key not in self.haystacks:
            names = [key, f"topic_{key}"]
            found = Haystack.objects.filter(Q(key=key) | Q(metadata__source_name__in=names)).first()
            if found is None:
                found = Haystack(
                    key=key,
                    title=without_emphasis(entry.haystack_title),
                    metadata=source_title(entry.haystack_title),
                    dataset=self.dataset,
                    created_at=self.now,
                )
                self.create(found, "haystacks")
            else:
                self.unchanged["haystacks"] += 1
                self._load_texts(found)
            self.haystacks[key] = found
        return self.haystacks[key]

    def _load_texts(self, haystack: Haystack) -> None:
        for subtopic in haystack.subtopics.all():
            self.subtopics[haystack.uid, subtopic.key] = subtopic
        for insight in Insight.objects.filter(subtopic__haystack=haystack).select_related("subtopic"):
            self.insights[insight.subtopic.uid, insight.key] = insight
        summaries = Summary.objects.filter(haystack=haystack).of_systems()
        for summary in summaries.select_related("subtopic", "system"):
            self._remember(summary)

    def _known(self, row: Subtopic | Insight, kind: str) -> None:
        """Count a row that was there, once."""
        if row.uid not in self.counted:
            self.counted.add(row.uid)
            self.unchanged[kind] += 1

    def _subtopic(self, haystack: Haystack, entry: BenchmarkEntry) -> Subtopic:
        key = (haystack.uid, entry.subtopic_key)
        if key in self.subtopics:
            self._known(self.subtopics[key], "subtopics")
            return self.subtopics[key]
        others = [row.number for (owner, _key), row in self.subtopics.items() if owner == haystack.uid]
        row = Subtopic(
            haystack=haystack,
            key=entry.subtopic_key,
            number=max(others, default=0) + 1,
            name=entry.subtopic,
            query=entry.subtopic,
        )
        self.create(row, "subtopics")
        self.counted.add(row.uid)
        self.subtopics[key] = row
        return row

    def _insight(self, subtopic: Subtopic, one: TopicInsight, where: str) -> Insight:
        key = (subtopic.uid, one.key)
        if key in self.insights:
            row = self.insights[key]
            self._known(row, "insights")
            if row.text != one.text:
                self.problems.error(
                    "differs",
                    where,
                    "insight",
                    expected=f"the text imported before, “{row.text[:60]}”",
                    got=one.text,
                    message="Texts that others may have judged never change.",
                )
            return row
        if subtopic.haystack.n_documents and subtopic.pk:
            self.problems.error(
                "unknown_insight",
                where,
                "reference_insights",
                expected=f"an insight of the haystack's subtopic “{subtopic.key}”",
                got=one.key,
                message="The insights of a haystack never change.",
            )
        others = [row.number for (owner, _key), row in self.insights.items() if owner == subtopic.uid]
        row = Insight(
            subtopic=subtopic, key=one.key, number=max(others, default=0) + 1, name=one.name, text=one.text
        )
        self.create(row, "insights")
        self.counted.add(row.uid)
        self.insights[key] = row
        return row

    def _system(self, entry: BenchmarkEntry) -> System:
        key = entry.system.key
        if key not in self.systems:
            found = System.objects.filter(key=key).first()
            if found is None:
                found = new_system(entry.system)
                self.create(found)
            self.systems[key] = found
        return self.systems[key]

    def _summary(self, haystack: Haystack, subtopic: Subtopic, entry: BenchmarkEntry) -> Summary:
        """Find it by its text, or make one; where the haystack's file is there, or another text, beside it."""
        text = "\n".join(entry.lines)
        digest = hashlib.sha256(text.encode()).hexdigest()
        known = self.summaries.get((subtopic.uid, entry.system.key, digest))
        if known is not None:
            self.unchanged["summaries"] += 1
            return known
        stands_beside = haystack.n_documents or (subtopic.uid, entry.system.key) in self.have_text
        row = Summary(
            subtopic=subtopic,
            haystack=haystack,
            system=self._system(entry),
            origin=Summary.Origin.ANNOTATED if stands_beside else Summary.Origin.IMPORTED,
            text=text,
            text_sha256=digest,
            created_at=self.now,
        )
        self.create(row, "summaries")
        self._remember(row)
        return row

    def _remember(self, row: Summary) -> None:
        self.summaries[row.subtopic.uid, row.system.key, row.text_sha256] = row
        self.have_text.add((row.subtopic.uid, row.system.key))

    def _label(self, name: str, summary: Summary, insight: Insight, label: TopicVerdict, where: str) -> None:
        answer = (label.coverage, label.lines)
        field = "annotation" if name == IMPORTED else PERSON + name
        if self._is_known(self.labels[name], (summary.uid, insight.uid), answer, where, field):
            self.unchanged["labels"] += 1
            return
        row = CoverageLabel(
            study=self.study,
            annotator=self.annotator(name),
            summary=summary,
            insight=insight,
            coverage=label.coverage,
            lines=list(label.lines),
            is_linked=bool(label.lines),
            is_complete=True,
            is_imported=True,
            breaks_rule=label.breaks_rule,
            raw=dict(label.raw),
            made_at=self.now,
        )
        self.create(row, "labels")

    def _judge(self, name: str, said: Sequence[Said]) -> Judge:
        """The judge of this name (or “NAME vN”) that says the same; one that contradicts it gets a next version.

        A version that came with such a file before stays the one: what it contradicts is an error.
        """
        if name not in self.judges:
            versions = list(Judge.objects.filter(name=name)) or judges_called(name)
            latest = max((judge.version for judge in versions if judge.name == name), default=0)
            config = {"fitted_on": sorted(self.fitted_on[name])} if name in self.fitted_on else {}
            new = new_judge(name, config=config, version=latest + 1, now=self.now)
            found = self._known_judge(versions, name, said, new)
            if found is None:
                found = new
                self.create(found)
            self.judges[name] = found
        return self.judges[name]

    def _known_judge(self, versions: Sequence[Judge], name: str, said: Sequence[Said], new: Judge) -> Judge | None:
        haystacks = {one.summary.haystack.uid: one.summary.haystack for one in said}.values()
        fitted_on = fitted_haystacks(versions)

        def is_fitted_alike(judge: Judge) -> bool:
            return all(
                (haystack.key in self.fitted_on.get(name, ()))
                == bool(
                    fitted_on[judge.pk] & names_of_haystack(haystack.key, haystack.metadata.get("source_name"))
                )
                for haystack in haystacks
            )

        def known(judge: Judge) -> dict[Place, Answer]:
            found: dict[Place, Answer] = {}
            for haystack in haystacks:
                found |= self._known_verdicts(judge, haystack)
            return found

        found = version_said_by(
            filter(is_fitted_alike, versions),
            {one.place: one.answer for one in said},
            known,
            new=new,
        )
        return found or of_configuration(versions, new)

    def _predictions(self, judge: Judge, said: Iterable[Said]) -> None:
        for one in said:
            known = self._known_verdicts(judge, one.summary.haystack)
            if self._is_known(known, one.place, one.answer, one.where, f"predictions_{judge}"):
                self.unchanged["verdicts"] += 1
            else:
                row = imported_verdict(judge, one.summary, one.insight, one.verdict, now=self.now)
                self.create(row, "verdicts")

    def _known_verdicts(self, judge: Judge, haystack: Haystack) -> dict[Place, Answer]:
        key = (judge.uid, haystack.uid)
        if key not in self.verdicts:
            self.verdicts[key] = {}
            if judge.pk and haystack.pk:
                rows = Verdict.objects.filter(judge=judge, summary__haystack=haystack, repeat=0)
                values = rows.values_list("summary__uid", "insight__uid", "coverage", "lines")
                self.verdicts[key] = {(row[0], row[1]): (row[2], tuple(row[3])) for row in values}
        return self.verdicts[key]

    def _is_known(self, known: dict[Place, Answer], place: Place, answer: Answer, where: str, name: str) -> bool:
        """Whether a label or prediction was there; one that differs is an error, a new one is remembered."""
        before = known.setdefault(place, answer)
        if before != answer:
            self.problems.error(
                "differs",
                where,
                name,
                expected=f"what was imported before, {_worded(before)}",
                got=Got(_worded(answer)),
                message="Labels are never changed; give the file another dataset, or the judge another name.",
            )
        return before is not answer


def _worded(answer: Answer) -> str:
    coverage, lines = answer
    return f"{coverage}, line {', '.join(map(str, lines))}" if lines else f"{coverage}, no line"


def _parse(file: File, problems: Problems, options: Mapping[str, str]) -> Sequence[BenchmarkEntry]:
    return eval_benchmark.parse(file.path, problems=problems, limit_bytes=file.limit_bytes, progress=file.progress)


ANNOTATED_SUMMARIES = Format(
    name="summhay-eval-benchmark",
    title="SummHay annotated summaries",
    description=(
        "A JSON list of summaries with their reference insights, the labels of people and the predictions of "
        "judges, as published for judging the judges. Links of people count lines from 0, judges' from 1."
    ),
    extensions=(".json",),
    example=eval_benchmark.EXAMPLE,
    parse=_parse,
    plan=AnnotatedSummariesPlan,
    kinds={
        "haystacks": _("haystacks"),
        "subtopics": _("subtopics"),
        "insights": _("insights"),
        "summaries": _("summaries"),
        "labels": _("labels"),
        "verdicts": _("verdicts"),
    },
    address=address_of_figures,
    permission=PERMISSION,
)
