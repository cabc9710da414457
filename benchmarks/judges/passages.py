"""Documents as numbered passages, and the most relevant of them where there are more than a model is to read.

Relevance is the offline judge's measure: words shared with the points in question. What is left out cannot support
a point, so whoever shows a verdict says how much was shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.judges.base import Background
from benchmarks.judges.entailment import Passages
from benchmarks.judges.lexical import LexicalJudge
from benchmarks.judges.lexical_terms import sentences
from benchmarks.judges.questions import TOKENS_PER_WORD

WORDS_OF_A_PASSAGE = 80


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


class Shelf:
    """The passages of a question, from which the points of one response choose; compared once for all of them."""

    def __init__(
        self, passages: Sequence[tuple[int, str]], points: Sequence[str], *, tokens: int, background: Background
    ) -> None:
        self.passages, self.tokens = passages, tokens
        self.sizes = [len(text.split()) * TOKENS_PER_WORD for _, text in passages]
        self._scores: Any = None
        if sum(self.sizes) > tokens:
            self._scores = LexicalJudge().similarities(points, [text for _, text in passages], background)

    def for_points(self, places: Sequence[int]) -> Passages:
        """For points by their place: all passages if they fit (1.25 tokens a word), else the closest, in order."""
        chosen = list(range(len(self.passages)))
        if self._scores is not None:
            chosen = self._closest(self._scores[list(places)].max(axis=0).tolist())
        return Passages(
            tuple(self.passages[place][1] for place in chosen),
            tuple(self.passages[place][0] for place in chosen),
            n_all=len(self.passages),
        )

    def _closest(self, scores: Sequence[float]) -> list[int]:
        kept, left = list[int](), float(self.tokens)
        for place in sorted(range(len(scores)), key=lambda place: (-scores[place], place)):
            if self.sizes[place] <= left:
                kept.append(place)
                left -= self.sizes[place]
        return sorted(kept)
