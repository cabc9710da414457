"""What the overview of a study shows, whatever its kind: counts, a table of people, remarks, the plan.

A kind names its cards and columns; the one template draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http import QueryDict
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from annotation.kinds import Text
from annotation.models import LabelTask, Membership
from annotation.studies.amounts import duration, money, percent
from annotation.studies.overview import TOO_FAST_MS, Share
from benchmarks.web.lists import Column as ListColumn
from benchmarks.web.lists import MemoryTable

NAME = "name"


@dataclass(frozen=True, slots=True)
class Card:
    """A count above the tables, with a note below it."""

    label: Text
    value: Any
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell: a note is small, `of` draws progress out of so many."""

    text: Any
    note: str = ""
    badge: str = ""
    of: int | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table of people; neighbours of the same `group` share a heading.

    `name` stands for it in addresses. People are sorted by the text of their cells, or by what `by` gives of a
    person.
    """

    name: str
    heading: Text
    cell: Callable[[Any], Any]
    is_number: bool = True
    group: Text = ""
    by: Callable[[Any], Any] | None = None

    def value(self, person: Any) -> Any:
        """What the person is sorted by."""
        if self.by is not None:
            return self.by(person)
        text = _as_cell(self.cell(person)).text
        return None if text == "–" else text


@dataclass(frozen=True, slots=True)
class Table:
    """People in rows, each with the attribute `member`; their names come before the columns.

    `name` sets the table apart from others of the page, in addresses too.
    """

    name: str
    title: Text
    caption: str
    columns: Sequence[Column]
    people: Sequence[Any]

    def head(self, shown: MemoryTable) -> list[list[tuple[Text, list[Any]]]]:
        """One row of heads, or two where columns are grouped: titles of groups, each with what stands below it."""
        groups: list[tuple[Text, list[Any]]] = [
            (group, [shown.columns[column.name] for column in columns])
            for group, columns in groupby(self.columns, key=lambda column: column.group)
        ]
        second: list[tuple[Text, list[Any]]] = [("", columns) for group, columns in groups if group]
        first = [("", [shown.columns[NAME]]), *groups]
        return [first, second] if second else [first]

    def rows_of(self, people: Iterable[Any]) -> list[tuple[Membership, list[tuple[bool, Cell]]]]:
        """Each of these people with their cells, and whether these are numbers."""
        return [
            (person.member, [(column.is_number, _as_cell(column.cell(person))) for column in self.columns])
            for person in people
        ]

    def shown(self, query: QueryDict) -> MemoryTable:
        """The people as an address sorts them, by name or by a column."""
        is_grouped = any(column.group for column in self.columns)
        columns = [(NAME, ListColumn("Annotator", "member__annotator__label", th={"rowspan": 1 + is_grouped}))]
        columns += [
            (
                column.name,
                ListColumn(
                    column.heading,
                    column.value,
                    css="num" if column.is_number else "",
                    high_first=column.is_number or column.by is not None,
                    th={"rowspan": 2 if is_grouped and not column.group else 1},
                ),
            )
            for column in self.columns
        ]
        return MemoryTable(self.people, query, name=self.name, extra_columns=columns)


@dataclass(frozen=True, slots=True)
class Remark:
    """A task that somebody flagged, skipped or commented on, and what it is about."""

    task: LabelTask
    subject: str
    url: str = ""
    note: str = ""
    badge: str = ""


@dataclass(frozen=True, slots=True)
class Presence:
    """Somebody who is at work now, and where they are."""

    name: str
    note: str
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewPage:
    """All of it; `facts` are the plan, term by term."""

    cards: Sequence[Card]
    tables: Sequence[Table]
    facts: Sequence[tuple[Text, Any]] = ()
    remarks: Sequence[Remark] = ()
    subject: Text = ""
    """What remarks are about, as the heading of their column."""
    notice: str = ""
    context: dict[str, Any] | None = None
    """What the template of the kind shows beside that."""


def share_columns(
    labels: Mapping[str, Text], shares: Callable[[Any], Sequence[Share]], group: Text = ""
) -> list[Column]:
    """A column for each answer, headed by `labels` in the order of `shares`: how often a person gave it."""

    def column(at: int, name: str, label: Text) -> Column:
        def cell(row: Any) -> Cell:
            _answer, n, share = shares(row)[at]
            return Cell(n, note=percent(share))

        return Column(name, label, cell, group=group)

    return [column(at, name, label) for at, (name, label) in enumerate(labels.items())]


def order_fact(plan: Any) -> list[tuple[str, Any]]:
    """In which order tasks come, where a study chose another than the usual one."""
    return [("Order of tasks", "what narrows figures soonest first")] if plan.narrows_first else []


def progress_columns() -> list[Column]:
    """How far people are with their label tasks."""
    return [
        Column(
            "done",
            "Tasks done",
            lambda row: Cell(row.n_done, of=row.n_tasks) if row.n_tasks else "–",
            is_number=False,
            by=lambda row: row.n_done,
        ),
        Column("begun", "Begun", lambda row: row.tasks.get(LabelTask.State.BEGUN, 0)),
        Column("skipped", _("Skipped"), lambda row: row.tasks.get(LabelTask.State.SKIPPED, 0)),
    ]


def time_column() -> Column:
    """Active time of a person."""
    return Column("time", "Time", lambda row: duration(row.active_ms), by=lambda row: row.active_ms)


def median_column() -> Column:
    """Median time of an item that is done."""
    return Column(
        "median",
        "Median",
        lambda row: f"{number_format(row.speed.median_seconds, 1)} s" if row.speed else "–",
        by=lambda row: row.speed and row.speed.median_seconds,
    )


def fast_column() -> Column:
    """The share of items that were done faster than looks well, with its interval."""
    heading = f"Under {TOO_FAST_MS // 1000} s"
    return Column("fast", heading, _fast_cell, by=lambda row: row.speed and row.speed.fast.value)


def cost_column(currency: str) -> Column:
    """What a person has earned."""
    return Column("cost", "Cost", lambda row: money(row.cost, currency), by=lambda row: row.cost)


def work_cards(overview: Any, currency: str) -> list[Card]:
    """Tasks, time and cost of all people together."""
    done = f"{overview.n_done} / {overview.n_tasks}" if overview.n_tasks else "–"
    return [
        Card("Tasks done", done),
        Card(_("Active time"), duration(overview.active_ms) if overview.active_ms else "–"),
        Card("Cost so far", money(overview.cost, currency)),
    ]


def _fast_cell(row: Any) -> Cell:
    if row.speed is None:
        return Cell("–")
    fast = row.speed.fast
    badge = "worth a look" if row.speed.is_notable else ""
    return Cell(percent(fast.value), note=f"{percent(fast.low)} – {percent(fast.high)}", badge=badge)


def _as_cell(value: Any) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)
