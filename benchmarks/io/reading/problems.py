"""Problems of a file, row by row: errors stop an import, warnings are counted and shown.

A file of a million bad rows must not become a million objects, so each kind keeps a few examples and a count.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from benchmarks.io.reading.strict_json import Flawed

EXAMPLES_PER_KIND = 20
SHOWN_CHARACTERS = 60


class Level(StrEnum):
    """How bad a problem is."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in one place.

    `where` is a path into the file as `jq` would take it (`subtopics[0].insights[3]`, positions from 0), `kind` a
    stable word for the class of the problem, and `file` the name of the file where several are read.
    """

    level: Level
    kind: str
    where: str
    field: str
    expected: str
    got: str
    message: str = ""
    file: str = ""

    def __str__(self) -> str:
        """Say it in one sentence that names the row, the field and what was expected."""
        place = ".".join(part for part in (self.where, self.field) if part) or "the file"
        sentence = f"{place}: expected {self.expected}, got {self.got}."
        return f"{sentence} {self.message}" if self.message else sentence

    def as_json(self) -> dict[str, str]:
        """Plain values, the sentence included."""
        values = {name: value for name, value in asdict(self).items() if name != "level"}
        return values | {"message": str(self)}


@dataclass(slots=True)
class Problems:
    """Collects problems; counts all of them, keeps the first few of each kind. `file` is the one being read.

    `look` is how a file was read whose columns can be mapped, for whoever maps them.
    """

    file: str = ""
    counts: dict[tuple[Level, str], int] = field(default_factory=dict)
    examples: dict[tuple[Level, str], list[Problem]] = field(default_factory=dict)
    look: dict[str, Any] = field(default_factory=dict)

    def error(self, kind: str, where: str, name: str, *, expected: str, got: object, message: str = "") -> None:
        """Record what makes the file unusable."""
        self._add(Problem(Level.ERROR, kind, where, name, expected, describe(got), message, self.file))

    def warning(
        self, kind: str, where: str, name: str, *, expected: str, got: object, message: str = "", count: int = 1
    ) -> None:
        """Record what was dropped or read with a guess; `count` rows at once."""
        self._add(Problem(Level.WARNING, kind, where, name, expected, describe(got), message, self.file), count)

    def _add(self, problem: Problem, count: int = 1) -> None:
        key = (problem.level, problem.kind)
        self.counts[key] = self.counts.get(key, 0) + count
        kept = self.examples.setdefault(key, [])
        if len(kept) < EXAMPLES_PER_KIND:
            kept.append(problem)

    def extend(self, other: Problems) -> None:
        """Add what was found in another file."""
        self.look = self.look or other.look
        for key, count in other.counts.items():
            self.counts[key] = self.counts.get(key, 0) + count
            kept = self.examples.setdefault(key, [])
            kept.extend(other.examples[key][: EXAMPLES_PER_KIND - len(kept)])

    @property
    def n_errors(self) -> int:
        """Number of errors, also of those whose text was not kept."""
        return sum(count for (level, _), count in self.counts.items() if level is Level.ERROR)

    @property
    def errors(self) -> list[Problem]:
        return [problem for (at, _), kept in self.examples.items() if at is Level.ERROR for problem in kept]

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """How often each kind of warning occurred, with its first example as a sentence, in order."""
        return [
            {"kind": kind, "count": count, "example": str(self.examples[at, kind][0])}
            for (at, kind), count in self.counts.items()
            if at is Level.WARNING
        ]

    def raise_errors(self) -> None:
        if self.n_errors:
            raise ImportFailed(self)


def joined(where: str, path: str) -> str:
    """A path inside the value at `where`: `documents[3].idx`; after the name of a line `line 2, documents[3]`."""
    if not where or not path:
        return where or path
    return f"{where}, {path}" if " " in where else f"{where}{'' if path[0] == '[' else '.'}{path}"


def report_flaws(error: Flawed, problems: Problems, *, where: str = "") -> None:
    """Record what can't be kept in the JSON value at `where`, each in its own row and field."""
    for path, flaw in error.flaws:
        row, _, name = path.rpartition(".")
        if "[" in name:
            row, name = path, ""
        problems.error(
            flaw.kind, joined(where, row), name, expected=flaw.expected, got=Got(flaw.got), message=flaw.message
        )


class ImportFailed(Exception):
    """The file has errors; nothing of it was taken in."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        first = next(iter(problems.errors))
        more = f" (and {problems.n_errors - 1:,} more)" if problems.n_errors > 1 else ""
        super().__init__(f"{first}{more}")


class Got(str):
    """A text for the `got` of a problem that is already worded."""


def describe(value: object) -> str:
    """Name a JSON value in a few words: its type, and its text or number if short."""
    if isinstance(value, Got):
        return str(value)
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        if not value.strip():
            return "an empty text"
        short = value if len(value) <= SHOWN_CHARACTERS else value[: SHOWN_CHARACTERS - 1] + "…"
        return f"the text “{short}”"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, dict):
        return f"an object with {len(value)} fields" if value else "an empty object"
    return type(value).__name__
