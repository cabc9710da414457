"""Take labels in that were made elsewhere: the published benchmark of annotated summaries, and plain tables.

Everything of a file is in, or nothing; the same file again changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.validators import slug_re
from django.db import transaction
from django.db.models import Q

from annotation.models import Annotator, CoverageLabel, Membership, Study
from benchmarks import audit, judging
from benchmarks.exchange.eval_benchmark import BenchmarkEntry
from benchmarks.exchange.problems import Got, ImportFailed, Problems
from benchmarks.exchange.topics import TopicInsight, TopicSystem, TopicVerdict
from benchmarks.import_plan import imported_verdict, source_title
from benchmarks.models import Haystack, Insight, Judge, Subtopic, Summary, System, Verdict
from benchmarks.scoring.text import without_emphasis

IMPORTED = "imported"
DATASET = "summhay-eval-benchmark"
Said = tuple[str, tuple[int, ...]]


@dataclass
class Counts:
    """Rows made, and rows that were there already."""

    created: dict[str, int] = field(default_factory=dict)
    unchanged: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, *, is_new: bool, n: int = 1) -> None:
        """Count rows of one kind."""
        side, other = (self.created, self.unchanged) if is_new else (self.unchanged, self.created)
        side[kind] = side.get(kind, 0) + n
        other.setdefault(kind, 0)


class _Undo(Exception):
    """A dry run ends here."""


def import_benchmark(
    entries: Sequence[BenchmarkEntry],
    *,
    dataset: str,
    actor: Any,
    now: datetime,
    problems: Problems | None = None,
    dry_run: bool = False,
    researcher: Any = None,
) -> Counts:
    """Import summaries with the labels of annotator "imported" and the predictions as imported judges.

    Haystacks, subtopics, insights and summaries that are known by their keys are used as they are. A study made
    without an actor or `researcher` belongs to nobody in particular: every researcher may read its figures.

    Raises:
        ImportFailed: a text differs from what was imported before under the same key.
    """
    problems = Problems() if problems is None else problems
    if not slug_re.match(dataset):
        problems.error("wrong_value", "", "dataset", expected="letters, digits, - and _", got=dataset)
        raise ImportFailed(problems)
    taker = _Taker(dataset=dataset, now=now, problems=problems)
    try:
        with transaction.atomic():
            taker.prepare(actor)
            if researcher is not None:
                taker.study.researchers.add(researcher)
            for index, entry in enumerate(entries):
                taker.take(entry, f"[{index}]")
            taker.write()
            if problems.n_errors:
                raise ImportFailed(problems)
            if dry_run:
                raise _Undo
            if any(taker.counts.created.values()):
                created = {kind: n for kind, n in taker.counts.created.items() if n}
                audit.record(actor=actor, action="labels.imported", target=taker.study, now=now, created=created)
    except _Undo:
        pass
    return taker.counts


class _Taker:
    """Makes the rows of a file, each once, and counts."""

    def __init__(self, *, dataset: str, now: datetime, problems: Problems) -> None:
        self.dataset, self.now, self.problems = dataset, now, problems
        self.counts = Counts()
        self.labels: list[CoverageLabel] = []
        self.verdicts: list[Verdict] = []
        self.haystacks: dict[str, Haystack] = {}
        self.subtopics: dict[tuple[int, str], Subtopic] = {}
        self.insights: dict[tuple[int, str], Insight] = {}
        self.judges: dict[str, Judge] = {}
        self.known_verdicts: dict[tuple[int, int], dict[int, Said]] = {}

    def prepare(self, actor: Any) -> None:
        """Find or make the study and the annotator that hold the labels."""
        self.study = labels_study(name=study_name(self.dataset), actor=actor, now=self.now)
        self.annotator = imported_annotator(IMPORTED, study=self.study, now=self.now)
        rows = self.study.coverage_labels.filter(is_current=True, annotator=self.annotator)
        self.known_labels: dict[tuple[int, int], Said] = {
            (summary, insight): (coverage, tuple(lines))
            for summary, insight, coverage, lines in rows.values_list("summary", "insight", "coverage", "lines")
        }

    def take(self, entry: BenchmarkEntry, where: str) -> None:
        """Take one summary with all that was said of it."""
        haystack = self._haystack(entry)
        subtopic = self._subtopic(haystack, entry)
        insights = {one.key: self._insight(subtopic, one, where) for one in entry.insights}
        summary = self._summary(haystack, subtopic, entry, where)
        if summary is None:
            return
        for label in entry.human:
            self._label(summary, insights[label.insight_key], label, where)
        for name, verdicts in entry.predictions.items():
            self._predictions(name, summary, insights, verdicts, where)

    def _haystack(self, entry: BenchmarkEntry) -> Haystack:
        """Find it by its key or the name of its file, or make one without documents."""
        if entry.haystack_key not in self.haystacks:
            names = [entry.haystack_key, f"topic_{entry.haystack_key}"]
            known = Haystack.objects.filter(Q(key=entry.haystack_key) | Q(metadata__source_name__in=names)).first()
            self.counts.add("haystacks", is_new=known is None)
            self.haystacks[entry.haystack_key] = known or Haystack.objects.create(
                key=entry.haystack_key,
                title=without_emphasis(entry.haystack_title),
                metadata=source_title(entry.haystack_title),
                dataset=self.dataset,
                created_at=self.now,
            )
        return self.haystacks[entry.haystack_key]

    def _subtopic(self, haystack: Haystack, entry: BenchmarkEntry) -> Subtopic:
        key = (haystack.pk, entry.subtopic_key)
        if key not in self.subtopics:
            found, is_new = Subtopic.objects.get_or_create(
                haystack=haystack,
                key=entry.subtopic_key,
                defaults={
                    "number": haystack.subtopics.count() + 1,
                    "name": entry.subtopic,
                    "query": entry.subtopic,
                },
            )
            self.counts.add("subtopics", is_new=is_new)
            self.subtopics[key] = found
        return self.subtopics[key]

    def _insight(self, subtopic: Subtopic, one: TopicInsight, where: str) -> Insight:
        key = (subtopic.pk, one.key)
        if key not in self.insights:
            row, is_new = Insight.objects.get_or_create(
                subtopic=subtopic,
                key=one.key,
                defaults={"number": subtopic.insights.count() + 1, "name": one.name, "text": one.text},
            )
            self.counts.add("insights", is_new=is_new)
            self.insights[key] = row
        if self.insights[key].text != one.text:
            self._conflict(where, "insight", self.insights[key].text, one.text)
        return self.insights[key]

    def _summary(
        self, haystack: Haystack, subtopic: Subtopic, entry: BenchmarkEntry, where: str
    ) -> Summary | None:
        text = "\n".join(entry.lines)
        row, is_new = Summary.objects.get_or_create(
            subtopic=subtopic,
            system=_system(entry.system),
            origin=Summary.Origin.IMPORTED,
            defaults={
                "haystack": haystack,
                "text": text,
                "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
                "created_at": self.now,
            },
        )
        self.counts.add("summaries", is_new=is_new)
        if row.text != text:
            self._conflict(where, "summary", row.text, text)
            return None
        return row

    def _conflict(self, where: str, name: str, known: str, got: str) -> None:
        self.problems.error(
            "differs",
            where,
            name,
            expected=f"the text imported before, “{known[:60]}”",
            got=got,
            message="Texts that others may have judged never change.",
        )

    def _label(self, summary: Summary, insight: Insight, label: TopicVerdict, where: str) -> None:
        said: Said = (label.coverage, label.lines)
        known = self.known_labels.setdefault((summary.pk, insight.pk), said)
        is_new = known is said
        self.counts.add("labels", is_new=is_new)
        if not is_new:
            self._same(where, "annotation", known, said)
            return
        self.labels.append(
            CoverageLabel(
                study=self.study,
                annotator=self.annotator,
                summary=summary,
                insight=insight,
                coverage=label.coverage,
                lines=list(label.lines),
                is_linked=bool(label.lines),
                is_imported=True,
                breaks_rule=label.breaks_rule,
                raw=dict(label.raw),
                made_at=self.now,
            )
        )

    def _predictions(
        self,
        name: str,
        summary: Summary,
        insights: dict[str, Insight],
        verdicts: Sequence[TopicVerdict],
        where: str,
    ) -> None:
        if name not in self.judges:
            self.judges[name] = judging.ensure_judge(name=name, kind=Judge.Kind.IMPORTED, config={}, now=self.now)
        judge = self.judges[name]
        known = self._known_verdicts(judge, summary)
        for verdict in verdicts:
            insight = insights[verdict.insight_key]
            self.counts.add("verdicts", is_new=insight.pk not in known)
            if insight.pk in known:
                self._same(where, f"predictions_{name}", known[insight.pk], (verdict.coverage, verdict.lines))
                continue
            known[insight.pk] = (verdict.coverage, verdict.lines)
            self.verdicts.append(imported_verdict(judge, summary, insight, verdict, now=self.now))

    def _known_verdicts(self, judge: Judge, summary: Summary) -> dict[int, Said]:
        key = (judge.pk, summary.pk)
        if key not in self.known_verdicts:
            rows = Verdict.objects.filter(judge=judge, summary=summary, repeat=0)
            self.known_verdicts[key] = {
                insight: (coverage, tuple(lines))
                for insight, coverage, lines in rows.values_list("insight", "coverage", "lines")
            }
        return self.known_verdicts[key]

    def _same(self, where: str, name: str, known: Said, said: Said) -> None:
        if known != said:
            self.problems.error(
                "differs",
                where,
                name,
                expected=f"what was imported before, {_worded(known)}",
                got=Got(_worded(said)),
                message="Labels are never changed; give the file another --dataset, or the judge another name.",
            )

    def write(self) -> None:
        """Write labels and verdicts."""
        CoverageLabel.objects.bulk_create(self.labels, batch_size=500)
        Verdict.objects.bulk_create(self.verdicts, batch_size=500)


def _worded(said: Said) -> str:
    coverage, lines = said
    return f"{coverage}, line {', '.join(map(str, lines))}" if lines else f"{coverage}, no line"


def _system(system: TopicSystem) -> System:
    row, _ = System.objects.get_or_create(
        key=system.key,
        defaults={
            "summarizer": system.summarizer,
            "retriever": system.retriever,
            "document_order": system.document_order,
        },
    )
    return row


def study_name(dataset: str) -> str:
    """The name of the study that holds the published labels of a dataset."""
    return f"{dataset}: published labels"


def labels_study(*, name: str, actor: Any, now: datetime) -> Study:
    """The study that holds imported coverage labels; nobody works in it."""
    study, is_new = Study.objects.get_or_create(
        name=name,
        defaults={
            "kind": Study.Kind.LINKING,
            "state": Study.State.CLOSED,
            "created_at": now,
            "created_by": actor if getattr(actor, "pk", None) else None,
        },
    )
    if is_new and getattr(actor, "pk", None):
        study.researchers.add(actor)
    return study


def imported_annotator(label: str, *, study: Study, now: datetime) -> Annotator:
    """The person, without an account, whose labels were imported under this name into this study."""
    member = (
        study.memberships.filter(annotator__label=label, annotator__user=None).select_related("annotator").first()
    )
    if member is not None:
        known: Annotator = member.annotator
        return known
    annotator = Annotator.objects.create(label=label, is_active=False, created_at=now)
    Membership.objects.create(
        study=study, annotator=annotator, number=study.memberships.count() + 1, joined_at=now
    )
    return annotator
