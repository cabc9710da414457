"""Questions to models, a file of `prompts/` each, and the form of their replies. Pure.

A reply that does not is asked for again with what was wrong.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StringConstraints, create_model

from benchmarks.judges.parsing import Problem, read_reply
from benchmarks.scoring.text import same_letters, same_signs

_FOLDER = Path(__file__).resolve().parent / "prompts"
_FIELD = re.compile(r"\{([a-z]+)\}")
PROMPTS = (
    *("subtopics", "insights", "insight_again", "category", "overlap", "document", "repair", "included", "query"),
    *("distinct", "chapter", "belongs", "closed_book", "points", "grouping", "sorting", "criterion"),
    *("category_of_question", "wider", "deeper", "subquestions", "key_points", "aggregation"),
)
"""The names of all wordings."""
PROMPTS_OF_HAYSTACKS = PROMPTS[: PROMPTS.index("points")]
PROMPTS_OF_QUESTIONS = PROMPTS[PROMPTS.index("criterion") :]


@cache
def default_prompt(name: str) -> str:
    """A wording by its name; FileNotFoundError if there is none."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def filled(prompt: str, fields: Mapping[str, str]) -> str:
    """A wording with its fields, each once: braces in what is filled in stay as they are, unknown ones too."""
    return _FIELD.sub(lambda match: fields.get(match[1], match[0]), prompt)


def prompt_sha256(prompt: str) -> str:
    """Hash of a wording before it is filled."""
    return hashlib.sha256(prompt.encode()).hexdigest()


def inspiring(documents: Sequence[str]) -> str:
    """Documents that give ideas, as the field of a wording; empty without any."""
    if not documents:
        return ""
    texts = "\n\n".join(f"[{n}] {text}" for n, text in enumerate(documents, 1))
    return (
        "These documents may give you ideas. Take no name, number or date from them, so that nobody can know the "
        f"answers from elsewhere:\n\n{texts}\n\n"
    )


def numbered(lines: Sequence[str]) -> str:
    """Lines with their numbers from 1."""
    return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1)) or "(none)"


Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Quote = Annotated[str, StringConstraints(strip_whitespace=True)]
Number = Annotated[StrictInt, Field(ge=0)]
"""Of something that is listed, 0 for none."""
T = TypeVar("T")
Some = Annotated[list[T], Field(min_length=1)]


class Reply(BaseModel):
    """One object; what else it holds is ignored."""

    model_config = ConfigDict(extra="ignore")

    def wrong(self) -> str:
        """The fault of a reply of the right form; empty if there is none."""
        return ""


class Included(Reply):
    """Whether a text says an insight, and where."""

    present: Literal["yes", "partly", "no"]
    quote: Quote = ""

    def wrong(self) -> str:
        """An insight that is there has a quote."""
        return "" if self.present == "no" or self.quote else "There is no quote of the words that say it."


class Belongs(Reply):
    """The subtopic and the insight that a chapter tells, and where."""

    subtopic: Number
    insight: Number
    quote: Quote = ""

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


class NewQuestion(Reply):
    """A question as it is proposed."""

    question: Words

    def wrong(self) -> str:
        """One question, in one paragraph."""
        if not _is_question(self.question):
            return "It is no question: it has no question mark."
        return "It is more than one paragraph." if "\n" in self.question else ""


class Subquestions(Reply):
    """Queries to search for: nothing but the question itself where it is simple."""

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


def _reply(name: str, /, **fields: Any) -> Any:
    """A reply with fields that are all there; nothing else can be wrong with it."""
    required: dict[str, Any] = {field: (type_, ...) for field, type_ in fields.items()}
    return create_model(name, __base__=Reply, **required)


def _rows(name: str, rows: str, reply: type[Reply], *, least: int = 0) -> Any:
    """A list of replies, under a name."""
    of_rows: Any = GenericAlias(list, (reply,))
    return _reply(name, **{rows: Annotated[of_rows, Field(min_length=least)]})


# Haystacks from a topic
NewSubtopic = _reply("NewSubtopic", name=Name, description=Words)
Subtopics = _rows("Subtopics", "subtopics", NewSubtopic, least=1)
Distinct = _reply("Distinct", overlapping=list[StrictInt], narrow=list[StrictInt])
NewInsight = _reply("NewInsight", name=Name, insight=Words)
Insights = _rows("Insights", "insights", NewInsight, least=1)
Category = _reply("Category", subtopic=Number)
Overlap = _reply("Overlap", same=list[StrictInt], needed=list[StrictInt])
NewDocument = _reply("NewDocument", title=Name, document=Words)
Chapter = _reply("Chapter", title=Name, chapter=Words)
ClosedBook = _reply("ClosedBook", points=list[Words])

# Documents of one's own: points with their passages, points in insights, insights in subtopics
NewPoint = _reply("NewPoint", point=Words, quote=Words)
Points = _rows("Points", "points", NewPoint)
Group = _reply("Group", name=Name, insight=Words, points=Some[StrictInt])
Grouping = _rows("Grouping", "insights", Group, least=1)
SortedSubtopic = _reply("SortedSubtopic", name=Name, description=Words, query=Words, insights=Some[StrictInt])
Sorting = _rows("Sorting", "subtopics", SortedSubtopic, least=1)

# Questions: criteria that a seed meets, key points with their passages, points put together by their numbers
Criterion = create_model("Criterion", __base__=Reply, met=(StrictBool, ...), reason=(str, ""))
QuestionCategory = _reply("QuestionCategory", category=Number)
NewKeyPoint = _reply("NewKeyPoint", point=Words, passages=Some[Words])
KeyPoints = _rows("KeyPoints", "points", NewKeyPoint)
GeneralPoint = _reply("GeneralPoint", point=Words, numbers=Some[StrictInt])
Aggregation = _rows("Aggregation", "points", GeneralPoint, least=1)


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
"""Refused by strict servers, and read from the prompt."""


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
