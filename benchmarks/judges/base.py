"""What every judge is asked and answers, whatever its kind. Plain data, so that a judge knows no database."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

Coverage = Literal["none", "partial", "full"]
Entailment = Literal["yes", "neutral", "no"]


@dataclass(frozen=True)
class InsightRef:
    """A reference insight, by a key that the caller understands."""

    key: str
    text: str


@dataclass(frozen=True)
class SummaryToJudge:
    """A summary as numbered lines (line 1 is `lines[0]`) and the insights to look for in it."""

    key: str
    lines: tuple[str, ...]
    insights: tuple[InsightRef, ...]


@dataclass(frozen=True)
class CoverageVerdict:
    """How much of one insight a summary says, and in which lines; covered exactly when a line is named.

    `score` is the judge's own measure, where it has one; it orders verdicts of one judge, nothing more.
    """

    insight_key: str
    coverage: Coverage
    lines: tuple[int, ...]
    score: float | None = None


@dataclass(frozen=True)
class EntailmentItem:
    """Does this response entail this key point?"""

    key: str
    response: str
    key_point: str


@dataclass(frozen=True)
class EntailmentVerdict:
    """Yes, no, or neither; `sentence` is the closest one of the response, counted from 1."""

    key: str
    answer: Entailment
    sentence: int | None = None
    score: float | None = None


@dataclass(frozen=True)
class Background:
    """The texts that say which words are common: a haystack's documents and insights, or what there is."""

    texts: tuple[str, ...]

    @cached_property
    def version(self) -> str:
        """Hash of the texts, in any order; part of what a verdict depends on."""
        digests = sorted(hashlib.sha256(text.encode()).hexdigest() for text in self.texts)
        return hashlib.sha256("".join(digests).encode()).hexdigest()


class CoverageJudge(Protocol):
    """Answers for a batch of summaries of one haystack: one list of verdicts per summary, in order."""

    def judge_coverage(
        self, batch: Sequence[SummaryToJudge], background: Background
    ) -> list[list[CoverageVerdict]]:
        """Judge every insight of every summary."""
        ...


class EntailmentJudge(Protocol):
    """Answers whether responses entail key points."""

    def judge_entailment(self, batch: Sequence[EntailmentItem], background: Background) -> list[EntailmentVerdict]:
        """Judge every item, in order."""
        ...
