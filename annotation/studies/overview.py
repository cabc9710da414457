"""The overview of a study and its page: counts, people, remarks, the plan."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from statistics import median
from typing import Any

from django.http import QueryDict
from django.utils.formats import number_format

from annotation.kinds import Text
from annotation.models import LabelItem, LabelTask, Membership, Study
from annotation.studies.amounts import duration, money, pay, percent
from annotation.studies.gaps import rows_of
from benchmarks.scoring.intervals import wilson
from benchmarks.scoring.stat import Stat
from benchmarks.web.lists import Column as ListColumn
from benchmarks.web.lists import MemoryTable

MS_PER_HOUR = 3_600_000
TOO_FAST_MS = 5_000
"""An item that took less active time deserves a look, on every page that shows speed."""
FAST_SHARE = 0.1
"""Where at least this share of the items took less time than that, it is pointed out."""
SLOW_TIMES, SLOW_ITEMS = 3, 10
"""Whose median is so many times that of all, once so many items are done, is slow."""
Share = tuple[str, int, float | None]
"""An answer, how often it was given, and its share."""


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast n items were done; `fast` is the share of them under `TOO_FAST_MS`, with its interval."""

    n: int
    median_ms: float
    per_hour: float
    fast: Stat

    @property
    def median_seconds(self) -> float:
        return self.median_ms / 1000

    @property
    def is_notable(self) -> bool:
        """Whether even the lower end of the interval is a share that deserves a look."""
        return self.fast.low is not None and self.fast.low > FAST_SHARE


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One annotator: tasks by state, active time (ms) and what it costs, speed once an item is done."""

    member: Membership
    tasks: dict[str, int]
    active_ms: int
    cost: Decimal
    speed: Speed | None

    @property
    def n_tasks(self) -> int:
        return sum(self.tasks.values())

    @property
    def n_done(self) -> int:
        return self.tasks.get(LabelTask.State.DONE, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering(Person):
    """One annotator with their answers, each with how often it was given, in the order of tables."""

    answers: Mapping[str, int]
    n_unsure: int

    @property
    def n_labels(self) -> int:
        return sum(self.answers.values())

    @property
    def shares(self) -> list[Share]:
        return shares_of(self.answers)


def shares_of(counts: Mapping[str, int]) -> list[Share]:
    n = sum(counts.values())
    return [(name, count, count / n if n else None) for name, count in counts.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Every person, and how many items there are by role and for everyone."""

    people: Sequence[Any]
    n_items: int
    n_groups: int
    n_shared_groups: int
    """Groups of which an item is for everyone."""
    n_overlap: int
    n_training: int
    n_gold: int

    @property
    def n_ordinary(self) -> int:
        """Items that enter figures."""
        return self.n_items - self.n_training - self.n_gold

    @property
    def n_tasks(self) -> int:
        return sum(row.n_tasks for row in self.people)

    @property
    def n_done(self) -> int:
        return sum(row.n_done for row in self.people)

    @property
    def active_ms(self) -> int:
        return sum(row.active_ms for row in self.people)

    @property
    def cost(self) -> Decimal:
        return sum((row.cost for row in self.people), Decimal(0))

    @property
    def n_labels(self) -> int:
        return sum(row.n_labels for row in self.people)


def speed_of(times_ms: Sequence[int]) -> Speed | None:
    """The speed of items that took so long (ms); None where there are none, or none took any time."""
    if not sum(times_ms):
        return None
    n = len(times_ms)
    return Speed(
        n=n,
        median_ms=median(times_ms),
        per_hour=n * MS_PER_HOUR / sum(times_ms),
        fast=wilson(sum(each < TOO_FAST_MS for each in times_ms), n),
    )


def people_of(study: Study) -> list[dict[str, Any]]:
    """The fields of `Person` for every member in the order of joining. Three queries."""
    rows, tasks = rows_of(study), defaultdict[int, list[Any]](list)
    for task in rows.tasks:
        tasks[task.annotator].append(task)
    ordinary = {pk for pk, item in rows.items.items() if item.role == LabelItem.Role.ORDINARY}
    people = []
    for member in rows.members:
        theirs = tasks[member.annotator_id]
        active_ms = sum(task.active_ms for task in theirs)
        done = [task for task in theirs if task.state == LabelTask.State.DONE and task.item in ordinary]
        people.append(
            {
                "member": member,
                "tasks": dict(Counter(task.state for task in theirs)),
                "active_ms": active_ms,
                "cost": pay(active_ms, study.hourly_rate),
                "speed": speed_of([task.active_ms for task in done]),
            }
        )
    return people


