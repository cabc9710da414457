"""What a model's reply must look like, by prompt; a reply that does not is asked for again with what was wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StringConstraints

from benchmarks.judges.parsing import Problem, read_reply
from benchmarks.scoring.text import same_letters, same_signs

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


class Reply(BaseModel):
    """One object; what else it holds is ignored."""

    model_config = ConfigDict(extra="ignore")

    def wrong(self) -> str:
        """What is wrong with a reply of the right form; empty if nothing is."""
        return ""


class NewSubtopic(Reply):
    """A subtopic as it is proposed."""

    name: Name
    description: Words


class Subtopics(Reply):
    """Proposed subtopics."""

    subtopics: list[NewSubtopic] = Field(min_length=1)


class NewInsight(Reply):
    """An insight as it is proposed."""

    name: Name
    insight: Words


class Insights(Reply):
    """Proposed insights."""

    insights: list[NewInsight] = Field(min_length=1)


class Category(Reply):
    """The number of a subtopic, 0 for none."""

    subtopic: StrictInt = Field(ge=0)


class Overlap(Reply):
    """Numbers of insights that say the same, and of those that are needed to understand one."""

    same: list[StrictInt]
    needed: list[StrictInt]


class NewDocument(Reply):
    """A text with its title."""

    title: Name
    document: Words


class Included(Reply):
    """Whether a text says an insight, and where."""

    present: Literal["yes", "partly", "no"]
    quote: Annotated[str, StringConstraints(strip_whitespace=True)] = ""

    def wrong(self) -> str:
        """An insight that is there has a quote."""
        return "" if self.present == "no" or self.quote else "There is no quote of the words that say it."


class Distinct(Reply):
    """Numbers of subtopics that repeat others, and of those with too little room."""

    overlapping: list[StrictInt]
    narrow: list[StrictInt]


class Chapter(Reply):
    """The next part of a conversation, and a title for all of it."""

    title: Name
    chapter: Words


class Belongs(Reply):
    """The subtopic and the insight that a chapter tells, 0 for none, and where."""

    subtopic: StrictInt = Field(ge=0)
    insight: StrictInt = Field(ge=0)
    quote: Annotated[str, StringConstraints(strip_whitespace=True)] = ""

    def wrong(self) -> str:
        """An insight that is told has a quote."""
        return "" if not self.insight or self.quote else "There is no quote of the words that tell it."


class NewQuery(Reply):
    """A question."""

    query: Words

    def wrong(self) -> str:
        """One question, not a page of it."""
        if not _is_question(self.query):
            return "The query is no question: it has no question mark."
        return "The query has more than 80 words." if len(self.query.split()) > 80 else ""


class ClosedBook(Reply):
    """What a model says without any text; nothing is right too."""

    points: list[Words]


class NewPoint(Reply):
    """A point of a document, and the passage that says it."""

    point: Words
    quote: Words


class Points(Reply):
    """Points of a document, or none."""

    points: list[NewPoint]


class Group(NewInsight):
    """An insight, and the numbers of the points that it is made of."""

    points: list[StrictInt] = Field(min_length=1)


class Grouping(Reply):
    """Points in groups."""

    insights: list[Group] = Field(min_length=1)


class SortedSubtopic(NewSubtopic):
    """A subtopic with its query, and the numbers of its insights."""

    query: Words
    insights: list[StrictInt] = Field(min_length=1)


class Sorting(Reply):
    """Insights in subtopics."""

    subtopics: list[SortedSubtopic] = Field(min_length=1)


class Criterion(Reply):
    """Whether a question meets a criterion."""

    met: StrictBool
    reason: str = ""


class QuestionCategory(Reply):
    """The number of a kind of question, 0 for none."""

    category: StrictInt = Field(ge=0)


class NewQuestion(Reply):
    """A question as it is proposed."""

    question: Words

    def wrong(self) -> str:
        """One question, in one paragraph."""
        if not _is_question(self.question):
            return "It is no question: it has no question mark."
        return "It is more than one paragraph." if "\n" in self.question else ""


class Subquestions(Reply):
    """What to search for: nothing but the question itself where it is simple."""

    kind: Literal["simple", "complex", "vague"]
    questions: list[Words]

    def wrong(self) -> str:
        """A simple one is not split, the others are."""
        n = len(self.questions)
        if self.kind == "simple" and n > 1:
            return "A simple question is not split."
        if self.kind == "complex" and n < 2:
            return "A complex question is split into at least two."
        return "There is no question for a vague one." if self.kind == "vague" and not n else ""


class NewKeyPoint(Reply):
    """A point of an answer, and the passages of a document that say it."""

    point: Words
    passages: list[Words] = Field(min_length=1)


class KeyPoints(Reply):
    """Key points of a document, or none."""

    points: list[NewKeyPoint]


class GeneralPoint(Reply):
    """A statement, and the numbers of the points that it stands for."""

    point: Words
    numbers: list[StrictInt] = Field(min_length=1)


class Aggregation(Reply):
    """Points that were put together."""

    points: list[GeneralPoint] = Field(min_length=1)


def _is_question(text: str) -> bool:
    return any(mark in text for mark in "?؟？")


def no_partition(groups: Sequence[Sequence[int]], n: int) -> str:
    """Why groups do not hold each number from 1 to n exactly once; empty if they do."""
    counts = Counter(number for group in groups for number in group)
    unknown = sorted(number for number in counts if not 1 <= number <= n)
    missing = [number for number in range(1, n + 1) if not counts[number]]
    repeated = sorted(number for number, times in counts.items() if times > 1)
    for words, numbers in (("There is no", unknown), ("Missing:", missing), ("More than once:", repeated)):
        if numbers:
            return f"{words} {', '.join(map(str, numbers[:20]))}. Every number is in exactly one group."
    return ""


def read(text: str, reply: type[Reply]) -> dict[str, Any] | Problem:
    """A reply as plain values, or why it cannot be used."""
    read_text = read_reply(text, reply)
    if isinstance(read_text, Problem):
        return read_text
    if wrong := read_text.wrong():
        return Problem(wrong)
    return read_text.model_dump(mode="json")


@cache
def schema_of(reply: type[Reply]) -> tuple[str, dict[str, Any]]:
    """Name and JSON schema that a strict server holds a reply to; made once for each, not to be changed."""
    return reply.__name__.lower(), _strict(reply.model_json_schema())


_LIMITS = {"minLength", "maxLength", "minItems", "minimum", "default", "title", "description"}
"""What strict servers refuse, and what is read from the prompt."""


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: {name: _strict(each) for name, each in value.items()}
        if key in {"properties", "$defs"}
        else _strict(value)
        for key, value in schema.items()
        if key not in _LIMITS
    }
    if plain.get("type") == "object":
        plain |= {"additionalProperties": False, "required": list(plain.get("properties", {}))}
    return plain


def located(text: str, quote: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, whatever the forms of its signs and its white space; None if it does not."""
    places = same_letters(quote.strip(), text) or same_signs(quote, text)
    return places[0] if places else None
