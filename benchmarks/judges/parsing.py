"""Replies of models, checked strictly; nothing is guessed but where the JSON begins and ends.

A reply that cannot be used comes back as a `Problem` whose words go into the one repair attempt; so does one that
gives two different answers. A task says what its replies look like: a pydantic model for `read_reply`, or a
`LabelReply` for labels and the passages that show them.

What a server sends is made fit for storing first. Databases refuse NUL and halves of surrogate pairs in text,
numbers that are not finite, and deep nesting: they are replaced, with a note of it.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, StrictInt, ValidationError, field_validator

MOST_BYTES = 1_000_000
"""The longest answer of a server that is read."""
MOST_CHARACTERS = 100_000
"""The longest text in it that is read and kept; what follows is cut off."""
MOST_LEVELS = 40
NOTE = "summhay_cleaned"
"""Where a stored answer says what was done to it."""
_REFUSED = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    return _REFUSED.sub(_REPLACEMENT, text)


def clean(value: Any, *, notes: set[str] | None = None, levels: int = MOST_LEVELS) -> Any:
    """A parsed JSON value without what a database refuses; `notes` gets what was done, in a few words."""
    done = set() if notes is None else notes
    if isinstance(value, str):
        return _text(value, done)
    if isinstance(value, float) and not math.isfinite(value):
        done.add("numbers that are not finite were left out")
        return None
    if isinstance(value, int) and abs(value) >= 2**63:
        done.add("numbers beyond 64 bits were left out")
        return None
    if isinstance(value, dict | list) and levels == 0:
        done.add(f"what was nested deeper than {MOST_LEVELS} levels was left out")
        return None
    if isinstance(value, dict):
        return {_text(key, done): clean(value, notes=done, levels=levels - 1) for key, value in value.items()}
    if isinstance(value, list):
        return [clean(element, notes=done, levels=levels - 1) for element in value]
    return value


def _text(text: str, notes: set[str]) -> str:
    if len(text) > MOST_CHARACTERS:
        notes.add(f"texts were cut off after {MOST_CHARACTERS:,} characters")
        text = text[:MOST_CHARACTERS]
    cleaned = clean_text(text)
    if cleaned != text:
        notes.add("characters that cannot be stored were replaced")
    return cleaned


MOST_STARTS = 50
"""Places in a text where an object is looked for."""
_START = re.compile(r"\{(?=\s*+[\"}])|\[(?=\s*+\{)")
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
    """The name of an item where a reply is about several."""
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
        """Say what is wrong with a label beside these numbers; empty if nothing is."""
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


A = TypeVar("A")
M = TypeVar("M", bound=BaseModel)


def strict_object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def extract_json(text: str) -> list[Any]:
    """The JSON of a text: the text itself, or the objects and lists of them between other words; fit for storing.

    The work is linear in the text: a JSON parser reads on from `MOST_STARTS` places at most, each time once.

    Raises:
        ValueError: there is none that is complete.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"more than {MOST_CHARACTERS:,} characters")
    with suppress(ValueError, RecursionError):
        return [clean(json.loads(text))]
    values, end = list[Any](), 0
    for match in islice(_START.finditer(text), MOST_STARTS):
        if match.start() >= end:
            with suppress(ValueError, RecursionError):
                value, end = _DECODER.raw_decode(text, match.start())
                values.append(clean(value))
    if not values:
        raise ValueError("no complete JSON object")
    return values


def read_reply(text: str, model: type[M]) -> M | Problem:
    """Read a reply that holds one object of this model, or the same one several times."""
    try:
        return _agreed([_validated(value, model) for value in extract_json(text)])
    except ValueError as error:
        return Problem(f"The reply holds {error}.")


def _validated(value: Any, model: type[M]) -> M | Problem:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        location = ".".join(map(str, first["loc"])) or "the reply"
        return Problem(f"{location}: {first['msg']}.")


def _agreed(answers: Sequence[A | Problem]) -> A | Problem:
    """The answer that can be used, where all that can be used are the same."""
    usable = [answer for answer in answers if not isinstance(answer, Problem)]
    if any(answer != usable[0] for answer in usable):
        return Problem("The reply holds several answers that differ; give one.")
    return usable[0] if usable else answers[0]


def read_labels(
    text: str, model: type[LabelReply], *, keys: Sequence[str], numbers: Collection[int], several: bool
) -> dict[str, LabelAnswer | Problem]:
    """Read the reply on one item, or on several that are counted from 1; each is usable or not on its own.

    `numbers` are those of the passages.
    """
    try:
        values = extract_json(text)
    except ValueError as error:
        return dict.fromkeys(keys, Problem(f"The reply holds {error}."))
    if not several:
        return {keys[0]: _agreed([_checked(_validated(value, model), keys[0], numbers) for value in values])}
    all_read = [_read_rows(value, model, keys, numbers) for value in values]
    return {key: _agreed([read[key] for read in all_read]) for key in keys}


def _read_rows(
    value: Any, model: type[LabelReply], keys: Sequence[str], numbers: Collection[int]
) -> dict[str, LabelAnswer | Problem]:
    """Read one list of verdicts, item by item."""
    rows = value.get("verdicts") if isinstance(value, dict) else value
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
        reply = _validated(by_number[n], model)
        named = Problem(f"{name}: {reply.reason}") if isinstance(reply, Problem) else reply
        read[key] = _checked(named, key, numbers)
    return read


def _checked(reply: LabelReply | Problem, key: str, numbers: Collection[int]) -> LabelAnswer | Problem:
    """Every passage that is named is there, and the label goes with them."""
    if isinstance(reply, Problem):
        return reply
    named = tuple(sorted(set(reply.numbers)))
    if unknown := [number for number in named if number not in numbers]:
        return Problem(f"There is no {reply.passage} {', '.join(map(str, unknown[:5]))}.")
    if wrong := reply.contradiction(reply.label, named):
        return Problem(wrong)
    return LabelAnswer(key, str(reply.label), named)
