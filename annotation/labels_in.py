"""Take labels in that were made elsewhere: the published benchmark of annotated summaries, and plain tables.

Everything of a file is in, or nothing; the same file again changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.models import Annotator, CoverageLabel, Membership, Study
from benchmarks import audit, judging
from benchmarks.exchange.eval_benchmark import BenchmarkEntry
from benchmarks.exchange.problems import ImportFailed, Problems
from benchmarks.exchange.topics import TopicInsight, TopicSystem, TopicVerdict
from benchmarks.models import Haystack, Insight, Judge, Subtopic, Summary, System, Verdict

IMPORTED = "imported"


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
) -> Counts:
    """Import summaries with the labels of annotator "imported" and the predictions as imported judges.

    Haystacks, subtopics, insights and summaries that are known by their keys are used as they are.

    Raises:
        ImportFailed: a text differs from what was imported before under the same key.
    """
    problems = Problems() if problems is None else problems
    taker = _Taker(dataset=dataset, now=now, problems=problems)
    try:
        with transaction.atomic():
            taker.prepare(actor)
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
        self.insights: dict[tuple[int, str], Insight] = {}
        self.judges: dict[str, Judge] = {}

    def prepare(self, actor: Any) -> None:
        """Find or make the study and the annotator that hold the labels."""
        self.study = labels_study(name=f"{self.dataset}: published labels", actor=actor, now=self.now)
        self.annotator = imported_annotator(IMPORTED, study=self.study, now=self.now)
        self.known_labels = set(
            self.study.coverage_labels.filter(is_current=True).values_list("summary", "insight")
        )

    def take(self, entry: BenchmarkEntry, where: str) -> None:
        """Take one summary with all that was said of it."""
        haystack, is_new = Haystack.objects.get_or_create(
            key=entry.haystack_key,
            defaults={"title": entry.haystack_title, "dataset": self.dataset, "created_at": self.now},
        )
        self.counts.add("haystacks", is_new=is_new)
        subtopic = self._subtopic(haystack, entry)
        insights = {one.key: self._insight(subtopic, one, where) for one in entry.insights}
        summary = self._summary(haystack, subtopic, entry, where)
        if summary is None:
            return
        for label in entry.human:
            self._label(summary, insights[label.insight_key], label)
        for name, verdicts in entry.predictions.items():
            self._predictions(name, summary, insights, verdicts)

    def _subtopic(self, haystack: Haystack, entry: BenchmarkEntry) -> Subtopic:
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
        return found

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

    def _label(self, summary: Summary, insight: Insight, label: TopicVerdict) -> None:
        is_new = (summary.pk, insight.pk) not in self.known_labels
        self.counts.add("labels", is_new=is_new)
        if not is_new:
            return
        self.known_labels.add((summary.pk, insight.pk))
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
        self, name: str, summary: Summary, insights: dict[str, Insight], verdicts: Sequence[TopicVerdict]
    ) -> None:
        if name not in self.judges:
            self.judges[name] = judging.ensure_judge(name=name, kind=Judge.Kind.IMPORTED, config={}, now=self.now)
        judge = self.judges[name]
        known = set(Verdict.objects.filter(judge=judge, summary=summary).values_list("insight", flat=True))
        for verdict in verdicts:
            insight = insights[verdict.insight_key]
            self.counts.add("verdicts", is_new=insight.pk not in known)
            if insight.pk in known:
                continue
            self.verdicts.append(
                Verdict(
                    judge=judge,
                    summary=summary,
                    insight=insight,
                    coverage=verdict.coverage,
                    lines=list(verdict.lines),
                    is_linked=bool(verdict.lines),
                    is_imported=True,
                    breaks_rule=verdict.breaks_rule,
                    raw=dict(verdict.raw),
                    created_at=self.now,
                )
            )

    def write(self) -> None:
        """Write labels and verdicts."""
        CoverageLabel.objects.bulk_create(self.labels, batch_size=500)
        Verdict.objects.bulk_create(self.verdicts, batch_size=500)


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
