"""Choices of a synthesis, defaults being those of the papers, and draws by them. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self, TypeVar

from benchmarks.io.schemas.long2rag import CATEGORIES, DOMAINS
from extensions.synthesis.checks import BAND
from extensions.synthesis.replies import PROMPTS

Key = TypeVar("Key", bound=Hashable)


class ImpossiblePlan(ValueError):
    """So many insights do not fit so many documents; the message says what would."""


@dataclass(frozen=True)
class Draws:
    """Numbers from 0 to 1 that depend on the seed and a name only, the same in every version of Python."""

    seed: int

    def of(self, *name: object) -> float:
        content = "/".join(map(str, (self.seed, *name)))
        return int.from_bytes(hashlib.sha256(content.encode()).digest()[:7], "big") / 2**56


def plan(
    insights: Sequence[Key], *, n_documents: int, per_document: tuple[int, int], at_least: int, seed: int
) -> list[tuple[Key, ...]]:
    """The insights of each document, in the order in which they are to be told.

    Every insight is in `at_least` documents or more, every document has from `per_document[0]` to
    `per_document[1]` insights, or all where there are fewer.

    Raises:
        ImpossiblePlan: the documents have too little room.
    """
    draws, n = Draws(seed), len(insights)
    least, most = (min(bound, n) for bound in per_document)
    if not n:
        raise ImpossiblePlan("There is no insight to plan with.")
    check_room(n, n_documents=n_documents, most=most, at_least=at_least)
    room = _sizes(draws, n_documents=n_documents, least=least, most=most, needed=n * at_least)
    held: list[list[int]] = [[] for _ in range(n_documents)]

    def put(insight: int, document: int) -> None:
        held[document].append(insight)
        room[document] -= 1

    for insight in sorted(range(n), key=lambda i: draws.of("insight", i)):
        fullest = sorted(range(n_documents), key=lambda d: (-room[d], draws.of("place", insight, d)))
        for document in fullest[:at_least]:
            put(insight, document)
    for document in range(n_documents):
        others = sorted(set(range(n)) - set(held[document]), key=lambda i: draws.of("rest", document, i))
        for insight in others[: room[document]]:
            put(insight, document)
    return [
        tuple(insights[i] for i in sorted(chosen, key=lambda i: draws.of("order", document, i)))
        for document, chosen in enumerate(held)
    ]


def check_room(n: int, *, n_documents: int, most: int, at_least: int) -> None:
    """Whether so many insights fit.

    Raises:
        ImpossiblePlan: they do not.
    """
    if at_least > n_documents or n * at_least > n_documents * most:
        raise ImpossiblePlan(
            f"{n} insights in at least {at_least} documents each need {n * at_least} places; "
            f"{n_documents} documents of at most {most} insights have {n_documents * most}."
        )


def _sizes(draws: Draws, *, n_documents: int, least: int, most: int, needed: int) -> list[int]:
    """How many insights each document has: drawn evenly, then raised one by one until all that is needed fits."""
    sizes = [least + int(draws.of("size", d) * (most - least + 1)) for d in range(n_documents)]
    raised = 0
    while sum(sizes) < needed:
        small = [d for d in range(n_documents) if sizes[d] < most]
        sizes[min(small, key=lambda d: (sizes[d], draws.of("raise", raised, d)))] += 1
        raised += 1
    return sizes


SCENARIO = "Articles of newspapers, magazines and newsletters that report on the topic over several months."
CONVERSATIONS = "Conversations, written down word for word, in which people talk about the topic."


class WrongSettings(ValueError):
    """A setting is unknown or out of range; the message names it."""


def _known(cls: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values as a class of settings takes them; raises `WrongSettings` where a name is unknown."""
    if unknown := set(values) - {each.name for each in fields(cls)}:
        raise WrongSettings(f"unknown: {', '.join(sorted(unknown))}")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


