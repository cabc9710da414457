"""What a setting would show and how long it takes to read, before any task is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.writing.documentsets import DocumentSet, NoDocuments, Rule, choose, load_material
from benchmarks.models import Subtopic
from benchmarks.scoring.oracle import WORDS_PER_MINUTE, reading_minutes

MS_PER_MINUTE = 60_000
READING_SHARE = 0.5
"""In the paper reading takes one of the two hours (§5.3)."""
LAST_DOCUMENT = 1.1
"""Documents are shown whole, so a set exceeds the budget, and the hour, by part of its last one: 6 % there."""


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
        """The subtopic that takes the most reading."""
        return max(self.rows, key=lambda row: row.minutes, default=None)

    @property
    def too_long(self) -> tuple[PreviewRow, ...]:
        """Subtopics whose documents cannot be read within the limit."""
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
