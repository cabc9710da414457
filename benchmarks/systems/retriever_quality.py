"""Retrievers with stored scores, and how well each finds the gold documents within a token budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.leaderboard.retrieval_words import in_words
from benchmarks.models import Document, Haystack, Insight, Retrieval, RetrieverRanking, Subtopic
from benchmarks.scoring.draws import DEFAULT, Resampling
from benchmarks.scoring.oracle import TOKEN_BUDGET
from benchmarks.scoring.retrieval import Quality, Retrieved, qualities, retrieved

ORACLE = "oracle"
"""The retriever that scores a document by how many insights it holds."""


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

    @property
    def words(self) -> str:
        """The retriever with the settings that are not the usual ones; its name where it was imported."""
        return self.retriever if self.is_imported else in_words(self.retriever, self.settings)


def quality_lines(
    haystacks: Iterable[Haystack],
    *,
    token_budget: int = TOKEN_BUDGET,
    resampling: Resampling | None = DEFAULT,
) -> list[Line]:
    """A line for each retriever with scores of a haystack, by recall of insights and nDCG, the highest first.

    Six queries.
    """
    chosen = list(haystacks)
    documents = Document.objects.lengths(chosen)
    golds: dict[int, list[frozenset[int]]] = defaultdict(list)
    insights = Insight.objects.filter(subtopic__haystack__in=chosen)
    for subtopic, numbers in insights.values_list("subtopic", "gold_documents"):
        golds[subtopic].append(frozenset(numbers))
    rankings = RetrieverRanking.objects.filter(subtopic__haystack__in=chosen)
    names = {
        str(ranking): (ranking.retriever, ranking.version) for ranking in rankings.only("retriever", "version")
    }
    haystack_of = dict(Subtopic.objects.filter(haystack__in=chosen).values_list("pk", "haystack"))
    by_reference: dict[str, list[Retrieved]] = defaultdict(list)
    for subtopic, by_name in sorted(rankings.by_subtopic().items()):
        for reference, scores in by_name.items():
            scored = retrieved(
                subtopic=subtopic,
                documents=documents[haystack_of[subtopic]],
                scores=scores,
                golds=golds[subtopic],
                token_budget=token_budget,
            )
            by_reference[reference].append(scored)
    settings = {
        (name, version): values
        for name, version, values in Retrieval.objects.filter(haystack__in=chosen).values_list(
            "retriever", "version", "settings"
        )
    }
    oracles = [name for name in by_reference if names[name][0] == ORACLE]
    measured = qualities(by_reference, resampling=resampling, oracles=oracles)
    lines = [Line(name, *names[name], settings.get(names[name], {}), measured[name]) for name in by_reference]
    return sorted(lines, key=_rank)


def _rank(line: Line) -> tuple[float, float, str]:
    quality = line.quality
    return -(quality.recall_insights.value or 0.0), -(quality.ndcg.value or 0.0), line.reference
