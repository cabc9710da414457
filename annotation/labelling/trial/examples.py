"""The worked examples of a kind of label work, from a file beside it, and what a kind says of its own.

An example is of no corpus and in no table: a kind makes rows of it that are not stored, so that its page shows
them as it shows an item. A file has sets of examples; the second try gets the second set.
"""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import NAMESPACE_URL, UUID, uuid5

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.labelling.recording import Answer as AnyAnswer
from annotation.labelling.recording import AnswerKind
from annotation.labelling.trial.schema import OwnSet
from annotation.models import LabelItem, LabelTask, Study, TrialExamples
from annotation.pane import Pane
from annotation.studies.guidelines import in_active_language

A = TypeVar("A", bound=AnyAnswer)


@dataclass(frozen=True, slots=True)
class Example:
    """One page of a trial: its own values, and `shared` with the others of its set (a question, documents)."""

    name: str
    values: Mapping[str, Any]
    shared: Mapping[str, Any]
    language: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What comes of an answer to one question of an example: right or not, and the sentence that says why."""

    question: str
    is_right: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class ExampleAnswers(Generic[A]):
    """What somebody answered to an example: the answer to each question, and what came of it."""

    answers: Mapping[str, A] = field(default_factory=dict)
    feedback: Mapping[str, str] = field(default_factory=dict)


class TrialKind(ABC, Generic[A]):
    """The examples of one kind of label work: how they are made into items and how answers are judged.

    `file` is TOML, with a translation beside it (`trial.de.toml`) that has the same examples in the same order.
    """

    file: Path
    answers: AnswerKind[A]
    schema: type[OwnSet]
    """What a set of examples of a study's own has."""

    def sets(self, custom: TrialExamples | None = None) -> Sequence[Sequence[Example]]:
        """The examples of each try in the active language; after the last set the first comes again.

        Those of a study's own come first, in the language in which they were written.
        """
        built_in = _sets(in_active_language(self.file), get_language() or "en")
        if custom is None or not custom.body:
            return built_in
        of_study = _sets_in(custom.body, custom.set_aside)
        return of_study if of_study and custom.replaces else (*of_study, *built_in)

    def examples(self, number: int, custom: TrialExamples | None = None) -> Sequence[Example]:
        """The examples of a try by its number, from 1."""
        sets = self.sets(custom)
        return sets[(number - 1) % len(sets)]

    def n_asked(self, number: int, custom: TrialExamples | None = None) -> int:
        """How many answers a try asks for."""
        return sum(len(self.questions(example)) for example in self.examples(number, custom))

    @abstractmethod
    def texts(self, example: Example) -> Iterable[str]:
        """What of an example must not be in an item of the study."""

    @abstractmethod
    def texts_of_items(self, study: Study) -> Iterable[str]:
        """The same of all items of a study."""

    def questions(self, example: Example) -> Sequence[str]:
        """The names of what an example asks; a single empty one where it asks one thing."""
        return ("",)

    @abstractmethod
    def item(self, example: Example) -> LabelItem:
        """The example as an item that is not stored."""

    @abstractmethod
    def context(self, task: LabelTask, example: Example, answers: ExampleAnswers[A]) -> dict[str, Any]:
        """What the template of the kind shows of it, as `TaskPage.page_context` gives for an item."""

    def pane(self, context: dict[str, Any]) -> Pane | None:
        """Texts to put in place of the page's marker."""
        return None

    @abstractmethod
    def judged(self, task: LabelTask, example: Example, question: str, answer: A) -> list[Judged]:
        """What comes of a complete answer."""

    def restored(self, values: Mapping[str, Any]) -> A:
        """The answer of stored values."""
        kind: Any = type(self.answers.answer_of(None))
        return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})  # type: ignore[no-any-return]


def sentence(*, is_right: bool, expected: str, why: str) -> str:
    """What somebody reads about an answer: right or not, the expected answer, and the reason."""
    verdict = _("Right.") if is_right else _("Not quite.")
    told = _("Expected answer: %(answer)s.") % {"answer": expected}
    return f"{verdict} {told} {why}"


def uid_of(example: Example, name: object) -> UUID:
    """The public id of a part of an example, the same in every process."""
    return uuid5(NAMESPACE_URL, f"trial/{example.name}/{name}")


@lru_cache(maxsize=32)
def _sets(path: Path, language: str) -> tuple[tuple[Example, ...], ...]:
    return examples_of(
        tomllib.loads(path.read_text(encoding="utf-8")), language.split("-")[0] if path.suffixes[:-1] else "en"
    )


@lru_cache(maxsize=32)
def _sets_in(body: str, set_aside: str) -> tuple[tuple[Example, ...], ...]:
    left_out = set(set_aside.split())
    sets = (
        tuple(example for place, example in placed if place not in left_out)
        for placed in places_of(examples_of(tomllib.loads(body)))
    )
    return tuple(filter(None, sets))


def places_of(sets: Sequence[Sequence[Example]]) -> list[list[tuple[str, Example]]]:
    """Each example with its place, as set.number."""
    return [[(f"{s}.{n}", each) for n, each in enumerate(part, 1)] for s, part in enumerate(sets, 1)]


def examples_of(read: Mapping[str, Any], language: str = "en") -> tuple[tuple[Example, ...], ...]:
    """The sets of a file that was read and checked; an example without a name is called by its place."""
    made = []
    for number, each in enumerate(read["set"], 1):
        shared = {name: value for name, value in each.items() if name != "item"}
        items = (
            Example(item.get("name") or f"own {number}.{n}", item, shared, read.get("language", language))
            for n, item in enumerate(each["item"], 1)
        )
        made.append(tuple(items))
    return tuple(made)
