"""Values and sheets as text: how a number is written, and lines for a console."""

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
)
from benchmarks.scoring.stat import Stat

MINUS, NOTHING, NEVER = "−", "–", "∞"
MARK = "†"
"""Beside an interval that may hold the truth less often than it claims."""
OF_FEW_CLUSTERS = "† 5 to 9 clusters, or rare labels: such intervals hold the truth in about 90 to 95 of 100."

OF_FEW_ITEMS = "“few”: too few items to interpret."
WITHOUT_BADGE = (Unit.MONEY, Unit.RATING)
"""Units of figures that say of few items what they say of many."""


def number(value: float, unit: Unit = Unit.FIGURE, *, is_signed: bool = False, minus: str = MINUS) -> str:
    """A number in its unit, thousands apart; never “-0.0”."""
    if not math.isfinite(value):
        return NEVER if value > 0 else minus + NEVER
    places = DECIMALS.get(unit, 3)
    rounded = round(100 * value if unit is Unit.SHARE else value, places) + 0.0
    return f"{rounded:{'+' if is_signed else ''},.{places}f}".replace("-", minus)


def ends_of(stat: Stat, measure: Measure, *, minus: str = MINUS) -> tuple[str, str] | None:
    """The ends of an interval in the unit of a measure; None where there is none."""
    if stat.low is None or stat.high is None:
        return None
    low, high = (
        number(end, measure.unit, is_signed=measure.is_signed, minus=minus) for end in (stat.low, stat.high)
    )
    return low, high


def mark_of(stat: Stat, measure: Measure) -> str:
    """The mark of an interval that may hold the truth less often than it claims; else empty."""
    has_mark = measure.has_badge and stat.low is not None and (stat.has_few_clusters or stat.caution)
    return MARK if has_mark else ""


def is_few(stat: Stat, measure: Measure) -> bool:
    """Whether a figure is said to be of too few items to interpret."""
    return stat.value is not None and stat.too_few and measure.has_badge and measure.unit not in WITHOUT_BADGE


def plain(value: Value, measure: Measure, *, with_interval: bool = True) -> str:
    """A value with its interval in brackets, for a console."""
    if isinstance(value, Stat):
        if value.value is None:
            return "—"
        ends = ends_of(value, measure, minus="-") if with_interval else None
        shown = number(value.value, measure.unit, is_signed=measure.is_signed, minus="-")
        if ends is None:
            return shown
        return f"{shown} [{ends[0]}, {ends[1]}]{mark_of(value, measure)}"
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
        if not (part_lines := _lines(part, heading, with_intervals=with_intervals)):
            continue
        lines += part_lines if is_said else ["", *above, *part_lines]
        is_said = True
    if any(f"]{MARK}" in line for line in lines):
        lines += ["", str(OF_FEW_CLUSTERS)]
    return lines[1:] if lines and not lines[0] else lines


def _lines(part: Part, heading: str, *, with_intervals: bool) -> list[str]:
    """The lines of a part under a heading; none of what is for a page only."""
    if isinstance(part, Cards):
        return _card_lines(part.cards, with_intervals=with_intervals)
    if isinstance(part, Table) and part.rows and not part.is_listing:
        has_title = bool(part.title) and str(part.title) != heading
        lines = _table_lines(part, with_intervals=with_intervals)
        return [*(["", str(part.title)] if has_title else []), *lines]
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
    measures = [measure for measure in table.measures if not measure.is_extra]
    measures.sort(key=lambda measure: not measure.is_leading)
    head = [str(name.title or name.key) for name in table.names] + [measure.with_unit for measure in measures]
    body = [
        [
            *row.names,
            *(_in_console(row.cell(measure.key), measure, with_interval=with_intervals) for measure in measures),
        ]
        for row in table.rows
    ]
    return aligned([head, *body])


def _in_console(cell: Cell, measure: Measure, *, with_interval: bool) -> str:
    if not cell.text:
        return plain(cell.value, measure, with_interval=with_interval)
    return f"{cell.text} [{cell.aside}]" if cell.aside and with_interval else str(cell.text)
