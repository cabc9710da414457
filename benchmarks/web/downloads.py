"""Downloads, mostly streamed, and Parquet. No format but CSV for spreadsheets alters a text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from tempfile import TemporaryFile
from typing import Any, TypeVar

import orjson
from django.db.models import Model
from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header

GROUP = 10_000
"""Rows that are held at a time."""
CONTENT_TYPE = "application/vnd.apache.parquet"
WHOLE, REAL, TRUTH, WHOLES, TEXTS, TEXT = "whole", "real", "truth", "wholes", "texts", "text"
MOMENT = "moment"
CONVERTERS: dict[str, Callable[[Any], Any]] = {
    WHOLE: int,
    REAL: float,
    TRUTH: bool,
    WHOLES: list,
    TEXTS: lambda values: [str(value) for value in values],
    TEXT: str,
    MOMENT: lambda value: datetime.fromisoformat(value) if value else None,
}


@lru_cache(maxsize=1)
def is_available() -> bool:
    """Whether such files can be made here."""
    return find_spec("pyarrow") is not None


def parquet(columns: Sequence[str], rows: Callable[[], Iterable[Sequence[Any]]]) -> Iterator[bytes]:
    """Give a table as the bytes of a Parquet file; None is null.

    `rows` is called twice: the first time to see what the columns hold.
    """
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    types = {
        WHOLE: pyarrow.int64(),
        REAL: pyarrow.float64(),
        TRUTH: pyarrow.bool_(),
        WHOLES: pyarrow.list_(pyarrow.int64()),
        TEXTS: pyarrow.list_(pyarrow.string()),
        TEXT: pyarrow.string(),
        MOMENT: pyarrow.timestamp("us", tz="UTC"),
    }
    kinds = kinds_of(columns, rows())
    schema = pyarrow.schema([(name, types[kind]) for name, kind in zip(columns, kinds, strict=True)])
    with TemporaryFile() as file:
        with ParquetWriter(file, schema) as writer:
            left = iter(rows())
            while group := list(islice(left, GROUP)):
                arrays = [
                    pyarrow.array(
                        [None if value is None else CONVERTERS[kind](value) for value in values],
                        type=types[kind],
                    )
                    for kind, values in zip(kinds, zip(*group, strict=True), strict=True)
                ]
                writer.write_table(pyarrow.table(arrays, schema=schema))
        file.seek(0)
        while piece := file.read(PIECE_BYTES):
            yield piece


def kinds_of(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """The type of each column: whole or real numbers, truth values, lists of whole numbers or texts, else texts.

    A column whose name ends in `_at` holds moments where each of its values is one in ISO 8601 with its offset, or
    empty.
    """
    seen: list[set[str]] = [set() for _column in columns]
    are_moments = [name.endswith("_at") for name in columns]
    for row in rows:
        for kinds, is_moment, value in zip(seen, are_moments, row, strict=True):
            if value is not None and not (is_moment and value == ""):
                kinds.add(MOMENT if is_moment and _is_moment(value) else _kind(value))
    return [_common(kinds) for kinds in seen]


def _is_moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, int):
        return WHOLE
    if isinstance(value, float | Decimal):
        return REAL
    if isinstance(value, list | tuple):
        return WHOLES if all(type(element) is int for element in value) else TEXTS
    return TEXT


def _common(kinds: set[str]) -> str:
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds == {WHOLE, REAL}:
        return REAL
    return TEXTS if kinds == {WHOLES, TEXTS} else TEXT


Response = TypeVar("Response", bound=HttpResponseBase)

CSV_TYPE = "text/csv; charset=utf-8"
PIECE_BYTES = 64 * 1024
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
SPREADSHEETS, PROGRAMS = READERS = ("spreadsheets", "programs")
"""Whom a CSV is for, as addresses and commands name it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that a response holds: its name, and what it is about (None: nothing of its own)."""

    name: str
    about: Model | None


def as_file(response: Response, *, name: str, about: Model | None = None) -> Response:
    """Let the browser keep the response under a name, in whatever alphabet, and the audit log name what it is."""
    name = "".join(letter if letter.isprintable() and letter not in "/\\" else "_" for letter in name)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    response["Cache-Control"] = "no-store"
    response.kept = Kept(name, about)  # type: ignore[attr-defined]
    return response


def safe_cell(value: Any) -> Any:
    """Guard text against being run as a formula; numbers stay numbers, None becomes empty."""
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return "'" + value
    return value


def reader_of(request: HttpRequest) -> str:
    """Whom a CSV is asked for: spreadsheets, or programs with `?for=programs`."""
    return PROGRAMS if request.GET.get("for") == PROGRAMS else SPREADSHEETS


def csv_lines(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, reader: str = SPREADSHEETS
) -> Iterator[str]:
    """Yield CSV text, header first; for programs no cell is altered, and None is empty as well."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for count, row in enumerate(rows, 1):
        writer.writerow(row if reader == PROGRAMS else [safe_cell(value) for value in row])
        if count % 200 == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def json_lines(rows: Iterable[Any]) -> Iterator[bytes]:
    """Yield one JSON object a line, many lines at a time: each piece costs a server a write of its own."""
    lines: list[bytes] = []
    size = 0
    for row in rows:
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        lines.append(line)
        size += len(line)
        if size >= PIECE_BYTES:
            yield b"".join(lines)
            lines.clear()
            size = 0
    if lines:
        yield b"".join(lines)


def json_file(value: Any) -> list[bytes]:
    """Plain values as a file that people can read too."""
    return [orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)]


def download(
    content: Iterable[str | bytes], *, name: str, content_type: str, about: Model | None = None
) -> StreamingHttpResponse:
    return as_file(StreamingHttpResponse(content, content_type=content_type), name=name, about=about)


def csv_download(
    request: HttpRequest,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    name: str,
    about: Model | None = None,
) -> StreamingHttpResponse:
    """Stream rows as CSV, for spreadsheets unless the address says `?for=programs`."""
    content = csv_lines(columns, rows, reader=reader_of(request))
    return download(content, name=name, content_type=CSV_TYPE, about=about)


def jsonl_download(rows: Iterable[Any], *, name: str, about: Model | None = None) -> StreamingHttpResponse:
    return download(json_lines(rows), name=name, content_type="application/x-ndjson", about=about)


def json_download(
    values: Any, *, name: str, about: Model | None = None, indent: int | None = None
) -> JsonResponse:
    params = {"indent": indent} if indent else {}
    return as_file(JsonResponse(values, safe=False, json_dumps_params=params), name=name, about=about)
