"""Points that people named in the documents of a question or in a response, as CSV or JSONL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from benchmarks.io.reading.files import example
from benchmarks.io.reading.problems import Problems
from benchmarks.io.reading.tables import Numbered
from benchmarks.io.schemas.fields import AsText, Expected, Part, Text, checked, null_as

REQUIRED = ("question", "point")
EXAMPLE = example("named_points.csv")
ANSWERS = {"yes": True, "no": False, "": None}
OneLine = AfterValidator(lambda text: " ".join(text.split()))


def _as_answer(value: object) -> object:
    return ANSWERS.get(value.strip().lower(), value) if isinstance(value, str) else value


class PointRow(Part):
    """A row; `found` is yes, no or nothing."""

    question: Annotated[Text, OneLine, AsText]
    point: Annotated[Text, OneLine, AsText]
    system: Annotated[str, OneLine, AsText, null_as(str), Expected("a text or nothing")] = ""
    found: Annotated[bool | None, BeforeValidator(_as_answer), Expected("yes, no or nothing")] = None


@dataclass(frozen=True, slots=True)
class NamedPoint:
    """A point of the documents of a question, or of a system's response to it.

    `found` is what people say of whether it is among the extracted ones, None where they do not say.
    """

    where: str
    question: str
    system: str
    text: str
    found: bool | None


def read(rows: Iterable[Numbered], problems: Problems) -> list[NamedPoint]:
    """Check and collect rows; raises `ImportFailed` if there is any error. A point named twice counts once."""
    points: dict[tuple[str, str, str], NamedPoint] = {}
    for where, row in rows:
        part = checked(PointRow, row, where, problems)
        if part is not None:
            point = NamedPoint(where, part.question, part.system, part.point, part.found)
            points.setdefault((part.question, part.system, part.point), point)
    if not points and not problems.n_errors:
        problems.error("empty", "", "", expected="at least one point", got="none")
    problems.raise_errors()
    return list(points.values())
