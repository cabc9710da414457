"""Scores that invented retrievers give the demo's documents, and the documents that fit a budget.

They are made from the known passages and from word overlap, so that a better retriever really is better.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from benchmarks.demo.texts import Document, Subtopic
from benchmarks.scoring.oracle import select_by_scores

_STOP = {"does", "have", "their", "they", "what", "with"}


def seeded(*parts: object) -> random.Random:
    """A generator whose sequence depends on the names alone, so that every run gives the same corpus."""
    return random.Random("/".join(map(str, parts)))  # noqa: S311 - no secret is made from it


def retriever_scores(subtopic: Subtopic, documents: Sequence[Document]) -> dict[str, dict[int, float]]:
    """Scores by retriever and document number, higher is better; each retriever has a scale of its own."""
    counts = oracle_counts(subtopic, documents)
    return {
        "keywords": {item.number: _overlap(subtopic, item) for item in documents},
        "vector": {
            item.number: round(0.31 + 0.055 * counts[item.number] + 0.11 * _noise("vector", subtopic, item), 4)
            for item in documents
        },
        "rerank": {
            item.number: round(
                min(0.999, (0.02 + 0.17 * counts[item.number]) * (0.75 + 0.5 * _noise("rerank", subtopic, item))),
                6,
            )
            for item in documents
        },
        "random": {item.number: round(_noise("random", subtopic, item), 6) for item in documents},
        "oracle": {number: float(count) for number, count in counts.items()},
    }


def oracle_counts(subtopic: Subtopic, documents: Sequence[Document]) -> dict[int, int]:
    """How many of the subtopic's insights each document tells."""
    wanted = {insight.key for insight in subtopic.insights}
    return {item.number: len(wanted & item.passages.keys()) for item in documents}


def within_budget(
    scores: Mapping[int, float], documents: Sequence[Document], *, tokens: int, only_positive: bool = False
) -> tuple[int, ...]:
    """Document numbers, ascending: best scores first until the budget is crossed, the crossing one included.

    Ties go to the lower number. A word counts as 1.25 tokens.
    """
    lengths = [(item.number, len(item.text.split())) for item in documents]
    wanted = {number: score for number, score in scores.items() if score > 0 or not only_positive}
    return tuple(sorted(select_by_scores(lengths, wanted, token_budget=tokens).numbers))


def _overlap(subtopic: Subtopic, document: Document) -> float:
    wanted = _words(f"{subtopic.query} {subtopic.title}") - _STOP
    return round(len(wanted & _words(document.text)) / len(wanted), 4)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def _noise(retriever: str, subtopic: Subtopic, document: Document) -> float:
    return seeded(retriever, subtopic.name, document.number).random()
