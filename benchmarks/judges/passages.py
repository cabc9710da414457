"""Documents as numbered passages, and the most relevant of them where there are more than a model is to read.

Relevance is the offline judge's measure: words shared with the points in question. What is left out cannot support
a point, so whoever shows a verdict says how much was shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.judges.base import Background
from benchmarks.judges.lexical import LexicalJudge
from benchmarks.judges.lexical_terms import sentences
from benchmarks.judges.questions import TOKENS_PER_WORD

WORDS_OF_A_PASSAGE = 80


@dataclass(frozen=True)
class Passages:
    """Texts, numbered from 1, that may say a point: sentences of a response, passages of documents, or key points.

    `sources` has where each comes from (the number of its sentence, document or key point); `n_all` how many there
    were before they were cut to the most relevant.
    """

    texts: tuple[str, ...]
    sources: tuple[int, ...]
    n_all: int

    @classmethod
    def numbered(cls, texts: Sequence[str]) -> Passages:
        """All texts of a list, each by its own number."""
        return cls(tuple(texts), tuple(range(1, len(texts) + 1)), len(texts))


def passages_of(documents: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """(number of the document, passage): whole sentences, about 80 words together."""
    return [(number, passage) for number, text in documents for passage in _pieces(text)]


def _pieces(text: str) -> Iterator[str]:
    held: list[str] = []
    n_words = 0
    for sentence in sentences(text):
        length = len(sentence.split())
        if held and n_words + length > WORDS_OF_A_PASSAGE:
            yield " ".join(held)
            held, n_words = [], 0
        held.append(sentence)
        n_words += length
    if held:
        yield " ".join(held)


class PassageRanking:
    """The passages of a question by their relevance to the points of one response, compared once for all."""

    def __init__(
        self, passages: Sequence[tuple[int, str]], points: Sequence[str], *, tokens: int, background: Background
    ) -> None:
        self.passages, self.tokens = passages, tokens
        self.sizes = [len(text.split()) * TOKENS_PER_WORD for _, text in passages]
        self._scores: Any = None
        if sum(self.sizes) > tokens:
            self._scores = LexicalJudge().similarities(points, [text for _, text in passages], background)

    def for_points(self, indices: Sequence[int]) -> Passages:
        """For points by their index: all passages if they fit (1.25 tokens a word), else the closest, in order."""
        chosen = list(range(len(self.passages)))
        if self._scores is not None:
            chosen = self._closest(self._scores[list(indices)].max(axis=0).tolist())
        return Passages(
            tuple(self.passages[index][1] for index in chosen),
            tuple(self.passages[index][0] for index in chosen),
            n_all=len(self.passages),
        )

    def _closest(self, scores: Sequence[float]) -> list[int]:
        kept, left = list[int](), float(self.tokens)
        for index in sorted(range(len(scores)), key=lambda index: (-scores[index], index)):
            if self.sizes[index] <= left:
                kept.append(index)
                left -= self.sizes[index]
        return sorted(kept)
