"""Documents as numbered passages, those most relevant where a model cannot read all, and a response in pieces.

Relevance is the offline judge's measure: words shared with the points in question. What is left out cannot support
a point, so whoever shows a verdict says how much was shown.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import Field, StrictInt

from benchmarks.judges.base import Background
from benchmarks.judges.lexical import LexicalJudge
from benchmarks.judges.lexical_terms import sentences
from benchmarks.judges.parsing import LabelAnswer, LabelReply
from benchmarks.judges.questions import TOKENS_PER_WORD, LabelQuestion
from benchmarks.scoring.text import LineKind, lines_from_text

FEWEST_WORDS = 3


def split_points(text: str) -> list[str]:
    """Sentences without list marks and citations; headings, lead-ins and scraps under three words are left out."""
    points: list[str] = []
    for line in lines_from_text(text):
        if line.kind is not LineKind.HEADER:
            parts = (part for part in sentences(line.plain) if not part.endswith((":", "：")))
            points += (part for part in parts if len(part.split()) >= FEWEST_WORDS)
    return list(dict.fromkeys(points))


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
        return cls(tuple(texts), tuple(range(1, len(texts) + 1)), len(texts))


class EvidenceReply(LabelReply):
    """Whether a point is said; a yes names what says it."""

    item = "point"

    numbers: list[StrictInt] = Field(alias="evidence", max_length=1000)

    @classmethod
    def contradiction(cls, label: str, numbers: Sequence[int]) -> str:
        """Refuse a yes that names no evidence."""
        return "“yes” must name what says it in “evidence”." if label == "yes" and not numbers else ""


@dataclass(frozen=True, kw_only=True)
class PassageQuestion(LabelQuestion):
    passages: Passages

    @property
    def numbered(self) -> Sequence[tuple[int, str]]:
        return list(enumerate(self.passages.texts, 1))

    def raw_of(self, answer: Any) -> dict[str, Any]:
        """How much was shown, and the first passage that says the point."""
        raw = {"passages": self.passages.n_all, "passages_shown": len(self.passages.texts)} | super().raw_of(
            answer
        )
        if isinstance(answer, LabelAnswer) and answer.numbers:
            sources = [self.passages.sources[number - 1] for number in answer.numbers]
            raw |= {"evidence": self.passages.texts[answer.numbers[0] - 1], **self.named(sources)}
        return raw

    @abstractmethod
    def named(self, sources: Sequence[int]) -> dict[str, Any]:
        """Where the passages that say a point come from, under the names that the task keeps them by."""


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
        self.passages, self.points, self.tokens, self.background = passages, points, tokens, background

    @cached_property
    def sizes(self) -> list[float]:
        return [len(text.split()) * TOKENS_PER_WORD for _, text in self.passages]

    @cached_property
    def scores(self) -> Any:
        """Points by passages; None where all passages fit."""
        if sum(self.sizes) <= self.tokens:
            return None
        return LexicalJudge().similarities(self.points, [text for _, text in self.passages], self.background)

    def for_points(self, indices: Sequence[int]) -> Passages:
        """For points by their index: all passages if they fit (1.25 tokens a word), else the closest, in order."""
        chosen = list(range(len(self.passages)))
        if self.scores is not None:
            chosen = self._closest(self.scores[list(indices)].max(axis=0).tolist())
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
