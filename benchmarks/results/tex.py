"""Tables of a sheet for papers: LaTeX with caption and label, in the packages booktabs, array and longtable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import ngettext

from benchmarks.results.sheet import Cards, Measure, Row, Sheet, Table, table_of_cards
from benchmarks.results.writing import OF_FEW_CLUSTERS, OF_FEW_ITEMS, ends_of, is_few, mark_of, number
from benchmarks.scoring.stat import Stat
from benchmarks.web import latex

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
        if (has_extra or not measure.is_extra) and _has_values(table, measure)
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


def _has_values(table: Table, measure: Measure) -> bool:
    return not table.rows or any(row.value(measure.key) not in (None, "") for row in table.rows)


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
