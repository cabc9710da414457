"""Values and sheets as text: how a number is written, tables for papers, and lines for a console."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from benchmarks.results.sheet import (
    DECIMALS,
    Card,
    Cards,
    Cell,
    Measure,
    Note,
    Part,
    Section,
    Sheet,
    Table,
    Unit,
    Value,
    table_of_cards,
)
from benchmarks.scoring.stat import Stat
from benchmarks.web import latex

MINUS, NOTHING, NEVER = "−", "–", "∞"


def number(value: float, unit: Unit = Unit.FIGURE, *, is_signed: bool = False, minus: str = MINUS) -> str:
    """A number in its unit; never “-0.0”."""
    if not math.isfinite(value):
        return NEVER if value > 0 else minus + NEVER
    places = DECIMALS.get(unit, 3)
    rounded = round(100 * value if unit is Unit.SHARE else value, places) + 0.0
    return f"{rounded:{'+' if is_signed else ''}.{places}f}".replace("-", minus)


def _ends(stat: Stat, measure: Measure, *, minus: str) -> tuple[str, str] | None:
    if stat.low is None or stat.high is None:
        return None
    low, high = (
        number(end, measure.unit, is_signed=measure.is_signed, minus=minus) for end in (stat.low, stat.high)
    )
    return low, high


def plain(value: Value, measure: Measure, *, with_interval: bool = True) -> str:
    """A value with its interval in brackets, for a console."""
    if isinstance(value, Stat):
        if value.value is None:
            return "—"
        ends = _ends(value, measure, minus="-") if with_interval else None
        shown = number(value.value, measure.unit, is_signed=measure.is_signed, minus="-")
        return shown if ends is None else f"{shown} [{ends[0]}, {ends[1]}]"
    if value is None:
        return "—"
    if isinstance(value, str):
        return value
    return number(value, measure.unit, is_signed=measure.is_signed, minus="-")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns under each other; the first row is the head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def console(sheet: Sheet, *, with_intervals: bool = True) -> list[str]:
    """Every table of a sheet, with the reasons of what is undefined, as lines for a console."""
    lines: list[str] = []
    heading, is_said = "", True
    above: list[str] = []
    for part in sheet.walk():
        if isinstance(part, Section):
            if part.title:
                heading, is_said = str(part.title), False
                above = [f"{heading} ({part.badge})" if part.badge else heading]
                above += [str(part.about)] if part.about else []
            continue
        if not (own := _lines(part, heading, with_intervals=with_intervals)):
            continue
        lines += own if is_said else ["", *above, *own]
        is_said = True
    return lines[1:] if lines and not lines[0] else lines


def _lines(part: Part, heading: str, *, with_intervals: bool) -> list[str]:
    """The lines of a part under a heading; none of what is for a page only."""
    if isinstance(part, Cards):
        return _card_lines(part.cards, with_intervals=with_intervals)
    if isinstance(part, Table) and part.rows and not part.is_listing:
        has_title = bool(part.title) and str(part.title) != heading
        own = _table_lines(part, with_intervals=with_intervals)
        return [*(["", str(part.title)] if has_title else []), *own]
    return [str(part.text)] if isinstance(part, Note) else []


def _card_lines(cards: Iterable[Card], *, with_intervals: bool) -> list[str]:
    rows = []
    for card in cards:
        measure = Measure(card.key, card.title, card.unit)
        stat = card.stat
        undefined = stat.undefined_reason if isinstance(stat, Stat) else ""
        value = str(card.text) or undefined or plain(stat, measure, with_interval=with_intervals)
        rows.append([measure.with_unit, value])
    return aligned(rows) if rows else []


def _table_lines(table: Table, *, with_intervals: bool) -> list[str]:
    measures = [one for one in table.measures if not one.is_extra]
    measures.sort(key=lambda one: not one.is_leading)
    head = [str(name.title or name.key) for name in table.names] + [one.with_unit for one in measures]
    body = [
        [
            *row.names,
            *(_in_console(row.cell(one.key), one, with_interval=with_intervals) for one in measures),
        ]
        for row in table.rows
    ]
    return aligned([head, *body])


def _in_console(cell: Cell, measure: Measure, *, with_interval: bool) -> str:
    return str(cell.text) or plain(cell.value, measure, with_interval=with_interval)


def tex(table: Table | Cards, *, has_extra: bool = False) -> str:
    """A table for a paper, with intervals in small print; needs the package booktabs.

    Extra columns are in it only on request.
    """
    table = table_of_cards(table) if isinstance(table, Cards) else table
    measures = [measure for measure in table.measures if has_extra or not measure.is_extra]
    head = [latex.title(str(name.title or name.key)) for name in table.names]
    head += [latex.title(measure.with_unit) for measure in measures]
    rows = [
        [
            *(latex.escaped(name) for name in row.names),
            *(_tex_cell(row.value(measure.key), measure) for measure in measures),
        ]
        for row in table.rows
    ]
    return latex.tabular(head, rows, n_names=len(table.names))


def _tex_cell(value: Value, measure: Measure) -> str:
    if isinstance(value, Stat):
        if value.value is None:
            return "--"
        ends = _ends(value, measure, minus="-")
        shown = number(value.value, measure.unit, is_signed=measure.is_signed, minus="-")
        return shown if ends is None else rf"{shown} {{\scriptsize ({ends[0]}--{ends[1]})}}"
    if value is None:
        return "--"
    if isinstance(value, str):
        return latex.escaped(value)
    return number(value, measure.unit, is_signed=measure.is_signed, minus="-").replace("∞", r"$\infty$")
