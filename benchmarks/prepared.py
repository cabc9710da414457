"""Queries that are compiled once, for the few reads that nearly every request makes.

Building SQL from a queryset costs several times what SQLite needs to answer it. Here a queryset is compiled at its
first use, and afterwards only its parameters change. The meaning is that of the queryset, on every database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.query import get_related_populators

M = TypeVar("M", bound=models.Model)
T = TypeVar("T")


class NotPreparable(Exception):
    """A parameter does not stand in the compiled query, or cannot be told from a constant."""


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A query as text, where its parameters go, and how its rows are read."""

    sql: str
    constants: tuple[Any, ...]
    places: tuple[tuple[int, str], ...]
    converters: tuple[tuple[int, tuple[Callable[..., Any], ...], Any], ...]
    model: type[models.Model] | None
    names: tuple[str, ...]
    columns: slice
    related: tuple[Any, ...]


class _Prepared:
    """What is common to queries for rows of a model and for plain values."""

    def __init__(self, build: Callable[..., Any], **fields: models.Field[Any, Any]) -> None:
        """Take what builds the queryset from its parameters, and of which field each parameter is a value."""
        self._build, self._fields = build, fields
        self._compiled: dict[tuple[str, str], _Compiled] = {}

    def _rows(self, values: dict[str, Any], connection: BaseDatabaseWrapper) -> Iterator[Sequence[Any]]:
        done = self._for(connection)
        parameters = list(done.constants)
        for place, name in done.places:
            parameters[place] = self._fields[name].get_db_prep_value(values[name], connection)
        with connection.cursor() as cursor:
            cursor.execute(done.sql, parameters)
            found = cursor.fetchall()
        for row in found:
            converted = list(row)
            for column, converters, expression in done.converters:
                for convert in converters:
                    converted[column] = convert(converted[column], expression, connection)
            yield converted

    def _for(self, connection: BaseDatabaseWrapper) -> _Compiled:
        key = (connection.alias, connection.vendor)
        if key not in self._compiled:
            self._compiled[key] = self._compile(connection)
        return self._compiled[key]

    def _compile(self, connection: BaseDatabaseWrapper) -> _Compiled:
        samples = {name: _sample(field, number) for number, (name, field) in enumerate(self._fields.items())}
        query = self._build(**samples).query
        compiler = query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        stored = {self._fields[name].get_db_prep_value(value, connection): name for name, value in samples.items()}
        places = tuple((place, stored[value]) for place, value in enumerate(parameters) if value in stored)
        if {name for _, name in places} != set(self._fields):
            raise NotPreparable(sql)
        converters = compiler.get_converters([column[0] for column in compiler.select[: compiler.col_count]])
        info = compiler.klass_info
        columns = slice(info["select_fields"][0], info["select_fields"][-1] + 1) if info else slice(0)
        return _Compiled(
            sql=sql,
            constants=tuple(parameters),
            places=places,
            converters=tuple(
                (column, tuple(chain), expression) for column, (chain, expression) in converters.items()
            ),
            model=info["model"] if info else None,
            names=tuple(column[0].target.attname for column in compiler.select[columns]),
            columns=columns,
            related=tuple(get_related_populators(info, compiler.select, connection.alias) if info else ()),  # type: ignore[call-arg]
        )


class PreparedRows(_Prepared, Generic[M]):
    """A query for rows of one model; `only` and `select_related` work, prefetches and annotations don't.

    >>> OWN = PreparedRows(lambda uid: Session.objects.filter(uid=uid), uid=Session._meta.get_field("uid"))
    >>> OWN.first(uid=uid)
    """

    def first(self, **values: Any) -> M | None:
        """The first row, or None."""
        connection = connections["default"]
        for row in self._rows(values, connection):
            return self._instance(row, connection)
        return None

    def _instance(self, row: Sequence[Any], connection: BaseDatabaseWrapper) -> M:
        done = self._for(connection)
        found: Any = done.model.from_db(connection.alias, done.names, row[done.columns])  # type: ignore[union-attr]
        for populator in done.related:
            populator.populate(row, found)
        return found  # type: ignore[no-any-return]


class PreparedValues(_Prepared, Generic[T]):
    """A query for plain values, a tuple a row."""

    def all(self, **values: Any) -> list[tuple[T, ...]]:
        """All rows."""
        return [tuple(row) for row in self._rows(values, connections["default"])]


def _sample(field: models.Field[Any, Any], number: int) -> Any:
    """A value of the field that no query holds as a constant."""
    if isinstance(field, models.UUIDField):
        return UUID(int=0x5EED_0000_0000_0000_0000_0000_0000_0000 + number)
    if isinstance(field, models.DateTimeField):
        return datetime(1901, 2, 3, 4, 5, 6, 700_000 + number, tzinfo=UTC)
    if isinstance(field, models.CharField):
        return f"parameter {number}"
    return 1_947_110_000 + number
