"""What a model's reply must look like, by prompt; a reply that does not is asked for again with what was wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StringConstraints

from benchmarks.judges.parsing import Problem, read_reply

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


class NewQuery(Reply):
    """A question."""

    query: Words

    def wrong(self) -> str:
        """One question, not a page of it."""
        if "?" not in self.query and "؟" not in self.query and "？" not in self.query:
            return "The query is no question: it has no question mark."
        return "The query has more than 80 words." if len(self.query.split()) > 80 else ""


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
    found = read_reply(text, reply)
    if isinstance(found, Problem):
        return found
    if wrong := found.wrong():
        return Problem(wrong)
    return found.model_dump(mode="json")


def schema_of(reply: type[Reply]) -> tuple[str, dict[str, Any]]:
    """Name and JSON schema that a strict server holds a reply to."""
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


_SPACE = re.compile(r"\s+")


def located(text: str, quote: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, whatever the white space between its words; None if it does not."""
    words = [re.escape(word) for word in _SPACE.split(quote.strip()) if word]
    match = re.search(r"\s+".join(words), text) if words else None
    return match.span() if match else None
