"""Tables as Parquet, where pyarrow is installed (the extra `parquet`): columns with types, lists as lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from tempfile import TemporaryFile
from typing import Any

from benchmarks.web.downloads import PIECE_BYTES

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
    """What each column holds: whole or real numbers, truth values, lists of whole numbers or texts, else texts.

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
