"""The columns of a CSV as it streams by: their names, and a type that all of their values have."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from datetime import datetime

INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,14})")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+([+-][0-9:]+|Z)")


def _is_moment(value: str) -> bool:
    try:
        return bool(MOMENT.fullmatch(value)) and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


TYPES = {
    "boolean": lambda value: value in {"True", "False"},
    "integer": lambda value: INTEGER.fullmatch(value) is not None,
    "number": lambda value: NUMBER.fullmatch(value) is not None,
    "datetime": _is_moment,
}
"""Types of Table Schema from the narrowest on, each with what its values look like; anything else is a string."""


class Columns:
    """Reads a CSV that is passed on: afterwards `fields` has its columns with their types."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.may_be: list[list[str]] = []
        self.has_value: list[bool] = []
        self.n_rows = 0

    def passed_on(self, pieces: Iterable[str | bytes]) -> Iterator[str | bytes]:
        """The same pieces, which end with a row each, noticed on their way."""
        for piece in pieces:
            self._read(piece.decode() if isinstance(piece, bytes) else piece)
            yield piece

    def _read(self, text: str) -> None:
        rows = csv.reader(io.StringIO(text, newline=""))
        if not self.names:
            self.names = next(rows, [])
            self.may_be = [list(TYPES) for _name in self.names]
            self.has_value = [False] * len(self.names)
        for row in rows:
            self.n_rows += 1
            for at, value in enumerate(row[: len(self.names)]):
                if value and self.may_be[at]:
                    self.has_value[at] = True
                    self.may_be[at] = [name for name in self.may_be[at] if TYPES[name](value)]

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The name and the type of each column."""
        return [
            (name, able[0] if able and has_value else "string")
            for name, able, has_value in zip(self.names, self.may_be, self.has_value, strict=True)
        ]
