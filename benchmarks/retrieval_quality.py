"""Retrievers with stored scores, and how well each finds the gold documents within a token budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.models import Document, Haystack, Insight, Retrieval, RetrieverRanking
from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.oracle import TOKEN_BUDGET
from benchmarks.scoring.retrieval import Quality, Retrieved, qualities, retrieved


@dataclass(frozen=True, slots=True)
class Line:
    """One retriever's row; `version` is empty and `settings` unknown where its scores were imported."""

    reference: str
    retriever: str
    version: str
    settings: Mapping[str, Any]
    quality: Quality

    @property
    def is_imported(self) -> bool:
        """Whether the scores came with a file."""
        return not self.version


def quality_lines(
    haystacks: Iterable[Haystack],
    *,
    token_budget: int = TOKEN_BUDGET,
    resampling: Resampling | None = DEFAULT,
) -> list[Line]:
    """A line for each retriever with scores of a haystack, by recall of insights and nDCG, the highest first.

    Four queries.
    """
    chosen = list(haystacks)
    documents: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for haystack, number, n_words in Document.objects.filter(haystack__in=chosen).values_list(
        "haystack", "number", "n_words"
    ):
        documents[haystack].append((number, n_words))
    golds: dict[int, list[frozenset[int]]] = defaultdict(list)
    insights = Insight.objects.filter(subtopic__haystack__in=chosen)
    for subtopic, numbers in insights.values_list("subtopic", "gold_documents"):
        golds[subtopic].append(frozenset(numbers))
    found: dict[tuple[str, str], list[Retrieved]] = defaultdict(list)
    rankings = RetrieverRanking.objects.filter(subtopic__haystack__in=chosen).order_by("subtopic", "pk")
    for retriever, version, subtopic, haystack, scores in rankings.values_list(
        "retriever", "version", "subtopic", "subtopic__haystack", "scores"
    ):
        one = retrieved(
            subtopic=subtopic,
            documents=documents[haystack],
            scores={int(number): score for number, score in scores.items()},
            golds=golds[subtopic],
            token_budget=token_budget,
        )
        found[retriever, version].append(one)
    settings = {
        (name, version): values
        for name, version, values in Retrieval.objects.filter(haystack__in=chosen).values_list(
            "retriever", "version", "settings"
        )
    }
    measured = qualities({_reference(*key): rows for key, rows in found.items()}, resampling=resampling)
    lines = [Line(_reference(*key), *key, settings.get(key, {}), measured[_reference(*key)]) for key in found]
    return sorted(lines, key=_rank)


def _rank(line: Line) -> tuple[float, float, str]:
    quality = line.quality
    return -(quality.recall_insights.value or 0.0), -(quality.ndcg.value or 0.0), line.reference


def _reference(retriever: str, version: str) -> str:
    return f"{retriever}@{version}" if version else retriever
