"""TF-IDF: the cosine of query and document as weighted words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from benchmarks.retrieval.base import Corpus, Memory, Offline, Reading
from benchmarks.retrieval.content_words import content_words


@dataclass(frozen=True)
class TfIdf(Reading, Offline):
    """Cosine of tf · (1 + ln((1 + N) / (1 + df))) over content words, the weighting of scikit-learn.

    With `is_sublinear` the count of a word is dampened to 1 + ln tf.
    """

    is_sublinear: bool = False

    name: ClassVar[str] = "tfidf"
    revision: ClassVar[int] = 1

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """Weigh the documents, then compare each query with them."""
        counts = [Counter(content_words(text, corpus.language)) for text in corpus.documents.values()]
        held_by = Counter(word for document in counts for word in document)
        idf = {word: 1 + math.log((1 + len(counts)) / (1 + n)) for word, n in held_by.items()}
        documents = [self._weighed(document, idf) for document in counts]
        for query in corpus.queries:
            wanted = self._weighed(Counter(content_words(self.wording(query), corpus.language)), idf)
            yield [sum(weight * held.get(word, 0.0) for word, weight in wanted.items()) for held in documents]

    def _weighed(self, counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
        """Weights of the words that the documents know, of length 1 (or none)."""
        weights = {
            word: (1 + math.log(n) if self.is_sublinear else n) * idf[word]
            for word, n in counts.items()
            if word in idf
        }
        length = math.sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()}
