"""JSON read strictly: whole or line by line.

What is no JSON is reported, and a line that repeats an id. What the values mean is the business of the format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar, Unpack, cast

from benchmarks.io.reading import files, strict_json
from benchmarks.io.reading.problems import Got, Problems, report_flaws

Source = Path | BinaryIO | Iterable[dict[str, Any]]
MISSING = object()


class Keyed(Protocol):
    """A line by its id and its name."""

    @property
    def key(self) -> str: ...
    @property
    def where(self) -> str: ...


Row = TypeVar("Row", bound=Keyed)


def loaded(
    data: bytes, problems: Problems, *, where: str = "", expected: str = "a JSON object", kind: str = "no_json"
) -> Any:
    """The value of a JSON text, or `MISSING` after what is wrong with it was reported."""
    try:
        return strict_json.loads(data)
    except strict_json.NotJson as error:
        problems.error(kind, where, "", expected=expected, got=Got(str(error)))
    except strict_json.Flawed as error:
        report_flaws(error, problems, where=where)
    return MISSING


def values(source: Source, problems: Problems, **limits: Unpack[files.Limits]) -> Iterator[tuple[str, Any]]:
    """Each line with its name, counted from 1, or each given object; a line that is no JSON is reported."""
    if not isinstance(source, Path) and not hasattr(source, "readline"):
        yield from ((f"line {number}", value) for number, value in enumerate(source, 1))
        return
    with files.opened(cast("Path | BinaryIO", source), problems, **limits) as stream:
        for number, line in enumerate(stream, 1):
            line = line.removeprefix(files.BOM) if number == 1 else line
            where = f"line {number}"
            if line.strip() and (value := loaded(line, problems, where=where)) is not MISSING:
                yield where, value


def rows(
    source: Source,
    row_of: Callable[[str, Any, Problems], Row | None],
    problems: Problems,
    **limits: Unpack[files.Limits],
) -> Iterator[Row]:
    """Yield the good lines one by one; what is wrong with the others is in `problems`."""
    seen: dict[str, str] = {}
    for where, value in values(source, problems, **limits):
        row = row_of(where, value, problems)
        if row is None:
            continue
        if first := seen.get(row.key):
            got = Got(f"“{row.key}”, as in {first}")
            problems.error("duplicate_key", where, "key", expected="an id that no other line has", got=got)
            continue
        seen[row.key] = where
        yield row


def all_rows(
    source: Source,
    row_of: Callable[[str, Any, Problems], Row | None],
    problems: Problems | None,
    *,
    expected: str,
    **limits: Unpack[files.Limits],
) -> tuple[Row, ...]:
    """All lines of a file; raises `ImportFailed` if there is any error, or no line."""
    problems = Problems() if problems is None else problems
    good = tuple(rows(source, row_of, problems, **limits))
    if not good and not problems.n_errors:
        problems.error("empty_file", "", "", expected=expected, got=Got("none"))
    problems.raise_errors()
    return good
