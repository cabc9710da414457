"""BM25, as Lucene computes it (Robertson and Zaragoza 2009; Kamphuis et al. 2020 name the variants)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchmarks.retrieval.base import Corpus, Memory, Offline, Reading
from benchmarks.retrieval.content_words import content_words


@dataclass(frozen=True)
class BM25(Reading, Offline):
    """The sum of idf · tf / (tf + k1 · (1 − b + b · length / mean length)) over the query's content words.

    idf is ln(1 + (N − df + ½) / (df + ½)) for a word that df of the N documents contain; a word that the query
    repeats counts as often.
    """

    k1: float = 1.5
    b: float = 0.75

    name: ClassVar[str] = "bm25"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not 0 <= self.k1 <= 100:
            raise ValueError("k1 is a number from 0 to 100.")
        if not 0 <= self.b <= 1:
            raise ValueError("b is a number from 0 to 1.")

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """Index the documents, then ask for each query."""
        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG
        documents = [content_words(text, corpus.language) for text in corpus.documents.values()]
        known = {word for document in documents for word in document}
        if not known:
            yield from ([0.0] * len(documents) for _query in corpus.queries)
            return
        index = bm25s.BM25(k1=self.k1, b=self.b, method="lucene", dtype="float64")
        index.index(documents, show_progress=False)
        for query in corpus.queries:
            wanted = [word for word in content_words(self.wording(query), corpus.language) if word in known]
            yield index.get_scores(wanted).tolist() if wanted else [0.0] * len(documents)
