"""Sheets as plain values for files: one row a figure, one row a row of a table, or one JSON object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.results.sheet import Cards, Row, Sheet, Table, Value
from benchmarks.scoring.stat import Stat, stat_json

STAT_COLUMNS = ("value", "low", "high", "n", "clusters", "method", "reason")
LONG_COLUMNS = ("part", "row", "figure", *STAT_COLUMNS, "text")
"""`value` holds numbers alone; what is no number is in `text`."""
STAT_ENDS = ("", "_low", "_high", "_n", "_reason")


def long_rows(sheet: Sheet) -> Iterator[tuple[Any, ...]]:
    """Every value as a row of `LONG_COLUMNS`.

    Several names of a row are joined by a bar; of rows that have the same, the later ones are counted.
    """
    for part in sheet.walk():
        if isinstance(part, Cards):
            yield from ((part.key, "", card.key, *_long_cells(card.stat)) for card in part.cards)
        elif isinstance(part, Table):
            seen: Counter[str] = Counter()
            for row in part.rows:
                name = " | ".join(row.names)
                seen[name] += 1
                numbered = name if seen[name] == 1 else f"{name} ({seen[name]})"
                for measure in part.measures:
                    value = row.value(measure.key)
                    if value is not None:
                        yield (part.key, numbered, measure.key, *_long_cells(value))


def stat_cells(stat: Stat) -> tuple[Any, ...]:
    """One figure as the cells of `STAT_COLUMNS`."""
    return (stat.value, stat.low, stat.high, stat.n_items, stat.n_clusters, stat.method, stat.reason)


def _long_cells(value: Value) -> tuple[Any, ...]:
    if isinstance(value, Stat):
        return (*stat_cells(value), "")
    number, text = (None, value) if isinstance(value, str) else (value, "")
    return (number, None, None, None, None, "", "", text)


def wide(table: Table) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Columns and rows of one table: its names, then each measure with interval, n, reason and note."""
    with_interval = {measure.key for measure in table.stats_only}
    with_note = {each.key for each in table.measures if any(row.cell(each.key).aside for row in table.rows)}
    columns = [name.key for name in table.names]
    for measure in table.measures:
        columns += [measure.key + end for end in STAT_ENDS] if measure.key in with_interval else [measure.key]
        columns += [f"{measure.key}_note"] if measure.key in with_note else []

    def rows() -> Iterator[tuple[Any, ...]]:
        for row in table.rows:
            cells: list[Any] = list(row.names)
            for measure in table.measures:
                value = row.value(measure.key)
                if measure.key not in with_interval:
                    cells.append(value)
                elif isinstance(value, Stat):
                    cells += (value.value, value.low, value.high, value.n_items, value.reason)
                else:
                    cells += (value, None, None, None, "")
                if measure.key in with_note:
                    cells.append(str(row.cell(measure.key).aside))
            yield tuple(cells)

    return columns, rows()


def sheet_json(sheet: Sheet) -> dict[str, Any]:
    """{cards: {key: figures}, tables: {key: [{names, values, intervals, reasons}]}}, with plain values only."""
    plain: dict[str, Any] = {"cards": {}, "tables": {}}
    for part in sheet.walk():
        if isinstance(part, Cards):
            stats = {card.key: card.stat for card in part.cards if isinstance(card.stat, Stat)}
            numbers = {card.key: card.stat for card in part.cards if card.is_plain}
            plain["cards"][part.key] = {**numbers, **stat_json(stats)}
        elif isinstance(part, Table):
            plain["tables"][part.key] = [_row_json(part, row) for row in part.rows]
    return plain


def _row_json(table: Table, row: Row) -> dict[str, Any]:
    values = {measure.key: row.value(measure.key) for measure in table.measures}
    stats = {key: value for key, value in values.items() if isinstance(value, Stat)}
    others = {key: value for key, value in values.items() if not isinstance(value, Stat)}
    names = {name.key: value for name, value in zip(table.names, row.names, strict=True)}
    return {"names": names, **others, **stat_json(stats)}
