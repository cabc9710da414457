"""Keywords (SummHay, section 5.1): how many of the query's words a document contains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchmarks.retrieval.base import Corpus, Memory, Offline, Reading
from benchmarks.retrieval.content_words import content_words
from benchmarks.retrieval.word_tokens import keywords, word_tokens

TOKENS, CONTENT = "tokens", "content"


@dataclass(frozen=True)
class Keywords(Reading, Offline):
    """The share of the query's keywords that a document contains.

    With `words` as `tokens`, keywords are what the authors took: NLTK's word tokens without its English stop
    words, where a repeated one counts each time and marks count too. As `content`, the different content words.
    """

    words: str = TOKENS

    name: ClassVar[str] = "keywords"
    revision: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.words not in {TOKENS, CONTENT}:
            raise ValueError(f"words is {TOKENS} or {CONTENT}.")

    def scores(self, corpus: Corpus, memory: Memory) -> Iterator[list[float]]:
        """The share of a query's keywords that each document contains, from 0 to 1."""
        texts = corpus.documents.values()
        by_tokens = self.words == TOKENS
        documents = [
            set(word_tokens(text) if by_tokens else content_words(text, corpus.language)) for text in texts
        ]
        for query in corpus.queries:
            text = self.wording(query)
            wanted = keywords(text) if by_tokens else list(set(content_words(text, corpus.language)))
            yield [sum(word in held for word in wanted) / len(wanted) if wanted else 0.0 for held in documents]