def notable_speeds(study: Study) -> list[str]:
    """Who of a study is fast or slow enough to be worth a look, with why. Three queries.

    Nobody is slow beside people who are too fast, with fewer than two others, or by a few seconds.
    """
    speeds = {row["member"].annotator.label: row["speed"] for row in people_of(study) if row["speed"]}
    steady = [speed.median_ms for speed in speeds.values() if not speed.is_notable]
    usual = max(median(steady), 2 * TOO_FAST_MS) if len(steady) > 2 else math.inf
    said = []
    for name, speed in speeds.items():
        if speed.is_notable:
            said.append(f"{name} ({percent(speed.fast.value)} of items in under {TOO_FAST_MS // 1000} s)")
        elif speed.n >= SLOW_ITEMS and speed.median_ms >= SLOW_TIMES * usual:
            said.append(f"{name} ({speed.median_seconds:.0f} s an item, the median {median(steady) / 1000:.0f} s)")
    return said


def counts_of(study: Study, group: str = "pk") -> dict[str, int]:
    """The numbers of items in `Overview`, and of groups, which have the same in this field. One query."""
    items = rows_of(study).items.values()
    roles = Counter((item.role, item.is_overlap) for item in items)
    return {
        "n_groups": len({getattr(item, group) for item in items}),
        "n_shared_groups": len({getattr(item, group) for item in items if item.is_overlap}),
        "n_items": len(items),
        "n_overlap": roles[LabelItem.Role.ORDINARY, True],
        "n_training": roles[LabelItem.Role.TRAINING, True],
        "n_gold": roles[LabelItem.Role.GOLD, True],
    }


def remarks_of(study: Study, *related: str) -> list[LabelTask]:
    """Tasks that somebody flagged, skipped or commented on, at most 200. One query."""
    rows = study.label_tasks.select_related("annotator", *related)
    noted = rows.filter(is_flagged=True) | rows.filter(state=LabelTask.State.SKIPPED) | rows.exclude(comment="")
    return list(noted.order_by("annotator", "position")[:200])


NAME = "name"


@dataclass(frozen=True, slots=True)
class Card:
    """A count above the tables, with a note below it."""

    label: Text
    value: Any
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: a note is small, `of` draws progress out of so many."""

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
    notice: str = ""
    context: dict[str, Any] | None = None
    """Context of the kind's template beside that."""


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


def _fast_cell(row: Any) -> Cell:
    if row.speed is None:
        return Cell("–")
    fast = row.speed.fast
    badge = "worth a look" if row.speed.is_notable else ""
    return Cell(percent(fast.value), note=f"{percent(fast.low)} – {percent(fast.high)}", badge=badge)


PROGRESS = (
    Column(
        "done",
        "Tasks done",
        lambda row: Cell(row.n_done, of=row.n_tasks) if row.n_tasks else "–",
        is_number=False,
        by=lambda row: row.n_done,
    ),
    Column("begun", "Begun", lambda row: row.tasks.get(LabelTask.State.BEGUN, 0)),
    Column("skipped", "Skipped", lambda row: row.tasks.get(LabelTask.State.SKIPPED, 0)),
)
"""How far people are with their label tasks."""
UNSURE = Column("unsure", "Not sure", lambda row: row.n_unsure)
TIME = Column("time", "Time", lambda row: duration(row.active_ms), by=lambda row: row.active_ms)
SPEED = (
    Column(
        "median",
        "Median",
        lambda row: f"{number_format(row.speed.median_seconds, 1)} s" if row.speed else "–",
        by=lambda row: row.speed and row.speed.median_seconds,
    ),
    Column(
        "fast",
        f"Under {TOO_FAST_MS // 1000} s",
        _fast_cell,
        by=lambda row: row.speed and row.speed.fast.value,
    ),
)
"""The median of items, and the share that was done faster than looks well, with its interval."""


def cost_column(currency: str) -> Column:
    return Column("cost", "Cost", lambda row: money(row.cost, currency), by=lambda row: row.cost)


def work_cards(overview: Any, currency: str) -> list[Card]:
    done = f"{overview.n_done} / {overview.n_tasks}" if overview.n_tasks else "–"
    return [
        Card("Tasks done", done),
        Card("Active time", duration(overview.active_ms) if overview.active_ms else "–"),
        Card("Cost so far", money(overview.cost, currency)),
    ]


def _as_cell(value: Any) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)
