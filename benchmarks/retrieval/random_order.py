"""Random scores: what any retriever has to beat."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchmarks.retrieval.base import Corpus, Memory, Offline


@dataclass(frozen=True)
class RandomOrder(Offline):
    """A number from 0 to 1 for each document, the same for the same seed, subtopic and document."""

    seed: int = 0

    name: ClassVar[str] = "random"
    revision: ClassVar[int] = 1

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """Numbers from 0 to 1, drawn by seed, query and document number."""
        for query in corpus.queries:
            yield [random.Random(f"{self.seed}/{query.key}/{n}").random() for n in corpus.documents]  # noqa: S311
