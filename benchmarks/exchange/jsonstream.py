"""A JSON object read as a stream: one item of its big lists at a time, with limits and clear errors.

Only JSON is read here; what the values mean is the business of the format.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import ijson

MAX_DEPTH = 60
EXPLAIN_BYTES = 64 * 1024 * 1024
BUFFER_BYTES = 256 * 1024
BOM = b"\xef\xbb\xbf"

Progress = Callable[[int, int], None]
Events = Iterator[tuple[str, Any]]


class UnreadableFile(Exception):
    """The file is no JSON that can be read; the text says what it is instead."""


class FileTooLarge(UnreadableFile):
    """The file has more bytes than the limit allows."""


class NotAnObject(UnreadableFile):
    """The file is JSON, but its outermost value is not an object."""

    def __init__(self, got: str, first: Any = None) -> None:
        super().__init__(f"JSON whose outermost value is {got}")
        self.got = got
        self.first = first


class _Reader:
    """Counts what is read, and stops where the limit ends."""

    def __init__(self, stream: BinaryIO, *, total: int, limit: int | None, progress: Progress | None) -> None:
        self.stream, self.total, self.limit, self.progress = stream, total, limit, progress
        self.seen = 0
        self.first = True

    def read(self, size: int = -1, /) -> bytes:
        """Give the next bytes."""
        if size == 0:  # ijson asks for nothing first, to learn the type
            return b""
        chunk = self.stream.read(BUFFER_BYTES if size < 0 else size)
        self.seen += len(chunk)
        if self.limit is not None and self.seen > self.limit:
            raise FileTooLarge(_too_large(self.seen, self.limit))
        if self.first:
            self.first = False
            chunk = chunk.removeprefix(BOM)
        if self.progress is not None:
            self.progress(self.seen, self.total)
        return chunk


def read_object(
    source: Path | BinaryIO,
    *,
    lists: frozenset[str],
    limit_bytes: int | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[str, int | None, Any]]:
    """Yield (key, None, value) for each field of the outermost object.

    A field named in `lists` that holds a list comes as (key, position, item) one item at a time, after
    (key, None, []). A repeated field is yielded again. `progress` gets bytes read and bytes in all (0: unknown).
    Raises `UnreadableFile` or one of its kinds.
    """
    with _opened(source) as stream:
        total = _size(stream)
        if limit_bytes is not None and total > limit_bytes:
            raise FileTooLarge(_too_large(total, limit_bytes))
        reader = _Reader(stream, total=total, limit=limit_bytes, progress=progress)
        try:
            yield from _fields(ijson.basic_parse(reader, use_float=True, buf_size=BUFFER_BYTES), lists)
        except (ijson.JSONError, UnicodeDecodeError, OverflowError) as error:
            raise UnreadableFile(_explain(stream, error)) from error


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
            result[key] = _build(*next(events), events, depth + 1)
        return result
    if event == "start_array":
        items: list[Any] = []
        while (entry := next(events))[0] != "end_array":
            items.append(_build(*entry, events, depth + 1))
        return items
    return value


@contextmanager
def _opened(source: Path | BinaryIO) -> Iterator[BinaryIO]:
    if isinstance(source, Path):
        try:
            with source.open("rb") as stream:
                yield stream
        except OSError as error:
            raise UnreadableFile(f"one that cannot be opened: {error.strerror or error}") from error
    else:
        yield source


def _size(stream: BinaryIO) -> int:
    if not stream.seekable():
        return 0
    here = stream.tell()
    end = stream.seek(0, io.SEEK_END)
    stream.seek(here)
    return end - here


def _too_large(size: int, limit: int) -> str:
    return f"a file of {megabytes(size)}, where at most {megabytes(limit)} are read"


def megabytes(size: int) -> str:
    """A size in MB of 1,048,576 bytes, as a person reads it."""
    return f"{size / 1024 / 1024:,.1f} MB" if size < 10 * 1024 * 1024 else f"{size / 1024 / 1024:,.0f} MB"


def _explain(stream: BinaryIO, error: Exception) -> str:
    """Find line and column by a second, plain reading; the stream parser knows neither."""
    if not stream.seekable() or _from_start(stream) > EXPLAIN_BYTES:
        return f"invalid JSON: {str(error).splitlines()[0]}"
    data = stream.read().removeprefix(BOM)
    if not data.strip():
        return "an empty file"
    try:
        text = data.decode()
    except UnicodeDecodeError as bad:
        line = data.count(b"\n", 0, bad.start) + 1
        return f"text that is not UTF-8: line {line} holds the byte 0x{data[bad.start]:02x}"
    try:
        json.loads(text)
    except json.JSONDecodeError as bad_json:
        return f"invalid JSON: line {bad_json.lineno}, column {bad_json.colno}: {bad_json.msg}"
    except RecursionError:
        return f"JSON nested more than {MAX_DEPTH} levels deep"
    return "invalid JSON: it holds NaN, Infinity or a number that is too large"


def _from_start(stream: BinaryIO) -> int:
    stream.seek(0)
    return _size(stream)
