"""Which documents of a haystack a writing task shows, what can be reached with them, and how long
they take to read.

The oracle rule and the ceiling are pure functions of `benchmarks.scoring`; here they meet the tables.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.models import WritingPlan
from benchmarks.models import Document, Insight, RetrieverRanking, Subtopic
from benchmarks.scoring.summhay import (
    WORDS_PER_MINUTE,
    attainable_ceiling,
    reading_minutes,
    select_by_scores,
    select_documents,
)

MS_PER_MINUTE = 60_000
READING_SHARE = 0.5
"""In the paper reading takes one of the two hours (§5.3)."""
LAST_DOCUMENT = 1.1
"""Documents are shown whole, so a set exceeds the budget, and the hour, by part of its last one: 6 % there."""


class NoDocuments(ValueError):
    """The setting shows no document for a subtopic; the message says why."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How documents are chosen: the part of a plan that decides on them."""

    setting: str = WritingPlan.Setting.ORACLE
    token_budget: int = 15_000
    include_zero_insight: bool = False
    retriever: str = ""


@dataclass(frozen=True, slots=True)
class Material:
    """A subtopic's (number, words) of all documents, gold numbers, scores by retriever."""

    subtopic_id: int
    name: str
    documents: tuple[tuple[int, int], ...]
    golds: tuple[frozenset[int], ...]
    rankings: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    @property
    def insight_counts(self) -> dict[int, int]:
        """Insights of this subtopic in each document that has any."""
        return dict(Counter(number for gold in self.golds for number in gold))


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """The documents of one task by ascending number, and what they hold."""

    numbers: tuple[int, ...]
    n_words: int
    n_insights: int
    n_insights_present: int
    ceiling: dict[str, Any]


def rule_of(plan: WritingPlan) -> Rule:
    return Rule(plan.setting, plan.token_budget, plan.include_zero_insight, plan.retriever)


def load_material(subtopics: Iterable[Subtopic], *, retriever: str = "") -> dict[int, Material]:
    """Read what choosing needs, by subtopic id, in three queries however many subtopics there are."""
    wanted = list(subtopics)
    documents = Document.objects.lengths({subtopic.haystack_id for subtopic in wanted})
    golds: dict[int, list[frozenset[int]]] = defaultdict(list)
    insights = Insight.objects.filter(subtopic__in=wanted)
    for subtopic_id, gold in insights.values_list("subtopic_id", "gold_documents"):
        golds[subtopic_id].append(frozenset(gold))
    chosen = RetrieverRanking.objects.with_reference().filter(reference=retriever)
    rankings = chosen.filter(subtopic__in=wanted).by_subtopic() if retriever else {}
    return {
        subtopic.pk: Material(
            subtopic_id=subtopic.pk,
            name=subtopic.name,
            documents=tuple(documents[subtopic.haystack_id]),
            golds=tuple(golds[subtopic.pk]),
            rankings=rankings.get(subtopic.pk, {}),
        )
        for subtopic in wanted
    }


def choose(material: Material, rule: Rule) -> DocumentSet:
    """The documents that `rule` shows for one subtopic; NoDocuments if there are none."""
    if rule.setting == WritingPlan.Setting.FULL:
        numbers = tuple(number for number, _words in material.documents)
    elif rule.setting == WritingPlan.Setting.RANKING:
        scores = material.rankings.get(rule.retriever)
        if not scores:
            raise NoDocuments(f"“{material.name}” has no ranking by “{rule.retriever}”.")
        numbers = select_by_scores(material.documents, scores, token_budget=rule.token_budget).numbers
    else:
        numbers = select_documents(
            material.documents,
            material.insight_counts,
            token_budget=rule.token_budget,
            include_zero=rule.include_zero_insight,
        ).numbers
    if not numbers:
        raise NoDocuments(f"“{material.name}” has no document to show: none holds an insight.")
    return describe(material, numbers)


def describe(material: Material, numbers: Sequence[int]) -> DocumentSet:
    """Find the share of the subtopic's insights in these documents, and the ceiling they allow.

    All documents together hold all insights, also where nothing says which document holds which.
    """
    shown = frozenset(numbers)
    words = dict(material.documents)
    is_whole = not any(material.golds) and len(shown) == len(words)
    ceiling = attainable_ceiling(material.golds, shown)
    return DocumentSet(
        numbers=tuple(sorted(shown)),
        n_words=sum(words[number] for number in shown),
        n_insights=len(material.golds),
        n_insights_present=sum(is_whole or bool(gold & shown) for gold in material.golds),
        ceiling={
            "recall": ceiling.recall.value,
            "f1": ceiling.f1.value,
            "present_recall": ceiling.present_recall.value,
            "present_f1": ceiling.present_f1.value,
            "n_absent": ceiling.n_absent,
        },
    )


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """One subtopic: its documents, or the problem in their stead, and the minutes to read them once."""

    subtopic: Subtopic
    documents: DocumentSet | None
    problem: str
    minutes: float


@dataclass(frozen=True, slots=True)
class Preview:
    """All subtopics under one setting; `limit_minutes` of active time stand against the longest reading."""

    rows: tuple[PreviewRow, ...]
    limit_minutes: float
    words_per_minute: int = WORDS_PER_MINUTE

    @property
    def longest(self) -> PreviewRow | None:
        return max(self.rows, key=lambda row: row.minutes, default=None)

    @property
    def too_long(self) -> tuple[PreviewRow, ...]:
        return tuple(row for row in self.rows if row.minutes > self.limit_minutes)

    @property
    def tight(self) -> tuple[PreviewRow, ...]:
        """Subtopics that leave less time for writing than the paper's protocol did."""
        share = self.limit_minutes * READING_SHARE * LAST_DOCUMENT
        return tuple(row for row in self.rows if share < row.minutes <= self.limit_minutes)

    @property
    def ceiling(self) -> dict[str, float] | None:
        """Recall and F1 averaged over all insights, as the paper gives its .84; None if some set has none."""
        sets = [row.documents for row in self.rows if row.documents is not None]
        n_insights = sum(documents.n_insights for documents in sets)
        if not n_insights or any(documents.ceiling["recall"] is None for documents in sets):
            return None
        return {
            name: sum(documents.ceiling[name] * documents.n_insights for documents in sets) / n_insights
            for name in ("recall", "f1")
        }

    @property
    def problems(self) -> tuple[str, ...]:
        """Why some subtopics would show nothing."""
        return tuple(row.problem for row in self.rows if row.problem)


def preview(*, subtopics: Sequence[Subtopic], rule: Rule, limit_ms: int) -> Preview:
    """Work out the document set of each subtopic; a fixed number of queries."""
    material = load_material(subtopics, retriever=rule.retriever)
    rows = []
    for subtopic in subtopics:
        try:
            documents = choose(material[subtopic.pk], rule)
            rows.append(PreviewRow(subtopic, documents, "", reading_minutes(documents.n_words)))
        except NoDocuments as problem:
            rows.append(PreviewRow(subtopic, None, str(problem), 0.0))
    return Preview(tuple(rows), limit_ms / MS_PER_MINUTE)
