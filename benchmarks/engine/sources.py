"""What whoever rates a summary can check it against: the same documents for people and for judges.

They are those that the oracle shows for the summary's subtopic, and all others that the summary cites.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from benchmarks.models import Document, Insight, Summary
from benchmarks.scoring.oracle import select_documents
from benchmarks.scoring.text import lines_from_list


def source_numbers(summaries: Iterable[Summary]) -> dict[int, tuple[int, ...]]:
    """{summary pk: document numbers, ascending}; empty where the haystack has no documents. Two queries."""
    wanted = list(summaries)
    sizes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    rows = Document.objects.filter(haystack__in={one.haystack_id for one in wanted}).order_by("number")
    for haystack, number, n_words in rows.values_list("haystack", "number", "n_words"):
        sizes[haystack].append((number, n_words))
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    golds = Insight.objects.filter(subtopic__in={one.subtopic_id for one in wanted})
    for subtopic, numbers in golds.values_list("subtopic", "gold_documents"):
        counts[subtopic].update(numbers)
    found = {}
    for one in wanted:
        shown = set(select_documents(sizes[one.haystack_id], counts[one.subtopic_id]).numbers)
        known = {number for number, _n_words in sizes[one.haystack_id]}
        found[one.pk] = tuple(sorted(shown | (_cited(one) & known)))
    return found


def documents_of(haystacks: Collection[int], numbers: Collection[int]) -> dict[tuple[int, int], tuple[str, str]]:
    """{(haystack pk, number): (title, text)}; one query."""
    rows = Document.objects.filter(haystack__in=haystacks, number__in=numbers)
    return {
        (haystack, number): (title, text)
        for haystack, number, title, text in rows.values_list("haystack", "number", "title", "text")
    }


def _cited(summary: Summary) -> set[int]:
    return {number for line in lines_from_list(summary.lines) for number in line.citations}
