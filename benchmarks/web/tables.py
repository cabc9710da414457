"""Tables whose rows are sorted and filtered by the address, so that a view of them can be kept and passed on.

`sort=minutes` sorts by a column its usual way (numbers often from the highest), `sort=-minutes` the other way
round. A `Table` is declared once; `shown` applies an address to rows, in a list or in the database. The tags
`sort_head` and `table_filters` of the library `tables` draw the heads and the filters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from django.db.models import F, Q, QuerySet
from django.http import QueryDict
from django.utils.functional import Promise

Text = str | Promise
Row = TypeVar("Row")
Key = Callable[..., Any] | str
"""A value of a row; the name of a field where rows are in the database."""
DIGITS = re.compile(r"([0-9]+)")
PAGE = "page"
"""The parameter that another order or filter sets back."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column to sort by; rows without a value (None) come last, whichever way round."""

    key: Key
    high_first: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter by one value. Without `options` (value, label) it offers the values that the rows have.

    For rows in the database `key` may also be a function that narrows them to a value.
    """

    name: str
    label: Text
    key: Key
    options: Sequence[tuple[str, Text]] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """A filter by text, whatever its case, in a value of the row or in any of some fields."""

    label: Text
    key: Callable[[Any], str] | tuple[str, ...]
    name: str = "q"


@dataclass(frozen=True, slots=True)
class Order:
    """Sorted by the column `by` (empty: as they came), turned round or not."""

    columns: Mapping[str, Column]
    by: str = ""
    is_turned: bool = False

    @classmethod
    def read(cls, value: str, columns: Mapping[str, Column], default: str = "") -> Order:
        """The order that an address asks for; an unknown column falls back to `default`."""
        asked = value if value.removeprefix("-") in columns else default
        return cls(columns, asked.removeprefix("-"), asked.startswith("-"))

    @property
    def is_descending(self) -> bool:
        """Whether high values come first."""
        return bool(self.by) and self.columns[self.by].high_first != self.is_turned

    @property
    def value(self) -> str:
        """The order as an address says it."""
        return f"-{self.by}" if self.is_turned else self.by

    def turned(self, column: str) -> str:
        """What the head of a column asks for: its usual way, or the other way round if that is how it is."""
        return f"-{column}" if column == self.by and not self.is_turned else column

    def of(self, rows: Iterable[Row]) -> list[Row]:
        """The rows of a list in this order; equal ones stay as they came."""
        if not self.by:
            return list(rows)
        key = cast("Callable[[Any], Any]", self.columns[self.by].key)
        valued = [(key(row), row) for row in rows]
        known = [pair for pair in valued if pair[0] is not None]
        known.sort(key=lambda pair: _folded(pair[0]), reverse=self.is_descending)
        return [row for _value, row in known] + [row for value, row in valued if value is None]

    def of_rows(self, rows: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
        """Rows in the database in this order; equal ones as their own order or, last, their keys say."""
        if not self.by:
            return rows
        column = F(cast("str", self.columns[self.by].key))
        first = column.desc(nulls_last=True) if self.is_descending else column.asc(nulls_last=True)
        return rows.order_by(first, *(rows.query.order_by or ("-pk",)))


@dataclass(frozen=True, slots=True)
class Select:
    """A `Choice` in a page: its parameter, what is offered, and what is chosen."""

    parameter: str
    label: Text
    options: Sequence[tuple[str, Text]]
    chosen: str


@dataclass(frozen=True, slots=True)
class Shown(Generic[Row]):
    """Rows as an address asks for them; `name` is the id of the region of the page with table and filters."""

    name: str
    rows: Any
    n_all: int | None
    order: Order
    query: QueryDict
    parameter: str
    selects: Sequence[Select] = ()
    find: str = ""
    find_label: Text = ""
    find_parameter: str = ""

    @property
    def is_filtered(self) -> bool:
        """Whether rows may be left out."""
        return bool(self.find or any(one.chosen for one in self.selects))

    @property
    def own(self) -> set[str]:
        """The parameters of the filters."""
        return {one.parameter for one in self.selects} | ({self.find_parameter} if self.find_parameter else set())

    @property
    def kept(self) -> list[tuple[str, str]]:
        """What the form of the filters has to send along: the rest of the address."""
        others = self.query.lists()
        return [(name, str(value)) for name, values in others if name not in {*self.own, PAGE} for value in values]

    @property
    def unfiltered(self) -> str:
        """The address with every row."""
        return self._address(dict.fromkeys(self.own))

    @property
    def all_pages(self) -> str:
        """The address without the number of a page."""
        return self._address({})[1:]

    def sorted_by(self, column: str) -> str:
        """The address behind the head of a column."""
        return self._address({self.parameter: self.order.turned(column)})

    def _address(self, changes: Mapping[str, str | None]) -> str:
        query = self.query.copy()
        for name, value in {**changes, PAGE: None}.items():
            query.pop(name, None)
            if value:
                query[name] = value
        return "?" + query.urlencode()


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """What a table can be sorted and filtered by. `prefix` sets its parameters apart from another table's.

    `default` is the order without an address: a column, with a minus to turn it round; empty leaves rows as they
    come.
    """

    name: str
    columns: Mapping[str, Column]
    default: str = ""
    choices: Sequence[Choice] = ()
    search: Search | None = None
    prefix: str = field(default="", kw_only=True)

    def within(self, part: str) -> Table[Row]:
        """The same table in a part of a page that has others like it."""
        name = f"{part}-{self.name}"
        return replace(self, name=name, prefix=f"{name}-")

    def shown(self, rows: Sequence[Row] | QuerySet[Any, Any], query: QueryDict) -> Shown[Row]:
        """Filter and sort rows as an address asks for."""
        all_rows = rows
        order = Order.read(query.get(f"{self.prefix}sort", ""), self.columns, self.default)
        selects = [self._select(choice, rows, query) for choice in self.choices]
        find_parameter = f"{self.prefix}{self.search.name}" if self.search else ""
        find = query.get(find_parameter, "").strip() if self.search else ""
        for choice, select in zip(self.choices, selects, strict=True):
            if select.chosen:
                rows = _with_value(rows, choice.key, select.chosen)
        if self.search and find:
            rows = _with_text(rows, self.search.key, find)
        is_list = not isinstance(rows, QuerySet)
        return Shown(
            name=self.name,
            rows=order.of(rows) if not isinstance(rows, QuerySet) else order.of_rows(rows),
            n_all=len(all_rows) if is_list else None,
            order=order,
            query=query,
            parameter=f"{self.prefix}sort",
            selects=[one for one in selects if len(one.options) > 1 or one.chosen],
            find=find,
            find_label=self.search.label if self.search else "",
            find_parameter=find_parameter,
        )

    def _select(self, choice: Choice, rows: Any, query: QueryDict) -> Select:
        options = choice.options
        if not options and callable(choice.key) and not isinstance(rows, QuerySet):
            values = {str(choice.key(row)) for row in rows} - {"", "None"}
            options = [(value, value) for value in sorted(values, key=_folded)]
        parameter = f"{self.prefix}{choice.name}"
        asked = query.get(parameter, "")
        return Select(parameter, choice.label, options, asked if asked in dict(options) else "")


def _with_value(rows: Any, key: Key, value: str) -> Any:
    if isinstance(rows, QuerySet) and callable(key):
        return key(rows, value)
    if isinstance(key, str):
        return rows.filter(**{key: value})
    return [row for row in rows if str(key(row)) == value]


def _with_text(rows: Any, key: Callable[[Any], str] | tuple[str, ...], text: str) -> Any:
    if isinstance(key, tuple):
        holds = Q()
        for name in key:
            holds |= Q(**{f"{name}__icontains": text})
        return rows.filter(holds)
    return [row for row in rows if text.casefold() in str(key(row)).casefold()]


def _folded(value: Any) -> Any:
    """Texts by their letters whatever the case, numbers in them by size: annotator2 before annotator10."""
    if not isinstance(value, str):
        return value
    return [int(part) if part.isdecimal() else part for part in DIGITS.split(value.casefold())]
