"""The oracle: it knows which documents hold the subtopic's insights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchmarks.retrieval.base import Corpus, Memory, Offline


@dataclass(frozen=True)
class Oracle(Offline):
    """The number of the subtopic's insights in each document."""

    name: ClassVar[str] = "oracle"
    revision: ClassVar[int] = 1
    knows_golds: ClassVar[bool] = True

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """How many of a query's insights each document contains."""
        for query in corpus.queries:
            yield [float(sum(number in gold for gold in query.golds)) for number in corpus.documents]
