"""Values and sheets as text for a console, as rows or JSON for files, and as LaTeX for papers.

Tables of papers have caption and label, in the packages booktabs, array and longtable.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import ngettext

from benchmarks.results.sheet import (
    DECIMALS,
    Card,
    Cards,
    Cell,
    Measure,
    Note,
    Part,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    Value,
    table_of_cards,
)
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.web import latex

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


MINUS, NOTHING, NEVER = "−", "–", "∞"
MARK = "†"
"""Beside an interval that may hold the truth less often than it claims."""
OF_FEW_CLUSTERS = "† 5 to 9 clusters, or rare labels: the coverage of these intervals is 90–95 %."

OF_FEW_ITEMS = "“few”: too few items to interpret."
FEW, OF_FEW_MARKED = "‡", "‡ Too few items to interpret."
"""The same on a page, where a word beside every figure would be read first."""
WITHOUT_BADGE = (Unit.MONEY, Unit.RATING)
"""Units of figures that say of few items what they say of many."""


def number(value: float, unit: Unit = Unit.FIGURE, *, is_signed: bool = False, minus: str = MINUS) -> str:
    """A number in its unit, thousands apart; never “-0.0”."""
    if not math.isfinite(value):
        return NEVER if value > 0 else minus + NEVER
    places = DECIMALS.get(unit, 3)
    rounded = round(100 * value if unit is Unit.SHARE else value, places) + 0.0
    return f"{rounded:{'+' if is_signed else ''},.{places}f}".replace("-", minus)


def spoken(stat: Stat, unit: Unit = Unit.FIGURE, *, is_signed: bool = False) -> str:
    """A figure with its interval, in a sentence, marked where items are too few."""
    if stat.value is None:
        return f"unknown ({stat.undefined_reason})"
    read = Unit.RATING if unit is Unit.FIGURE else unit  # of a coefficient two digits
    value, low, high = (
        "" if each is None else number(each, read, is_signed=is_signed)
        for each in (stat.value, stat.low, stat.high)
    )
    value += {Unit.SHARE: " %", Unit.POINTS: " points"}.get(unit, "")
    value += FEW if stat.too_few and unit is not Unit.POINTS else ""  # in points tables do not mark it either
    return f"{value} (95 % CI {low} to {high})" if low else value


def said_of_test(is_apart: bool | None, of: str) -> str:
    """What a test of a difference found, or that there were too few for it."""
    if is_apart is None:
        return f"there are too few {of} to test it"
    return f"the difference is {'' if is_apart else 'not '}significant"


def is_significant(stat: Stat | None) -> bool | None:
    """Whether a difference has an interval that excludes 0; None without an interval, or of too few items."""
    if stat is None or stat.low is None or stat.high is None or stat.too_few:
        return None
    return not stat.low <= 0 <= stat.high


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


BLOCKS = "matrix-"
"""What the keys of tables begin with that have the same rows and columns, one for each figure: a paper has one."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where figures come from, for captions: which study or board, judge, filter and data version.

    `label` is what labels begin with, as `tab:LABEL-KEY`. A single file also says when they were computed; an
    archive has a date of its own.
    """

    label: str = ""
    what: str = ""
    judge: str = ""
    chosen: str = ""
    data_version: str = ""
    computed_at: datetime | None = field(default=None, repr=False)

    @property
    def sentences(self) -> list[str]:
        """As a caption says it."""
        return [
            *([f"{self.what}."] if self.what else []),
            *([f"Judge: {self.judge}."] if self.judge else []),
            *([f"Filter: {self.chosen}."] if self.chosen else []),
            *([f"Data version {self.data_version}."] if self.data_version else []),
            *([f"Computed {day_of(self.computed_at)}."] if self.computed_at else []),
        ]


def day_of(moment: datetime) -> str:
    """The day of a moment on this site, as files write it."""
    return f"{timezone.localtime(moment):%Y-%m-%d}"


def tex(
    table: Table | Cards, *, origin: Origin | None = None, has_extra: bool = False, with_intervals: bool = True
) -> str:
    """A table for a paper, with intervals in small print; extra columns are in it only on request."""
    table = table_of_cards(table) if isinstance(table, Cards) else table
    measures = [
        measure
        for measure in table.measures
        if (has_extra or not measure.is_extra)
        and (not table.rows or any(row.value(measure.key) not in (None, "") for row in table.rows))
    ]
    columns = [
        *_names(table),
        *(_column(table.rows, measure, with_interval=with_intervals) for measure in measures),
    ]
    return latex.float_of(
        columns,
        caption=_caption(table, measures, origin or Origin(), with_intervals=with_intervals),
        label=_label(table.key, origin),
        groups=[str(row.group) for row in table.rows],
    )


def paper_layout(sheet: Sheet, *, origin: Origin | None = None) -> tuple[str, str] | None:
    """The blocks of a sheet side by side, as Table 2 of Summary of a Haystack has systems by retrievers.

    Its key and its LaTeX, None where there are none. Intervals are in the tables of each block.
    """
    blocks = [table for table in sheet.tables if table.key.startswith(BLOCKS)]
    if not blocks:
        return None
    columns = list(_names(blocks[0]))
    for table in blocks:
        columns += [
            _column(table.rows, measure, group=str(table.title), with_interval=False) for measure in table.measures
        ]
    together = Table(
        "by-retriever",
        " · ".join(str(table.title) for table in blocks),
        blocks[0].names,
        (),
        tuple(row for table in blocks for row in table.rows),
        about="The best system of each block is in bold.",
    )
    measures = [measure for table in blocks for measure in table.measures]
    caption = _caption(together, measures, origin or Origin(), with_intervals=False)
    return together.key, latex.float_of(columns, caption=caption, label=_label(together.key, origin))


def _names(table: Table) -> Iterator[latex.Column]:
    for at, name in enumerate(table.names):
        cells = [latex.Cell(row.names[at]) for row in table.rows]
        yield latex.Column(str(name.title or name.key), cells, is_name=True)


def _column(rows: Sequence[Row], measure: Measure, *, group: str = "", with_interval: bool = True) -> latex.Column:
    cells = [_cell(row, measure, with_interval=with_interval) for row in rows]
    return latex.Column(measure.with_unit, cells, group=group)


def _cell(row: Row, measure: Measure, *, with_interval: bool) -> latex.Cell:
    cell = row.cell(measure.key)
    is_bold = cell.place == 1
    if isinstance(cell.value, Stat):
        if cell.value.value is None:
            return latex.Cell("–")
        shown = number(cell.value.value, measure.unit, is_signed=measure.is_signed)
        ends = ends_of(cell.value, measure) if with_interval else None
        interval = f"({ends[0]}–{ends[1]}){mark_of(cell.value, measure)}" if ends else ""
        few = "few" if is_few(cell.value, measure) else ""
        return latex.Cell(shown, " ".join(filter(None, (interval, few))), is_bold)
    if cell.value is None:
        return latex.Cell("–")
    if isinstance(cell.value, str):
        return latex.Cell(cell.value)
    return latex.Cell(number(cell.value, measure.unit, is_signed=measure.is_signed), is_bold=is_bold)


def _caption(table: Table, measures: Sequence[Measure], origin: Origin, *, with_intervals: bool) -> str:
    """Title, what it is, how many items and clusters, what stands in brackets, where it comes from."""
    pairs = [
        (stat, measure)
        for row in table.rows
        for measure in measures
        if isinstance(stat := row.value(measure.key), Stat)
    ]
    stats = [stat for stat, _measure in pairs]
    has_intervals = with_intervals and any(stat.low is not None for stat in stats)
    title = f"{table.title}." if table.title and str(table.title)[-1:] not in ".?!" else str(table.title)
    words = [
        *([str(table.caption)] if table.caption else filter(None, (title, str(table.about)))),
        *_counted([stat for stat in stats if stat.value is not None]),
        *(["In brackets: 95 % intervals."] if has_intervals else []),
        *([str(OF_FEW_CLUSTERS)] if has_intervals and any(mark_of(*pair) for pair in pairs) else []),
        *([str(OF_FEW_ITEMS)] if any(is_few(*pair) for pair in pairs) else []),
        *origin.sentences,
    ]
    return latex.title(" ".join(" ".join(words).split()))


def _counted(stats: Sequence[Stat]) -> Iterator[str]:
    items = sorted({stat.n_items for stat in stats})
    clusters = sorted({stat.n_clusters for stat in stats if stat.n_clusters})
    if not items:
        return
    n = str(items[0]) if len(items) == 1 else f"{items[0]}–{items[-1]}"
    if not clusters:
        yield f"n = {n}."
        return
    of = str(clusters[0]) if len(clusters) == 1 else f"{clusters[0]}–{clusters[-1]}"
    yield ngettext("n = %(n)s in %(of)s cluster.", "n = %(n)s in %(of)s clusters.", clusters[-1]) % {
        "n": n, "of": of,
    }  # fmt: skip


def _label(key: str, origin: Origin | None) -> str:
    return "tab:" + "-".join(filter(None, (slugify(origin.label) if origin else "", slugify(key))))