@dataclass(frozen=True)
class QuestionSettings:
    """How many of what, and where documents come from.

    Of a file the `seeds` questions with the longest answers are scored, those that meet `criteria_least` of the
    five criteria are kept, and `picked` of each category go on. Each category has `per_cell` questions in each
    domain; `deeper_share` of those that are asked for are seeds made harder, with `deeper_words` more words, the
    others new ones whose length differs by `wider_words` at most. A question has `subquestions` at most, each
    search gives `results`, and the best `documents` of them are kept; a rerank model at `rerank_url` says which,
    else BM25. A key point needs an AutoDS score of `autods_from`; 0 asks for no scores.
    """

    seeds: int = 3000
    criteria_least: int = 4
    categories: tuple[str, ...] = CATEGORIES
    picked: int = 12
    domains: tuple[str, ...] = DOMAINS
    per_cell: int = 7
    deeper_share: float = 0.5
    deeper_words: tuple[int, int] = (10, 20)
    wider_words: int = 10
    subquestions: int = 8
    results: int = 5
    documents: int = 5
    rerank_url: str = ""
    rerank_model: str = ""
    autods_from: float = 0.7
    language: str = "en"

    def __post_init__(self) -> None:
        for name in ("seeds", "picked", "per_cell", "subquestions", "results", "documents"):
            if getattr(self, name) < 1:
                raise WrongSettings(f"{name} is 1 or more.")
        for name in ("categories", "domains"):
            values = getattr(self, name)
            if not values or len({value.casefold() for value in values}) < len(values) or not all(values):
                raise WrongSettings(f"{name} are at least one name, each once.")
            if any(len(value) > 60 for value in values):
                raise WrongSettings(f"{name} have 60 characters at most.")
        if not 0 <= self.criteria_least <= 5:
            raise WrongSettings("criteria_least is from 0 to 5.")
        if not 0 <= self.deeper_share <= 1 or not 0 <= self.autods_from <= 1:
            raise WrongSettings("deeper_share and autods_from are from 0 to 1.")
        if not 0 <= self.deeper_words[0] <= self.deeper_words[1] or self.wider_words < 0:
            raise WrongSettings("deeper_words are two numbers in this order, wider_words one, none below 0.")
        if bool(self.rerank_url) != bool(self.rerank_model):
            raise WrongSettings("rerank_url and rerank_model go together.")


@dataclass(frozen=True)
class Settings:
    """How many of what; `insights` are asked for in each subtopic and `insights_least` needed.

    `in_document` bounds the insights of a document, each of which is in `in_documents` documents or more. A list
    is asked for in `rounds` at most, a text repaired `repairs` times, a chapter of a conversation written `tries`
    times. Pairs that words score between the ends of `band` are checked by the model, and `audit` of those below
    it, or `all_pairs`. From about `probes` documents the evidence of an insight is taken out, to see whether the
    checks notice. `prompts` replace wordings by name. `questions` are for questions with key points alone.
    """

    scenario: str = SCENARIO
    participants: str = ""
    subtopics: int = 10
    subtopics_least: int = 10
    insights: int = 9
    insights_least: int = 3
    documents: int = 100
    words: int = 750
    in_document: tuple[int, int] = (3, 8)
    in_documents: int = 5
    rounds: int = 3
    repairs: int = 5
    tries: int = 10
    band: tuple[float, float] = BAND
    audit: int = 100
    all_pairs: bool = False
    probes: int = 20
    prompts: Mapping[str, str] = field(default_factory=dict)
    questions: QuestionSettings = field(default_factory=QuestionSettings)

    def __post_init__(self) -> None:
        for name in ("subtopics", "insights", "documents", "words", "in_documents", "rounds", "tries"):
            if getattr(self, name) < 1:
                raise WrongSettings(f"{name} is 1 or more.")
        if min(self.repairs, self.audit, self.probes) < 0:
            raise WrongSettings("repairs, audit and probes are 0 or more.")
        if not 1 <= self.in_document[0] <= self.in_document[1]:
            raise WrongSettings("in_document are two numbers from 1, in this order.")
        if not 0 <= self.band[0] <= self.band[1] <= 1:
            raise WrongSettings("band are two scores from 0 to 1, in this order.")
        for name, most in (("subtopics_least", self.subtopics), ("insights_least", self.insights)):
            if not 1 <= getattr(self, name) <= most:
                raise WrongSettings(f"{name} is from 1 to {most}.")
        if unknown := set(self.prompts) - set(PROMPTS):
            raise WrongSettings(f"There is no prompt {', '.join(sorted(unknown))}.")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read what `as_mapping` wrote.

        Raises:
            WrongSettings: a name is unknown or a value out of range.
        """
        questions = QuestionSettings(**_known(QuestionSettings, values.get("questions", {})))
        return cls(**_known(cls, values) | {"questions": questions})

    def as_mapping(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return values
