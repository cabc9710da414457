"""Lists that an address sorts, narrows and cuts into pages, by django-tables2 and django-filter.

Rows of the database are a `ListTable`, a `FilterSet` and a `ListPage` with both; its template extends
`site/base_list.html` and fills the block `row`. Rows in memory, which django-filter does not know, are a
`MemoryTable` in any page. An address says `sort=-minutes`, filters by their names, and `page`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.db.models import F, Q, QuerySet
from django.http import QueryDict
from django.views.decorators.http import require_safe
from django_filters import CharFilter
from django_filters.views import FilterView
from django_tables2 import Column as PlainColumn
from django_tables2 import SingleTableMixin, Table
from django_tables2.data import TableListData, TableQuerysetData

from benchmarks.web.permissions import requires

ON_A_PAGE = 100
TEXT = "q"
"""The parameter of a search."""
DIGITS = re.compile(r"([0-9]+)")


class Column(PlainColumn):  # type: ignore[misc]
    """A column of values by the path or function `key`, else of its own name.

    With `high_first` the first click sorts from the highest or latest. A `MemoryTable` is narrowed to one of the
    values of a column with `is_filter`, and to a text in any of those with `is_searched`. Its head opens
    `help_on`, an entry of the help.
    """

    def __init__(
        self,
        verbose_name: Any,
        key: str | Callable[[Any], Any] = "",
        *,
        css: str = "",
        high_first: bool = False,
        is_filter: bool = False,
        is_searched: bool = False,
        help_on: Any = None,
        **attributes: Any,
    ) -> None:
        path = key if isinstance(key, str) else ""
        attrs = {"th": {"class": css, **attributes.pop("th", {})}}
        super().__init__(verbose_name, path, attrs=attrs, initial_sort_descending=high_first, **attributes)
        self.key, self.is_filter, self.is_searched, self.help_on = key, is_filter, is_searched, help_on


class ByDatabase(TableQuerysetData):  # type: ignore[misc]
    """Rows of the database: those without a value last, whichever way round, and equal ones as they came."""

    data: QuerySet[Any]

    def order_by(self, aliases: Sequence[Any]) -> None:
        """Sort by columns, as addresses name them."""
        keys = [key for alias in aliases for key in self.table.columns[alias.bare].order_by]
        order = [getattr(F(key.bare), "desc" if key.is_descending else "asc")(nulls_last=True) for key in keys]
        if order:
            self.data = self.data.order_by(*order, *(self.data.query.order_by or ("-pk",)))


class InMemory(TableListData):  # type: ignore[misc]
    """Rows of a list, in the same way; texts by their letters whatever the case, and by the numbers in them."""

    data: list[Any]

    def order_by(self, aliases: Sequence[Any]) -> None:
        """Sort by columns, as addresses name them."""
        for alias in reversed(aliases):
            value = self.table.value_in(alias.bare)
            known = [row for row in self.data if value(row) is not None]
            known.sort(key=lambda row: _folded(value(row)), reverse=alias.is_descending)
            self.data = known + [row for row in self.data if value(row) is None]


class ListTable(Table):  # type: ignore[misc]
    def paginate(self, *args: Any, per_page: Any = None, **kwargs: Any) -> Any:
        """Cut into pages of a hundred rows, whatever an address says."""
        return super().paginate(*args, per_page=ON_A_PAGE, **kwargs)


class MemoryTable(ListTable):
    """Rows in memory as an address asks for them; `name` sets its parameters apart from another table's."""

    def __init__(self, rows: Sequence[Any], query: QueryDict, *, name: str = "", **more: Any) -> None:
        super().__init__(InMemory(list(rows)), prefix=name and f"{name}-", **more)
        self.name, self.n_all = name, len(rows)
        self.form = self._form(query)
        for field, wanted in self.form.cleaned_data.items():
            if wanted and field == TEXT:
                values = [self.value_in(column.name) for column in self._columns("is_searched")]
                self.data.data = [row for row in self.data if any(_holds(of(row), wanted) for of in values)]
            elif wanted:
                of = self.value_in(field)
                self.data.data = [row for row in self.data if str(of(row)) == wanted]
        if order := query.getlist(self.prefixed_order_by_field):
            self.order_by = order

    def turn_to(self, page: str | None) -> None:
        """Show one page of the rows: the first where the number is none, the last where it is too high."""
        self.paginate()
        self.page = self.paginator.get_page(page)

    def value_in(self, name: str) -> Callable[[Any], Any]:
        column = self.columns[name]
        value: Callable[[Any], Any] = column.column.key if callable(column.column.key) else column.accessor.resolve
        return value

    def _columns(self, mark: str) -> list[Any]:
        return [column for column in self.columns.iterall() if getattr(column.column, mark)]

    def _form(self, query: QueryDict) -> forms.Form:
        form = forms.Form(query, prefix=self.name or None)
        for column in self._columns("is_searched")[:1]:
            form.fields[TEXT] = forms.CharField(label=column.header, required=False, widget=forms.SearchInput)
        for column in self._columns("is_filter"):
            values = {str(self.value_in(column.name)(row)) for row in self.data} - {"", "None"}
            if len(values) > 1:
                choices = [("", "all"), *((value, value) for value in sorted(values, key=_folded))]
                form.fields[column.name] = forms.ChoiceField(label=column.header, required=False, choices=choices)
        form.full_clean()
        return form


class Search(CharFilter):  # type: ignore[misc]
    """A filter by text, whatever its case, in any of some fields."""

    def __init__(self, label: Any, *fields: str) -> None:
        super().__init__(label=label)
        self.fields = fields

    def filter(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        return rows.filter(Q(*((f"{name}__icontains", value) for name in self.fields), _connector=Q.OR))


class ListPage(SingleTableMixin, FilterView):  # type: ignore[misc]
    """A page with a list; a filter that is wrong says so, and leaves every row."""

    strict = False

    def get_table_data(self) -> ByDatabase:
        return ByDatabase(self.object_list)

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> Any:
        """The page, with the status of a form that is wrong where a filter is."""
        status = 422 if self.filterset.is_bound and self.filterset.errors else 200
        return super().render_to_response(context, status=status, **kwargs)

    @classmethod
    def for_users_with(cls, permission: str) -> Any:
        return requires(permission)(require_safe(cls.as_view()))


def _holds(value: Any, text: str) -> bool:
    return text.casefold() in str(value).casefold()


def _folded(value: Any) -> Any:
    """Texts by their letters whatever the case, numbers in them by size: annotator2 before annotator10."""
    if not isinstance(value, str):
        return value
    return [int(part) if part.isdecimal() else part for part in DIGITS.split(value.casefold())]
