"""JSON read strictly: whole, line by line, or as a stream, one item of its big lists at a time.

What is no JSON is reported, and a line that repeats an id. What the values mean is the business of the format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar, Unpack, cast

import ijson

from benchmarks.io.reading import files, strict_json
from benchmarks.io.reading.files import BOM, size_of
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


def loaded(data: bytes, problems: Problems, *, where: str = "", expected: str = "a JSON object") -> Any:
    """The value of a JSON text, or `MISSING` after what is wrong with it was reported."""
    try:
        return strict_json.loads(data)
    except strict_json.NotJson as error:
        problems.error("no_json", where, "", expected=expected, got=Got(str(error)))
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


MAX_DEPTH = 60
EXPLAIN_BYTES = 64 * 1024 * 1024
BUFFER_BYTES = 256 * 1024
PAIR_BYTES = len(r"\ud83d\ude00") - 1

TOO_LARGE = "it holds a number that is too large"

Events = Iterator[tuple[str, Any]]


class UnreadableFile(Exception):
    """The file is no JSON that can be read; the text says what it is instead."""


class FlawedFile(UnreadableFile):
    """The file is JSON, but holds what can't be kept; `flawed` names each such place."""

    def __init__(self, flawed: strict_json.Flawed) -> None:
        super().__init__("JSON that holds what can't be kept")
        self.flawed = flawed


class NotAnObject(UnreadableFile):
    """The file is JSON, but its outermost value is not an object."""

    def __init__(self, got: str, first: Any = None) -> None:
        super().__init__(f"JSON whose outermost value is {got}")
        self.got = got
        self.first = first


class _Twice(ValueError):
    """An object has a field twice."""


class _Reader:
    """Looks for what the parser lets pass."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.first = True
        self.tail = b""
        self.may_hold_half_pairs = False

    def read(self, size: int = -1, /) -> bytes:
        """Give the next bytes."""
        if size == 0:  # ijson asks for nothing first, to learn the type
            return b""
        chunk = self.stream.read(BUFFER_BYTES if size < 0 else size)
        if self.first:
            self.first = False
            chunk = chunk.removeprefix(BOM)
        joined = self.tail + chunk
        if b"\\u" in joined:  # the parser silently makes a question mark of half a pair
            self.may_hold_half_pairs |= strict_json.LONE_ESCAPE.search(joined) is not None
        self.tail = joined[-PAIR_BYTES:]
        return chunk


def read_object(stream: BinaryIO, *, lists: frozenset[str]) -> Iterator[tuple[str, int | None, Any]]:
    """Yield (key, None, value) for each field of the outermost object.

    A field named in `lists` that holds a list comes as (key, position, item) one item at a time, after
    (key, None, []). A repeated field is yielded again. Raises `UnreadableFile` or one of its kinds. A
    second, plain reading then finds the place, which the stream parser does not know.
    """
    reader = _Reader(stream)
    try:
        yield from _fields(ijson.basic_parse(reader, use_float=True, buf_size=BUFFER_BYTES), lists)
        if reader.may_hold_half_pairs:
            _look_again(stream)
    except (ijson.JSONError, ValueError, OverflowError) as error:
        _look_again(stream)
        reason = str(error).splitlines()[0] if isinstance(error, ijson.JSONError | _Twice) else TOO_LARGE
        raise UnreadableFile(f"invalid JSON: {reason}") from error


def _fields(events: Events, lists: frozenset[str]) -> Iterator[tuple[str, int | None, Any]]:
    event, value = next(events)
    if event != "start_map":
        if event == "start_array":
            event, value = next(events)
            raise NotAnObject("a list", None if event == "end_array" else _build(event, value, events, 1))
        raise NotAnObject({"string": "a text", "null": "null"}.get(event, "a number"))
    for event, key in events:
        if event == "end_map":
            break
        event, value = next(events)
        if key in lists and event == "start_array":
            yield key, None, []
            position = 0
            while (entry := next(events))[0] != "end_array":
                yield key, position, _build(*entry, events, 2)
                position += 1
        else:
            yield key, None, _build(event, value, events, 1)
    for _ in events:  # anything after the object makes the parser raise
        pass


def _build(event: str, value: Any, events: Events, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise UnreadableFile(f"JSON nested more than {MAX_DEPTH} levels deep")
    if event == "start_map":
        result: dict[str, Any] = {}
        for inner, key in events:
            if inner == "end_map":
                break
            if key in result:
                raise _Twice(f"it holds the field “{key}” twice in one object")
            result[key] = _build(*next(events), events, depth + 1)
        return result
    if event == "start_array":
        items: list[Any] = []
        while (entry := next(events))[0] != "end_array":
            items.append(_build(*entry, events, depth + 1))
        return items
    return value


def _look_again(stream: BinaryIO) -> None:
    """Read a file plainly, unless it is too large, and raise what is found with its place."""
    if not stream.seekable():
        return
    stream.seek(0)
    if size_of(stream) > EXPLAIN_BYTES:
        return
    data = stream.read().removeprefix(BOM)
    if not data.strip():
        raise UnreadableFile("an empty file")
    try:
        strict_json.loads(data)
    except strict_json.NotJson as error:
        raise UnreadableFile(str(error)) from error
    except strict_json.Flawed as error:
        raise FlawedFile(error) from error
