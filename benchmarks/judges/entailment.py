"""What a model is asked about responses: the points they make, and whether a text says a point.

Plain data, no database and no network, as in `questions`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.judges.entailment_parsing import (
    EntailmentAnswer,
    PointsAnswer,
    entailment_schema,
    points_schema,
    read_all,
    read_one,
    read_points,
)
from benchmarks.judges.parsing import Problem
from benchmarks.judges.questions import (
    NO_OVERRIDES,
    TOKENS_OF_A_VERDICT,
    TOKENS_PER_WORD,
    Repair,
    repair_of,
)

LIMITS_OF_EXTRACTION = 5
"""How many times the limit of one verdict a list of points may be long."""
_HEADS = {
    "response": ("Answer:", "Key point:", "Key points:"),
    "documents": ("Passages:", "Point:", "Points:"),
    "key_points": ("Passages:", "Point:", "Points:"),
}


@dataclass(frozen=True)
class PointRef:
    """A point, by a key that the caller understands."""

    key: str
    text: str


@dataclass(frozen=True)
class Passages:
    """Numbered texts that may say a point: sentences of the response, passages of documents, or key points.

    `places` has where each comes from (the number of its document or key point); `n_all` how many there were
    before they were cut to the most relevant.
    """

    texts: tuple[str, ...]
    places: tuple[int, ...] = ()
    n_all: int = 0

    @property
    def numbers(self) -> range:
        """From 1."""
        return range(1, len(self.texts) + 1)


@dataclass(frozen=True)
class EntailmentQuestion:
    """One call: passages, and the points that they may say, one or all. `premise` says what the passages are."""

    subject_key: str
    premise: str
    passages: Passages
    points: tuple[PointRef, ...]
    protocol: str
    prompt_sha256: str = ""
    repeat: int = 0
    repair: Repair | None = None
    overrides = NO_OVERRIDES

    @property
    def task(self) -> str:
        """Whose prompt it has."""
        return "recall" if self.premise == "response" else "support"

    @property
    def keys(self) -> tuple[str, ...]:
        """The points, by key."""
        return tuple(point.key for point in self.points)

    @property
    def n_limits(self) -> int:
        """One for each verdict in the reply."""
        return len(self.points) if self.protocol == "all" else 1

    @property
    def n_verdicts(self) -> int:
        """One for each point."""
        return len(self.points)

    def input_of(self, key: str) -> str:
        """Hash of what the verdict on a point is about: passages, point and wording."""
        asked = [point.text for point in self.points if point.key == key]
        return _digest(self.premise, self.passages.texts, asked, self.prompt_sha256)

    def user_text(self) -> str:
        """Passages first, what is asked last, so that a server can reuse what calls on one response share."""
        given, one, several = _HEADS[self.premise]
        said = "\n".join(f"[{n}] {text}" for n, text in enumerate(self.passages.texts, 1)) or "(none)"
        if self.protocol == "one":
            return f"{given}\n{said}\n{one}\n{self.points[0].text}\nReply:"
        asked = "\n".join(f"({n}) {point.text}" for n, point in enumerate(self.points, 1))
        return f"{given}\n{said}\n{several}\n{asked}\nReply:"

    def shape(self) -> tuple[str, dict[str, Any]]:
        """Name and schema of the reply."""
        return "entailment", entailment_schema(protocol=self.protocol, n_points=len(self.points))

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, EntailmentAnswer | Problem]:
        """What the reply says on every point, by its key."""
        if self.protocol == "one":
            key = self.points[0].key
            return {key: read_one(reply, key=key, numbers=self.passages.numbers)}
        return read_all(reply, keys=self.keys, numbers=self.passages.numbers)

    def repaired(self, *, reply: str, answers: Mapping[str, Any], longer: bool) -> EntailmentQuestion | None:
        """The question asked again with what was wrong; None if nothing was, or it was repaired before."""
        repair = repair_of(self, reply=reply, answers=answers, longer=longer)
        return replace(self, repair=repair) if repair else None


@dataclass(frozen=True)
class ExtractionQuestion:
    """One call: a response, to be taken apart into points."""

    subject_key: str
    question: str
    response: str
    prompt_sha256: str = ""
    repeat: int = 0
    repair: Repair | None = None
    task = "extraction"
    overrides = NO_OVERRIDES

    @property
    def keys(self) -> tuple[str, ...]:
        """The response."""
        return (self.subject_key,)

    @property
    def n_limits(self) -> int:
        """A list of points is longer than a verdict."""
        return LIMITS_OF_EXTRACTION

    @property
    def n_verdicts(self) -> int:
        """Points repeat about what the response says."""
        return max(1, round(len(self.response.split()) * TOKENS_PER_WORD / TOKENS_OF_A_VERDICT))

    def input_of(self, key: str) -> str:
        """Hash of what is taken apart, and of the wording."""
        return _digest("extraction", self.question, self.response, self.prompt_sha256)

    def user_text(self) -> str:
        """The question says what the answer's words refer to."""
        return f"Question:\n{self.question}\nAnswer:\n{self.response}\nReply:"

    def shape(self) -> tuple[str, dict[str, Any]]:
        """Name and schema of the reply."""
        return "points", points_schema()

    def read(self, reply: str, raw: Mapping[str, Any]) -> Mapping[str, PointsAnswer | Problem]:
        """The points."""
        return {self.subject_key: read_points(reply, key=self.subject_key)}

    def repaired(self, *, reply: str, answers: Mapping[str, Any], longer: bool) -> ExtractionQuestion | None:
        """The question asked again with what was wrong; None if nothing was, or it was repaired before."""
        repair = repair_of(self, reply=reply, answers=answers, longer=longer)
        return replace(self, repair=repair) if repair else None


def entailment_questions(
    *,
    subject_key: str,
    premise: str,
    passages: Passages,
    points: Sequence[PointRef],
    protocol: str,
    prompt_sha256: str,
    lacking: Mapping[int, set[str]],
) -> Iterator[EntailmentQuestion]:
    """The calls that are lacking, by {repeat: keys of points}; with all in one call, one lacking asks for all."""
    for repeat, keys in lacking.items():
        wanted = tuple(point for point in points if point.key in keys)
        groups = [tuple(points)] if protocol == "all" and wanted else [(point,) for point in wanted]
        for group in groups:
            yield EntailmentQuestion(subject_key, premise, passages, group, protocol, prompt_sha256, repeat)


def _digest(*content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode("utf-8", "replace")).hexdigest()
