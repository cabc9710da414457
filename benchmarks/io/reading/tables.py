"""Tables as CSV or JSON lines, read row by row; what is wrong is said by the row, the head being row 1."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Unpack

from benchmarks.io.reading import files, jsonlines
from benchmarks.io.reading.problems import Got, Problems

ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
"""A byte that is no UTF-8, as Python reads it past."""
TOLD = re.compile(r"sep=([,;|\t])\s*", re.IGNORECASE)
"""A line before the head that tells spreadsheets what parts the cells."""
Numbered = tuple[str, Mapping[str, Any]]
"""Where a row is, and its fields."""


@contextmanager
def opened(
    source: Path | BinaryIO,
    problems: Problems,
    *,
    required: Sequence[str],
    name: str = "",
    **limits: Unpack[files.Limits],
) -> Iterator[Iterator[Numbered]]:
    """Open a file, or read on in one, and give its rows as they are asked for; JSONL by its `name`, else CSV.

    A CSV without a column of the `required` is an error. Its cells are parted as its head is: by commas, tabs or,
    as spreadsheets write in many languages, semicolons.
    """
    with files.opened(source, problems, **limits) as stream:
        wrapped = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        text = _in_utf8(wrapped, problems)
        is_jsonl = Path(name or str(source)).suffix.lower() in {".jsonl", ".ndjson"}
        yield _jsonl_rows(text, problems) if is_jsonl else _csv_rows(text, problems, required)


def _in_utf8(text: Iterable[str], problems: Problems) -> Iterator[str]:
    """The lines up to the first that holds a byte which is no text."""
    for number, line in enumerate(text, 1):
        if byte := ESCAPED_BYTE.search(line):
            got = Got(f"the byte 0x{ord(byte[0]) - 0xDC00:02x}")
            problems.error("unreadable", f"line {number}", "", expected="text in UTF-8", got=got)
            problems.raise_errors()
        yield line


def delimiter_of(head: str) -> str:
    """The delimiter of a table's cells, by its head."""
    return max(",;\t", key=head.count)


def _csv_rows(text: Iterator[str], problems: Problems, required: Sequence[str]) -> Iterator[Numbered]:
    first, n_head = next(text, ""), 1
    if told := TOLD.fullmatch(first):
        first, n_head = next(text, ""), 2
    delimiter = told[1] if told else delimiter_of(first)
    reader = csv.DictReader(chain([first], text), delimiter=delimiter, strict=True)
    try:
        head = [name.strip().lower() for name in reader.fieldnames or ()]
        missing = [name for name in required if name not in head]
        if "summary" in head and "insight" in head and "item" in missing:
            missing.remove("item")
        if missing:
            got = Got(f"a head without {', '.join(missing)}")
            expected = f"the columns {', '.join(required)}"
            problems.error("missing_column", f"row {n_head}", "", expected=expected, got=got)
            return
        reader.fieldnames = head
        for number, row in enumerate(reader, n_head + 1):
            if None in row:
                problems.error(
                    "too_many_cells",
                    f"row {number}",
                    "",
                    expected="as many cells as the head has",
                    got=row.pop(None),
                )
            yield f"row {number}", row
    except csv.Error as error:
        problems.error("unreadable", "", "", expected="rows as CSV has them", got=Got(str(error)))


def _jsonl_rows(text: Iterable[str], problems: Problems) -> Iterator[Numbered]:
    for number, line in enumerate(text, 1):
        where = f"line {number}"
        row = jsonlines.loaded(line.encode(), problems, where=where) if line.strip() else jsonlines.MISSING
        if isinstance(row, dict):
            yield where, row
        elif row is not jsonlines.MISSING:
            problems.error("wrong_type", where, "", expected="a JSON object", got=row)
