"""Files with a JSON object on each line: how lines are read, and what is wrong with them said by row and field."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from pydantic import ValidationError

from benchmarks.io.reading import files, strict_json
from benchmarks.io.reading.problems import Got, Problems, report_flaws


def values(
    source: Path | BinaryIO | Iterable[dict[str, Any]],
    problems: Problems,
    *,
    limit_bytes: int | None = None,
    progress: files.Progress | None = None,
) -> Iterator[tuple[str, Any]]:
    """Each line with its name, counted from 1, or each given object; a line that is no JSON is reported."""
    if not isinstance(source, Path) and not hasattr(source, "readline"):
        yield from ((f"line {number}", value) for number, value in enumerate(source, 1))
        return
    with files.opened(
        cast("Path | BinaryIO", source), problems, limit_bytes=limit_bytes, progress=progress
    ) as stream:
        for number, line in enumerate(stream, 1):
            line = line.removeprefix(files.BOM) if number == 1 else line
            if line.strip():
                yield from _loaded(f"line {number}", line, problems)


def _loaded(where: str, line: bytes, problems: Problems) -> Iterator[tuple[str, Any]]:
    try:
        value = strict_json.loads(line)
    except strict_json.NotJson as error:
        problems.error("no_json", where, "", expected="a JSON object", got=Got(str(error)))
    except strict_json.Flawed as error:
        report_flaws(error, problems, where=where, separator=", ")
    else:
        yield where, value


def report_invalid(where: str, error: ValidationError, problems: Problems, *, expected: Mapping[str, str]) -> None:
    """Say what a model expected of a line, with the row and the field; `expected` words it by field."""
    for found in error.errors(include_url=False):
        steps = [step for step in found["loc"] if isinstance(step, int) or step in expected]
        names = [step for step in steps if isinstance(step, str)]
        field = names[-1] if steps and isinstance(steps[-1], str) else ""
        path = _path(steps[:-1] if field else steps)
        is_missing = found["type"] == "missing"
        problems.error(
            "missing_field" if is_missing else "wrong_value",
            f"{where}, {path}" if path else where,
            field,
            expected=expected[field] if field else "an object or a text",
            got=Got("nothing") if is_missing else found["input"],
        )


def _path(steps: list[Any]) -> str:
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def report_twice(where: str, name: str, field: str, keys: list[str], problems: Problems) -> None:
    """Report the members of a list whose key another one has."""
    seen: dict[str, int] = {}
    for position, key in enumerate(keys):
        if key in seen:
            problems.error(
                "duplicate_key",
                f"{where}, {name}[{position}]",
                field,
                expected="one that no other has",
                got=Got(f"“{key}”, as in {name}[{seen[key]}]"),
            )
        seen.setdefault(key, position)


def members(where: str, value: Mapping[str, Any], lists: Iterable[str]) -> Iterator[tuple[str, str, Any]]:
    """The members of the lists of a line: where each is, the name of its list, and itself."""
    for name in lists:
        for position, part in enumerate(value.get(name) or ()):
            yield f"{where}, {name}[{position}]", name, part


def report_unknown(
    parts: Iterable[tuple[str, str, Any]], problems: Problems, *, known: Mapping[str, Collection[str]]
) -> None:
    """Warn of fields that nobody knows: a misspelt optional one would be lost in silence."""
    for at, name, part in parts:
        for field in part if isinstance(part, dict) else ():
            if field not in known[name]:
                problems.warning(
                    "unknown_field",
                    at,
                    field,
                    expected=f"one of {', '.join(sorted(known[name]))}",
                    got=Got("another name"),
                    message="It was left out.",
                )
