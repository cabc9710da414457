"""What somebody chooses of a synthesis; defaults are those of the papers. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from extensions.synthesis.checks.lexical import BAND
from extensions.synthesis.question_settings import QuestionSettings
from extensions.synthesis.wording import PROMPTS

SCENARIO = "Articles of newspapers, magazines and newsletters that report on the topic over several months."
CONVERSATIONS = "Conversations, written down word for word, in which people talk about the topic."


class WrongSettings(ValueError):
    """A setting is unknown or out of range; the message names it."""


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
        if problem := self.questions.problem():
            raise WrongSettings(problem)
        if unknown := set(self.prompts) - set(PROMPTS):
            raise WrongSettings(f"There is no prompt {', '.join(sorted(unknown))}.")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read what `as_mapping` wrote.

        Raises:
            WrongSettings: a name is unknown or a value out of range.
        """
        if unknown := set(values) - {each.name for each in fields(cls)}:
            raise WrongSettings(f"unknown: {', '.join(sorted(unknown))}")
        pairs = {name: tuple(values[name]) for name in ("in_document", "band") if name in values}
        try:
            questions = QuestionSettings.from_mapping(values.get("questions", {}))
        except ValueError as error:
            raise WrongSettings(str(error)) from error
        return cls(**{**values, **pairs, "questions": questions})

    def as_mapping(self) -> dict[str, Any]:
        """Plain values, for storing."""
        values = {**asdict(self), "in_document": list(self.in_document), "band": list(self.band)}
        values["questions"] = {
            name: list(value) if isinstance(value, tuple) else value for name, value in values["questions"].items()
        }
        return values
