"""Questions and answers of every judge, whatever its kind. Plain data, so that a judge knows no database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from benchmarks.scoring.keypoints import Entailment
from benchmarks.scoring.summhay import Coverage, Probabilities


class JudgeKind(StrEnum):
    """Sources of verdicts."""

    LEXICAL = "lexical"
    OPENAI = "openai"
    IMPORTED = "imported"
    JURY = "jury"
    SEARCH = "search"


class ResponseFormat(StrEnum):
    """How the reply is held to its schema, from the strictest; a server that refuses one is asked the next."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    TEXT = "text"
    NONE = ""
    """The request names no format, whatever the server knows."""

    @property
    def below(self) -> ResponseFormat | None:
        """Try this when the server does not know the format."""
        return {ResponseFormat.SCHEMA: ResponseFormat.OBJECT, ResponseFormat.OBJECT: ResponseFormat.TEXT}.get(self)


@dataclass(frozen=True)
class ItemRef:
    """An insight, key point or point to be judged, by a key that the caller understands."""

    key: str
    text: str


@dataclass(frozen=True)
class SummaryToJudge:
    """A summary as numbered lines (line 1 is `lines[0]`) and the insights to look for in it."""

    key: str
    lines: tuple[str, ...]
    insights: tuple[ItemRef, ...]


@dataclass(frozen=True)
class CoverageVerdict:
    """How much of one insight a summary says, and in which lines; covered exactly when a line is named.

    `score` is the judge's own measure, where it has one; it orders verdicts of one judge, nothing more.
    `probabilities` are those of the three levels, where the judge gives them.
    """

    insight_key: str
    coverage: Coverage
    lines: tuple[int, ...]
    score: float | None = None
    probabilities: Probabilities | None = None


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
    """The texts that say which words are telling in a haystack, and which are common.

    `insights` are all its insights (or all key points of a question set); `texts` are its documents or, where
    there are none, its systems' summaries. Summaries that are being judged do not belong here on their own
    account: a verdict must not depend on what else is in its batch.
    """

    texts: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()

    @cached_property
    def version(self) -> str:
        """Hash of the texts, in any order; part of what a verdict depends on."""
        digest = hashlib.sha256()
        for kind in (self.texts, self.insights):
            for each in sorted(hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in kind):
                digest.update(each)
            digest.update(b"|")
        return digest.hexdigest()

    def with_insights(self, more: Collection[str]) -> Background:
        """The same background, with insights that it does not have yet."""
        new = set(more) - set(self.insights)
        return Background(self.texts, self.insights + tuple(sorted(new))) if new else self


class OfflineJudge(Protocol):
    """A judge that answers without a model, from the texts alone."""

    def judge_coverage(
        self, batch: Sequence[SummaryToJudge], background: Background
    ) -> list[list[CoverageVerdict]]:
        """Judge every insight of summaries of one haystack: one list of verdicts per summary, in order."""
        ...

    def judge_entailment(self, batch: Sequence[EntailmentItem], background: Background) -> list[EntailmentVerdict]:
        """Judge whether responses entail key points, in order."""
        ...

    def judge_support(
        self, points: Sequence[ItemRef], texts: Sequence[str], background: Background
    ) -> list[EntailmentVerdict]:
        """Judge whether any of the texts says each point, in order; `sentence` counts the texts from 1."""
        ...


def digest(*content: object) -> str:
    """Hash what an answer depends on."""
    return hashlib.sha256(json.dumps(content).encode("utf-8", "replace")).hexdigest()
