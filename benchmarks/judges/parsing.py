"""What a model's reply says, checked strictly; nothing is guessed but where the JSON begins and ends.

A reply that cannot be used comes back as a `Problem` whose words go into the one repair attempt.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError, field_validator

from benchmarks.judges.base import Coverage, CoverageVerdict
from benchmarks.judges.cleaning import MOST_CHARACTERS, clean

MOST_STARTS = 50
"""Places in a text where an object is looked for."""
_START = re.compile(r"\{(?=\s*+[\"}])")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Problem:
    """Why a reply, or its answer on one insight, cannot be used."""

    reason: str


Answer = CoverageVerdict | Problem


class _CoverageReply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    coverage: Coverage
    bullet_ids: list[StrictInt] = Field(max_length=1000)

    @field_validator("coverage", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return value.strip().lower() if isinstance(value, str) else value


class _NumberedReply(_CoverageReply):
    insight: StrictInt


def coverage_schema(*, protocol: str, n_insights: int) -> dict[str, Any]:
    """The JSON schema that a strict server holds the reply to."""
    verdict: dict[str, Any] = {
        "coverage": {"type": "string", "enum": ["none", "partial", "full"]},
        "bullet_ids": {"type": "array", "items": {"type": "integer"}},
    }
    if protocol == "one":
        return strict_object(verdict)
    numbers = {"type": "integer", "enum": list(range(1, n_insights + 1))}
    rows = {"type": "array", "items": strict_object({"insight": numbers, **verdict})}
    return strict_object({"verdicts": rows})


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


def read_one(text: str, *, insight_key: str, lines: Collection[int]) -> Answer:
    """Read the reply on one insight; `lines` are the numbers that a bullet may have."""
    try:
        reply = _CoverageReply.model_validate(extract_json(text))
    except ValidationError as error:
        return Problem(named(error))
    except ValueError as error:
        return Problem(f"The reply holds {error}.")
    return _checked(reply, insight_key=insight_key, lines=lines)


def read_all(text: str, *, insight_keys: Sequence[str], lines: Collection[int]) -> dict[str, Answer]:
    """Read the reply on all insights, numbered from 1; each is usable or not on its own."""
    try:
        found = extract_json(text)
    except ValueError as error:
        return dict.fromkeys(insight_keys, Problem(f"The reply holds {error}."))
    rows = found.get("verdicts") if isinstance(found, dict) else found
    if not isinstance(rows, list):
        return dict.fromkeys(insight_keys, Problem("The reply has no list “verdicts”."))
    numbers = Counter(row.get("insight") for row in rows if isinstance(row, dict) and is_int(row.get("insight")))
    by_number = {row["insight"]: row for row in rows if isinstance(row, dict) and is_int(row.get("insight"))}
    return {
        key: _numbered(by_number.get(n), times=numbers[n], number=n, insight_key=key, lines=lines)
        for n, key in enumerate(insight_keys, 1)
    }


def is_int(value: Any) -> bool:
    """Whether it is a whole number, and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def _numbered(row: Any, *, times: int, number: int, insight_key: str, lines: Collection[int]) -> Answer:
    if times != 1:
        return Problem(f"Insight {number} has {times} verdicts; it must have one.")
    try:
        reply = _NumberedReply.model_validate(row)
    except ValidationError as error:
        return Problem(f"Insight {number}: {named(error)}")
    return _checked(reply, insight_key=insight_key, lines=lines)


def _checked(reply: _CoverageReply, *, insight_key: str, lines: Collection[int]) -> Answer:
    """Covered exactly when a bullet is named, and every named bullet is there."""
    named = tuple(sorted(set(reply.bullet_ids)))
    unknown = [number for number in named if number not in lines]
    if unknown:
        return Problem(f"There is no bullet {', '.join(map(str, unknown[:5]))}.")
    if reply.coverage == "none" and named:
        return Problem("“none” must name no bullet.")
    if reply.coverage != "none" and not named:
        return Problem(f"“{reply.coverage}” must name a bullet.")
    return CoverageVerdict(insight_key, reply.coverage, named)


def named(error: ValidationError) -> str:
    """What is wrong first, and where."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the reply"
    return f"{place}: {first['msg']}."
