"""Points that people named in the documents of a question or in a response, as CSV or JSONL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.io.reading.problems import Problems
from benchmarks.io.schemas.plain_labels import Numbered

REQUIRED = ("question", "point")
FOUND = {"yes": True, "no": False, "": None}
EXAMPLE = """question,point,system,found
q17,The pier was rebuilt in 2019.,,yes
q17,Fares rose by a tenth.,,no
q17,The ferry leaves at six.,heron-128k,
"""


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
    found: dict[tuple[str, str, str], NamedPoint] = {}
    for where, row in rows:
        question, point, system, label = (
            _text(where, row, name, problems) for name in (*REQUIRED, "system", "found")
        )
        if label.lower() not in FOUND:
            problems.error("unknown_label", where, "found", expected="yes, no or nothing", got=label)
            continue
        if question and point:
            one = NamedPoint(where, question, system, point, FOUND[label.lower()])
            found.setdefault((question, system, point), one)
    if not found and not problems.n_errors:
        problems.error("empty", "", "", expected="at least one point", got="none")
    problems.raise_errors()
    return list(found.values())


def _text(where: str, row: Mapping[str, Any], name: str, problems: Problems) -> str:
    value = row.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None and name not in REQUIRED:
        return ""
    if not isinstance(value, str) or (name in REQUIRED and not value.strip()):
        problems.error("missing_field", where, name, expected="a text that is not empty", got=value)
        return ""
    return " ".join(value.split())
