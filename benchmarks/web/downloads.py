"""Streaming downloads. CSV cells that a spreadsheet would take for a formula are quoted with an apostrophe."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from django.http import StreamingHttpResponse

PIECE_BYTES = 64 * 1024
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(value: Any) -> Any:
    """Guard text against being run as a formula; numbers stay numbers, None becomes empty."""
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return "'" + value
    return value


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield CSV text, header first."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for count, row in enumerate(rows, 1):
        writer.writerow([safe_cell(value) for value in row])
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


def download(content: Iterable[str | bytes], *, name: str, content_type: str) -> StreamingHttpResponse:
    """Stream `content` as a file to keep."""
    response = StreamingHttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response


def csv_download(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, name: str) -> StreamingHttpResponse:
    """Stream rows as CSV."""
    return download(csv_lines(columns, rows), name=name, content_type="text/csv; charset=utf-8")


def jsonl_download(rows: Iterable[Any], *, name: str) -> StreamingHttpResponse:
    """Stream rows as JSON lines."""
    return download(json_lines(rows), name=name, content_type="application/x-ndjson")
