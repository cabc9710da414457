"""Programs of parts: what models are asked to make one, and how far it is. Pure: replies in, next questions out.

A program is a generator over the world, the part and the replies that are there; it ends where one is missing. So
whoever is killed goes on with the same questions, and the same replies give the same parts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Any, TypeVar

from rapidfuzz import fuzz

from benchmarks.judges.base import Background
from benchmarks.judges.lexical import LexicalJudge
from benchmarks.judges.lexical_terms import sentences
from benchmarks.judges.parsing import Problem
from extensions.synthesis.replies import Reply, read
from extensions.synthesis.settings import Settings

T = TypeVar("T")
Value = dict[str, Any]
Replies = Mapping[str, Value | None]
"""Replies by what was asked, as they were read; None for those that could not be used."""
UNUSABLE = "the reply could not be used"
UNCHECKED, UNWRITTEN = "could not be checked", "could not be written"
SAME = "says the same as another"
SAME_FROM = 90.0
"""Share of common words from which two proposals count as one; what is less alike is for a check or a person."""


@dataclass(frozen=True)
class Piece:
    """A part as programs see it; `parent` is the number of its subtopic."""

    key: int
    number: int
    title: str
    text: str
    parent: int = 0

    @property
    def full(self) -> str:
        return f"{self.title}: {self.text}" if self.title and self.text else self.title or self.text


@dataclass(frozen=True)
class World:
    """The topic of a synthesis and its parts so far; subtopics and insights are those that stand, in order.

    `points` are those of documents of one's own, by document, `ideas` are texts that may give
    ideas. Conversations are written `in_chapters`.
    """

    topic: str
    settings: Settings
    seed: int
    subtopics: Sequence[Piece] = ()
    insights: Sequence[Piece] = ()
    points: Sequence[str] = ()
    ideas: Sequence[str] = ()
    in_chapters: bool = False


@dataclass(frozen=True)
class Child:
    """A part that another one brought up; `parent` is the number of its subtopic, 0 for the other one itself.

    `key` is what it was asked by, where that is kept, and `data` what is known of it.
    """

    title: str
    text: str
    parent: int = 0
    key: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """A list that is asked for: `n` more than what is there, which it does not repeat; `parent` as in `Child`."""

    n: int
    there: Sequence[Child] = ()
    parent: int = 0


@dataclass(frozen=True)
class Task:
    """A part that is being made: what it is, what it is to hold, and what somebody asked for.

    `more` are lists that somebody asked for when the first came out short. `question` is what documents and key
    points are about; `domain`, `seeds` and `method` say what a question is made of, `points` are what is to be put
    together, and `flags` what an earlier step found.
    """

    piece: Piece
    holds: Sequence[Piece] = ()
    parent: Piece | None = None
    category: str = ""
    note: str = ""
    before: str = ""
    more: Sequence[Wanted] = ()
    question: str = ""
    domain: str = ""
    seeds: Sequence[Piece] = ()
    method: str = ""
    points: Sequence[str] = ()
    flags: Sequence[str] = ()


@dataclass(frozen=True)
class Ask:
    """One question: its name on this part, the wording with its fields, and what the reply must be.

    `wrong` says what is wrong with a reply of the right form. A check is asked at temperature 0.
    """

    key: str
    prompt: str
    fields: Mapping[str, str]
    reply: type[Reply]
    wrong: Callable[[Value], str] = lambda value: ""
    is_check: bool = False
    n_words: int = 60

    def read(self, text: str) -> Value | Problem:
        """Read a reply, or say why it cannot be used."""
        value = read(text, self.reply)
        if isinstance(value, Problem):
            return value
        return Problem(reason) if (reason := self.wrong(value)) else value


@dataclass(frozen=True)
class Progress:
    """How far a part is: what is asked next, or nothing when it is finished.

    `flags` are what its checks found, `dropped` why proposals were not taken.
    """

    asks: Sequence[Ask] = ()
    title: str = ""
    text: str = ""
    flags: Sequence[str] = ()
    children: Sequence[Child] = ()
    dropped: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_finished(self) -> bool:
        return not self.asks


Making = Generator[Progress, None, T]
"""Ends at the first progress that it yields, or with what it returns."""
Program = Callable[[World, Task, Replies], Progress]
"""How parts of a kind are made: what follows from these replies."""


def program(steps: Callable[[World, Task, Replies], Making[Progress]]) -> Program:
    @wraps(steps)
    def run(world: World, task: Task, replies: Replies) -> Progress:
        making = steps(world, task, replies)
        try:
            return next(making)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    return run


def replies_to(replies: Replies, asks: Iterable[Ask], **so_far: Any) -> Making[list[Value | None]]:
    """The replies to questions that are sent side by side; where some are missing, what there is `so_far`."""
    every = list(asks)
    if waiting := [ask for ask in every if ask.key not in replies]:
        yield Progress(asks=waiting, **so_far)
    return [replies[ask.key] for ask in every]


def reply_to(replies: Replies, ask: Ask, **so_far: Any) -> Making[Value | None]:
    [value] = yield from replies_to(replies, [ask], **so_far)
    return value


def usable(world: World, replies: Replies, name: str, ask: Callable[[str], Ask]) -> Making[Value | None]:
    """The first reply that can be used, in rounds, each a question under a key that begins so; None after all."""
    for number in range(world.settings.rounds):
        if (value := (yield from reply_to(replies, ask(f"{name}-{number}")))) is not None:
            return value
    return None


def digest(*texts: str) -> str:
    """A name of texts: other ones are another question."""
    return hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()[:16]


def alike(text: str, others: Sequence[str]) -> tuple[float, int]:
    """(how much of its words the closest of other texts shares, 0 to 100, and its position, −1 without one)."""
    scores = [fuzz.token_set_ratio(text.casefold(), other.casefold()) for other in others]
    best = max(range(len(scores)), key=scores.__getitem__, default=-1)
    return (scores[best], best) if scores else (0.0, -1)


@lru_cache(maxsize=256)
def closest(document: str, insights: tuple[str, ...]) -> tuple[tuple[float, str], ...]:
    """(score, sentence) of the sentence of a document that is closest to each insight, by words."""
    lines = sentences(document)
    if not lines:
        return tuple((0.0, "") for _ in insights)
    scores = LexicalJudge().similarities(insights, lines, Background(insights=insights))
    best = scores.argmax(axis=1)
    return tuple((float(row[at]), lines[at]) for row, at in zip(scores, best.tolist(), strict=True))
