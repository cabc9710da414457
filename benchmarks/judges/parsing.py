"""What a model's reply says, checked strictly; nothing is guessed but where the JSON begins and ends.

A reply that cannot be used comes back as a `Problem` whose words go into the one repair attempt. A task says
what its replies look like: a pydantic model for `read_reply`, or a `LabelReply` for labels and the passages that
show them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, StrictInt, ValidationError, field_validator

from benchmarks.judges.cleaning import MOST_CHARACTERS, clean

MOST_STARTS = 50
"""Places in a text where an object is looked for."""
_START = re.compile(r"\{(?=\s*+[\"}])")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Problem:
    """Why a reply, or its answer on one item, cannot be used."""

    reason: str


@dataclass(frozen=True)
class LabelAnswer:
    """The label of an item, and the numbers of the passages that show it."""

    key: str
    label: str
    numbers: tuple[int, ...] = ()


class LabelReply(BaseModel):
    """The reply on one item: a label and numbers of passages, under names that the task gives them."""

    model_config = ConfigDict(extra="ignore")

    name: ClassVar[str]
    """The name of the schema."""
    item: ClassVar[str]
    """What an item is called where a reply is about several."""
    passage: ClassVar[str]
    labels: ClassVar[tuple[str, ...]]

    label: str
    numbers: list[StrictInt]

    @field_validator("label", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return value.strip().lower() if isinstance(value, str) else value

    @classmethod
    def contradiction(cls, label: str, numbers: Sequence[int]) -> str:
        """What is wrong with a label beside these numbers; empty if nothing is."""
        return ""

    @classmethod
    def schema_of(cls, n_items: int | None) -> dict[str, Any]:
        """The JSON schema that a strict server holds the reply to; None for one item alone."""
        verdict: dict[str, Any] = {
            cls.model_fields["label"].alias or "label": {"type": "string", "enum": list(cls.labels)},
            cls.model_fields["numbers"].alias or "numbers": {"type": "array", "items": {"type": "integer"}},
        }
        if n_items is None:
            return strict_object(verdict)
        numbers = {"type": "integer", "enum": list(range(1, n_items + 1))}
        rows = {"type": "array", "items": strict_object({cls.item: numbers, **verdict})}
        return strict_object({"verdicts": rows})


M = TypeVar("M", bound=BaseModel)


def strict_object(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def extract_json(text: str) -> Any:
    """The first JSON object in a text: alone, in a code fence, or between other words; fit for storing.

    The work is linear in the text: a JSON parser reads on from `MOST_STARTS` places at most, each time once.

    Raises:
        ValueError: there is none that is complete.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"more than {MOST_CHARACTERS:,} characters")
    for candidate in (text, _fenced(text)):
        with suppress(ValueError, RecursionError):
            return clean(json.loads(candidate))
    for match in islice(_START.finditer(text), MOST_STARTS):
        with suppress(ValueError, RecursionError):
            return clean(_DECODER.raw_decode(text, match.start())[0])
    raise ValueError("no complete JSON object")


def _fenced(text: str) -> str:
    """What stands in the first code fence."""
    _before, _fence, rest = text.partition("```")
    inner, closing, _after = rest.partition("```")
    return inner.removeprefix("json").removeprefix("JSON").strip() if closing else ""


def read_reply(text: str, model: type[M]) -> M | Problem:
    """Read a reply that holds one object of this model."""
    try:
        return model.model_validate(extract_json(text))
    except ValidationError as error:
        return Problem(_first_error(error))
    except ValueError as error:
        return Problem(f"The reply holds {error}.")


def read_labels(
    text: str, model: type[LabelReply], *, keys: Sequence[str], numbers: Collection[int], several: bool
) -> dict[str, LabelAnswer | Problem]:
    """Read the reply on one item, or on several that are counted from 1; each is usable or not on its own.

    `numbers` are those of the passages.
    """
    if not several:
        reply = read_reply(text, model)
        return {keys[0]: reply if isinstance(reply, Problem) else _checked(reply, keys[0], numbers)}
    try:
        parsed = extract_json(text)
    except ValueError as error:
        return dict.fromkeys(keys, Problem(f"The reply holds {error}."))
    rows = parsed.get("verdicts") if isinstance(parsed, dict) else parsed
    if not isinstance(rows, list):
        return dict.fromkeys(keys, Problem("The reply has no list “verdicts”."))
    numbered = [row for row in rows if isinstance(row, dict) and type(row.get(model.item)) is int]
    times = Counter(row[model.item] for row in numbered)
    by_number = {row[model.item]: row for row in numbered}
    read: dict[str, LabelAnswer | Problem] = {}
    for n, key in enumerate(keys, 1):
        name = f"{model.item.capitalize()} {n}"
        if times[n] != 1:
            read[key] = Problem(f"{name} has {times[n]} verdicts; it must have one.")
            continue
        try:
            read[key] = _checked(model.model_validate(by_number[n]), key, numbers)
        except ValidationError as error:
            read[key] = Problem(f"{name}: {_first_error(error)}")
    return read


def _checked(reply: LabelReply, key: str, numbers: Collection[int]) -> LabelAnswer | Problem:
    """Every passage that is named is there, and the label goes with them."""
    named = tuple(sorted(set(reply.numbers)))
    if unknown := [number for number in named if number not in numbers]:
        return Problem(f"There is no {reply.passage} {', '.join(map(str, unknown[:5]))}.")
    if wrong := reply.contradiction(reply.label, named):
        return Problem(wrong)
    return LabelAnswer(key, str(reply.label), named)


def _first_error(error: ValidationError) -> str:
    """What is wrong first, and where."""
    first = error.errors(include_url=False, include_input=False)[0]
    location = ".".join(str(part) for part in first["loc"]) or "the reply"
    return f"{location}: {first['msg']}."
