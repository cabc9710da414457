"""The texts a judge takes its word frequencies from: a haystack's documents and insights, or what there is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from benchmarks.judges.base import Background
from benchmarks.models import Document, Insight, Summary


def of_haystack(haystack_id: int) -> Background:
    """Documents and insights of a haystack; without documents, its insights and all its imported summaries.

    Texts of writing sessions never count, so that a verdict does not depend on what others have written since.
    """
    documents = list(Document.objects.filter(haystack=haystack_id).values_list("text", flat=True))
    insights = list(Insight.objects.filter(subtopic__haystack=haystack_id).values_list("text", flat=True))
    if not documents:
        documents = list(Summary.objects.filter(haystack=haystack_id).of_systems().values_list("text", flat=True))
    return Background(texts=tuple(documents), insights=tuple(insights))


def insights_by_subtopic(subtopics: Collection[int]) -> dict[int, list[tuple[int, str]]]:
    """Insights in order: {subtopic pk: [(insight pk, text)]}. One query."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = Insight.objects.filter(subtopic__in=subtopics).order_by("subtopic", "number")
    for pk, subtopic, text in rows.values_list("pk", "subtopic", "text"):
        found[subtopic].append((pk, text))
    return found
