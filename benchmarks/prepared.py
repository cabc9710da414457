"""Queries that are compiled once, for the few reads and writes that nearly every request makes.

Building SQL from a queryset costs several times what SQLite needs to answer it. Here a queryset is compiled at its
first use, and afterwards only its parameters change. The meaning is that of the queryset, on every database.
Rows are written by `insert` and `update`, which know no signals, no defaults of the database and no inheritance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.query import get_related_populators

M = TypeVar("M", bound=models.Model)
T = TypeVar("T")


class NotPreparable(Exception):
    """A parameter does not stand in the compiled query, or cannot be told from a constant."""


class NotUpdated(Exception):
    """The row that was to be written is not there."""


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A query as text, where its parameters go, and how its rows are read."""

    sql: str
    constants: tuple[Any, ...]
    positions: tuple[tuple[int, str], ...]
    converters: tuple[tuple[int, tuple[Callable[..., Any], ...], Any], ...]
    model: type[models.Model] | None
    names: tuple[str, ...]
    columns: slice
    related: tuple[Any, ...]
    annotations: tuple[tuple[str, int], ...]


class _Prepared:
    """What is common to queries for rows of a model and for plain values."""

    def __init__(self, build: Callable[..., Any], **fields: models.Field[Any, Any]) -> None:
        """Take what builds the queryset from its parameters, and of which field each parameter is a value."""
        self._build, self._fields = build, fields
        self._compiled: dict[tuple[str, str], _Compiled] = {}

    def _rows(self, values: dict[str, Any], connection: BaseDatabaseWrapper) -> Iterator[Sequence[Any]]:
        done = self._for(connection)
        parameters = list(done.constants)
        for position, name in done.positions:
            parameters[position] = self._fields[name].get_db_prep_value(values[name], connection)
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
        positions = tuple(
            (position, stored[value]) for position, value in enumerate(parameters) if value in stored
        )
        if {name for _, name in positions} != set(self._fields):
            raise NotPreparable(sql)
        converters = compiler.get_converters([column[0] for column in compiler.select[: compiler.col_count]])
        info = compiler.klass_info
        columns = slice(info["select_fields"][0], info["select_fields"][-1] + 1) if info else slice(0)
        return _Compiled(
            sql=sql,
            constants=tuple(parameters),
            positions=positions,
            converters=tuple(
                (column, tuple(chain), expression) for column, (chain, expression) in converters.items()
            ),
            model=info["model"] if info else None,
            names=tuple(column[0].target.attname for column in compiler.select[columns]),
            columns=columns,
            annotations=tuple((compiler.annotation_col_map or {}).items()) if info else (),
            related=tuple(get_related_populators(info, compiler.select, connection.alias) if info else ()),  # type: ignore[call-arg]
        )


class PreparedRows(_Prepared, Generic[M]):
    """A query for rows of one model; `only`, `select_related` and annotations work, prefetches don't.

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
        for name, column in done.annotations:
            setattr(found, name, row[column])
        return found  # type: ignore[no-any-return]


class PreparedValues(_Prepared, Generic[T]):
    """A query for plain values, a tuple a row."""

    def all(self, **values: Any) -> list[tuple[T, ...]]:
        return [tuple(row) for row in self._rows(values, connections["default"])]


def insert(row: models.Model) -> None:
    """Add a row, like `row.save(force_insert=True)`; its key is set."""
    connection = connections["default"]
    fields, sql = _insertion(type(row), connection.vendor)
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        row.pk = cursor.fetchone()[0]
    row._state.adding, row._state.db = False, connection.alias


def update(row: models.Model, *names: str) -> None:
    """Write these fields of a row, like `row.save(update_fields=names)`.

    Raises:
        NotUpdated: the row is not there any more.
    """
    connection = connections["default"]
    fields, sql = _change(type(row), names, connection.vendor)
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*values, row.pk])
        if cursor.rowcount != 1:
            raise NotUpdated(f"{type(row).__name__} {row.pk}")


@lru_cache
def _insertion(model: type[models.Model], vendor: str) -> tuple[tuple[models.Field[Any, Any], ...], str]:
    fields = tuple(field for field in model._meta.concrete_fields if not field.primary_key)
    columns, places = ", ".join(map(_column, fields)), ", ".join(["%s"] * len(fields))
    table, key = _quoted(model._meta.db_table), _column(model._meta.pk)
    return fields, f"INSERT INTO {table} ({columns}) VALUES ({places}) RETURNING {key}"  # noqa: S608  our names


@lru_cache
def _change(
    model: type[models.Model], names: tuple[str, ...], vendor: str
) -> tuple[tuple[models.Field[Any, Any], ...], str]:
    by_name = {field.name: field for field in model._meta.concrete_fields}
    fields = tuple(by_name[name] for name in names)
    changes = ", ".join(f"{_column(field)} = %s" for field in fields)
    table, key = _quoted(model._meta.db_table), _column(model._meta.pk)
    return fields, f"UPDATE {table} SET {changes} WHERE {key} = %s"  # noqa: S608  our names


def _quoted(name: str) -> str:
    return connections["default"].ops.quote_name(name)


def _column(field: Any) -> str:
    return _quoted(field.column)


def _sample(field: models.Field[Any, Any], number: int) -> Any:
    """A value of the field that no query holds as a constant."""
    if isinstance(field, models.UUIDField):
        return UUID(int=0x5EED_0000_0000_0000_0000_0000_0000_0000 + number)
    if isinstance(field, models.DateTimeField):
        return datetime(1901, 2, 3, 4, 5, 6, 700_000 + number, tzinfo=UTC)
    if isinstance(field, models.CharField):
        return f"parameter {number}"
    return 1_947_110_000 + number
