"""Keywords (SummHay, section 5.1): how many of the query's content words a document contains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchmarks.retrieval.base import Corpus, Memory, Offline
from benchmarks.retrieval.content_words import content_words


@dataclass(frozen=True)
class Keywords(Offline):
    """The share of the query's distinct content words that a document contains.

    The paper took the query's keywords with a part-of-speech tagger; this takes all its content words.
    """

    name: ClassVar[str] = "keywords"
    revision: ClassVar[int] = 1

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """The share of a query's content words that each document contains, from 0 to 1."""
        documents = [set(content_words(text, corpus.language)) for text in corpus.documents.values()]
        for query in corpus.queries:
            wanted = set(content_words(query.text, corpus.language))
            yield [len(wanted & held) / len(wanted) if wanted else 0.0 for held in documents]
