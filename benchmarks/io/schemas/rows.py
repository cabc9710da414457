"""Reads the fields of one JSON object, and says in a sentence what was expected where it is not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas import coverage as labels
from benchmarks.scoring.summhay import Probabilities

KEY_LENGTH = 120
NAME_LENGTH = 300
NOTE_LENGTH = 300
MISSING = object()


@dataclass(frozen=True, slots=True)
class Row:
    """One object of the file, with its path and where to report."""

    value: Mapping[str, Any]
    where: str
    problems: Problems

    @classmethod
    def of(cls, value: Any, where: str, problems: Problems, *, expected: str) -> Row | None:
        """Wrap an object; report anything else."""
        if isinstance(value, dict):
            return cls(value, where, problems)
        problems.error("wrong_type", where, "", expected=expected, got=value)
        return None

    def key(self, name: str) -> str | None:
        """An id: a text or a whole number, at most 120 characters; `{"$oid": …}` counts as a text."""
        value = self.value.get(name)
        if isinstance(value, dict) and isinstance(value.get("$oid"), str):
            value = value["$oid"]
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and 0 < len(value.strip()) <= KEY_LENGTH and "\x00" not in value:
            return value.strip()
        self._wrong(name, f"an id of 1 to {KEY_LENGTH} characters")
        return None

    def text(self, name: str) -> str | None:
        """A text that is not empty."""
        value = self.value.get(name)
        if isinstance(value, str) and value.strip() and "\x00" not in value:
            return value
        self._wrong(name, "a text that is not empty")
        return None

    def optional_text(self, name: str) -> str:
        """A text, or nothing."""
        value = self.value.get(name)
        if value is None:
            return ""
        if isinstance(value, str) and "\x00" not in value:
            return value
        self._wrong(name, "a text or nothing")
        return ""

    def label(self, name: str) -> str:
        """A short text or nothing; what is too long is cut, with a warning."""
        value = self.optional_text(name).strip()
        if len(value) <= NAME_LENGTH:
            return value
        self.problems.warning(
            "shortened", self.where, name, expected=f"at most {NAME_LENGTH} characters", got=Got(f"{len(value)}")
        )
        return value[: NAME_LENGTH - 1] + "…"

    def items(self, name: str, *, expected: str, empty: bool = False, missing: bool = False) -> list[Any]:
        """A list; reports an empty or missing one unless it is allowed."""
        value = self.value.get(name, MISSING)
        if missing and (value is MISSING or value is None):
            return []
        if isinstance(value, list) and (value or empty):
            return value
        self._wrong(name, expected)
        return []

    def mapping(self, name: str, *, expected: str) -> dict[str, Any]:
        """An object, or nothing; entries that are null are left out (tables fill them in)."""
        value = self.value.get(name)
        if value is None:
            return {}
        if isinstance(value, dict):
            return {key: entry for key, entry in value.items() if entry is not None}
        self._wrong(name, expected)
        return {}

    def rows(self, name: str, items: list[Any], *, expected: str) -> Iterator[Row]:
        """The objects of a list, each with its path; others are reported."""
        for position, item in enumerate(items):
            row = Row.of(item, f"{self.where}.{name}[{position}]", self.problems, expected=expected)
            if row is not None:
                yield row

    def probabilities(self) -> Probabilities | None:
        """Those of a verdict, where it has any; what is none is reported and left out."""
        value = self.value.get(labels.PROBABILITIES)
        found = labels.probabilities_of(value)
        if value is not None and found is None:
            self.problems.warning(
                "unreadable_probabilities",
                self.where,
                labels.PROBABILITIES,
                expected="numbers from 0 to 1 for none, partial and full that add up to 1",
                got=value,
            )
        return found

    def can_be_kept(self, *names: str) -> bool:
        """Whether fields (by default all) can be stored as they are; reports those with a NUL, which no JSON
        column of PostgreSQL takes."""
        bad = [name for name in names or self.value if _holds_nul([name, self.value.get(name)])]
        for name in bad:
            self.problems.error(
                "wrong_value",
                self.where,
                name.replace("\x00", "\ufffd"),
                expected="a value without a NUL",
                got=Got("a text with a NUL in it"),
            )
        return not bad

    def _wrong(self, name: str, expected: str) -> None:
        got: object = self.value.get(name, MISSING)
        if got is MISSING:
            self.problems.error("missing_field", self.where, name, expected=expected, got=Got("nothing"))
        elif isinstance(got, str) and "\x00" in got:
            self.problems.error(
                "wrong_value", self.where, name, expected=expected, got=Got("a text with a NUL in it")
            )
        elif isinstance(got, str) and len(got) > KEY_LENGTH:
            self.problems.error(
                "wrong_value", self.where, name, expected=expected, got=Got(f"{len(got)} characters")
            )
        elif got in ("", [], {}) or isinstance(got, str):
            self.problems.error("wrong_value", self.where, name, expected=expected, got=got)
        else:
            self.problems.error("wrong_type", self.where, name, expected=expected, got=got)


def _holds_nul(value: Any) -> bool:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if "\x00" in item:
                return True
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item)
            waiting.extend(item.values())
    return False


def small_metadata(value: Any, *, leave_out: frozenset[str]) -> dict[str, Any]:
    """Keep what is short and plain: texts up to 300 characters, numbers, and lists of these."""
    if not isinstance(value, dict):
        return {}
    kept = {name: _small(entry) for name, entry in value.items() if name not in leave_out}
    return {name: entry for name, entry in kept.items() if entry is not None}


def _small(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= NOTE_LENGTH and "\x00" not in value else None
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list):
        kept = [
            entry
            for entry in (_small(part) for part in value[:200] if not isinstance(part, list))
            if entry is not None
        ]
        return kept or None
    return None
