"""The texts a judge takes its word frequencies from: a haystack's documents and insights, or what there is.

A haystack's texts are read once in a process, for as long as its content hash stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from functools import lru_cache

from benchmarks.judges.base import Background
from benchmarks.models import Document, Haystack, Insight, Summary

CACHED_HAYSTACKS = 8


def of_haystack(haystack_id: int) -> Background:
    """Documents and insights of a haystack; without documents, its insights and all its imported summaries.

    Texts of writing sessions never count, so that a verdict does not depend on what others have written since.
    """
    found = Haystack.objects.filter(pk=haystack_id).values_list("content_sha256", "n_documents").first()
    if found is not None and all(found):
        return _of_documents(haystack_id, found[0])
    return _read(haystack_id)


@lru_cache(maxsize=CACHED_HAYSTACKS)
def _of_documents(haystack_id: int, content_sha256: str) -> Background:
    """Read what the hash stands for; summaries that stand in for documents have no such hash."""
    return _read(haystack_id)


def _read(haystack_id: int) -> Background:
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
