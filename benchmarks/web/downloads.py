"""Downloads, mostly streamed. No format alters a text, except CSV for spreadsheets.

There a cell that would be run as a formula is quoted with an apostrophe; CSV for programs (`?for=programs`) has it
as it is.

Every file goes through `as_file`, so that `permissions.requires` can write into the audit log who took it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from django.db.models import Model
from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header

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


def download(
    content: Iterable[str | bytes], *, name: str, content_type: str, about: Model | None = None
) -> StreamingHttpResponse:
    """Stream `content` as a file to keep."""
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
    """Stream rows as JSON lines."""
    return download(json_lines(rows), name=name, content_type="application/x-ndjson", about=about)


def json_download(
    values: Any, *, name: str, about: Model | None = None, indent: int | None = None
) -> JsonResponse:
    """Answer with plain values as a JSON file."""
    params = {"indent": indent} if indent else {}
    return as_file(JsonResponse(values, safe=False, json_dumps_params=params), name=name, about=about)
