"""What a model's reply says on points, checked as strictly as one on insights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError, field_validator

from benchmarks.judges.base import Entailment
from benchmarks.judges.parsing import Problem, extract_json, is_int, named, strict_object

MOST_POINTS = 200
LONGEST_POINT = 2000


@dataclass(frozen=True)
class EntailmentAnswer:
    """Whether a point is said, and by which of the numbered passages."""

    key: str
    answer: Entailment
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True)
class PointsAnswer:
    """The points of a response, each once, perhaps none."""

    key: str
    points: tuple[str, ...]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    answer: Entailment
    evidence: list[StrictInt] = Field(max_length=1000)

    @field_validator("answer", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return value.strip().lower() if isinstance(value, str) else value


class _Points(BaseModel):
    model_config = ConfigDict(extra="ignore")

    points: list[StrictStr] = Field(max_length=MOST_POINTS)


def entailment_schema(*, protocol: str, n_points: int) -> dict[str, Any]:
    """The JSON schema that a strict server holds the reply to."""
    verdict: dict[str, Any] = {
        "answer": {"type": "string", "enum": ["yes", "no", "neutral"]},
        "evidence": {"type": "array", "items": {"type": "integer"}},
    }
    if protocol == "one":
        return strict_object(verdict)
    numbers = {"type": "integer", "enum": list(range(1, n_points + 1))}
    return strict_object({"verdicts": {"type": "array", "items": strict_object({"point": numbers, **verdict})}})


def points_schema() -> dict[str, Any]:
    """The JSON schema of extracted points."""
    return strict_object({"points": {"type": "array", "items": {"type": "string"}}})


def read_one(text: str, *, key: str, numbers: Collection[int]) -> EntailmentAnswer | Problem:
    """Read the reply on one point; `numbers` are those of the passages."""
    try:
        return _checked(_Reply.model_validate(extract_json(text)), key=key, numbers=numbers)
    except ValidationError as error:
        return Problem(named(error))
    except ValueError as error:
        return Problem(f"The reply holds {error}.")


def read_all(text: str, *, keys: Sequence[str], numbers: Collection[int]) -> dict[str, EntailmentAnswer | Problem]:
    """Read the reply on all points, numbered from 1; each is usable or not on its own."""
    try:
        found = extract_json(text)
    except ValueError as error:
        return dict.fromkeys(keys, Problem(f"The reply holds {error}."))
    rows = found.get("verdicts") if isinstance(found, dict) else found
    if not isinstance(rows, list):
        return dict.fromkeys(keys, Problem("The reply has no list “verdicts”."))
    numbered = [row for row in rows if isinstance(row, dict) and is_int(row.get("point"))]
    times = Counter(row["point"] for row in numbered)
    by_number = {row["point"]: row for row in numbered}
    read: dict[str, EntailmentAnswer | Problem] = {}
    for n, key in enumerate(keys, 1):
        if times[n] != 1:
            read[key] = Problem(f"Point {n} has {times[n]} verdicts; it must have one.")
            continue
        try:
            read[key] = _checked(_Reply.model_validate(by_number[n]), key=key, numbers=numbers)
        except ValidationError as error:
            read[key] = Problem(f"Point {n}: {named(error)}")
    return read


def _checked(reply: _Reply, *, key: str, numbers: Collection[int]) -> EntailmentAnswer | Problem:
    """A yes names what says it, and everything named is there."""
    shown = tuple(sorted(set(reply.evidence)))
    if unknown := [number for number in shown if number not in numbers]:
        return Problem(f"There is no number {', '.join(map(str, unknown[:5]))}.")
    if reply.answer == "yes" and not shown:
        return Problem("“yes” must name what says it in “evidence”.")
    return EntailmentAnswer(key, reply.answer, shown)


def read_points(text: str, *, key: str) -> PointsAnswer | Problem:
    """Read a list of points; blank ones are a problem, repeated ones count once."""
    try:
        reply = _Points.model_validate(extract_json(text))
    except ValidationError as error:
        return Problem(named(error))
    except ValueError as error:
        return Problem(f"The reply holds {error}.")
    points = [" ".join(point.split()) for point in reply.points]
    if not all(points):
        return Problem("A point is empty.")
    if any(len(point) > LONGEST_POINT for point in points):
        return Problem(f"A point is longer than {LONGEST_POINT} characters.")
    return PointsAnswer(key, tuple(dict.fromkeys(points)))
