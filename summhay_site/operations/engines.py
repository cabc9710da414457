"""A backup of one engine brought to the other: SQLite's file to PostgreSQL, an archive of `pg_dump` to SQLite.

Each row is read once more from where it was put, and compared.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import DEFAULT_DB_ALIAS, Error, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Field, JSONField, Model, Value
from django.db.utils import load_backend

from summhay_site.env import database_at
from summhay_site.operations.upgrading import Migration

BATCH = 500
Row = tuple[Any, ...]
Texts = list[str | None]
"""A row as PostgreSQL prints it."""
JSON_NULL = "null"
"""The JSON value, which is not the NULL of SQL."""


class Differs(Exception):
    """A row cannot be put into the other engine, or is not there as it was; the message names its table."""


class Sums:
    """Rows by table: how many, and a sum over all of them that does not depend on their order."""

    def __init__(self) -> None:
        self.by_table: dict[str, tuple[int, int]] = {}

    def add(self, table: str, row: Row) -> None:
        n, total = self.by_table.get(table, (0, 0))
        digest = hashlib.blake2b(repr([_plain(value) for value in row]).encode(), digest_size=16).digest()
        self.by_table[table] = n + 1, (total + int.from_bytes(digest)) % 2**128

    @property
    def n_rows(self) -> int:
        return sum(n for n, _total in self.by_table.values())

    def compare(self, other: Sums) -> None:
        """Raise `Differs` unless both have the same rows."""
        for table in sorted({*self.by_table, *other.by_table}):
            if self.by_table.get(table) != other.by_table.get(table):
                numbers = [each.by_table.get(table, (0, 0))[0] for each in (self, other)]
                raise Differs(f"{table} has {numbers[0]} rows in the backup, and {numbers[1]} or other ones now.")


@contextmanager
def in_its_place(file: Path) -> Iterator[BaseDatabaseWrapper]:
    """Another SQLite file as the database of the site, for everything that this thread does."""
    usual = connections[DEFAULT_DB_ALIAS]
    other = open_sqlite(file)
    connections[DEFAULT_DB_ALIAS] = other
    ContentType.objects.clear_cache()
    try:
        yield other
    finally:
        other.close()
        connections[DEFAULT_DB_ALIAS] = usual
        ContentType.objects.clear_cache()


def open_sqlite(file: Path) -> BaseDatabaseWrapper:
    """A connection to a file, which nothing else of the site uses."""
    usual = connections[DEFAULT_DB_ALIAS].settings_dict
    blank = {"USER": "", "PASSWORD": "", "HOST": "", "PORT": "", "NAME": str(file)}
    database = usual | blank | database_at(f"sqlite:///{file}", name="FILE")
    made: BaseDatabaseWrapper = load_backend(database["ENGINE"]).DatabaseWrapper(database, DEFAULT_DB_ALIAS)
    return made


def archive_to_sqlite(lines: Iterable[bytes], *, applied: Iterable[Migration], to: Path) -> Sums:
    """Put the rows of an archive, printed by `pg_restore --data-only`, into a new SQLite file.

    The file gets the tables of the version that made the archive. Raises `Differs`.
    """
    with in_its_place(to) as connection:
        tables = {model._meta.db_table: model for model in _tables_of(connection, set(applied))}
        read, kept = Sums(), Sums()
        try:
            with connection.constraint_checks_disabled(), transaction.atomic():
                for model in tables.values():  # what migrations put into new tables is in the archive too
                    _empty(connection, model)
                for table, names, rows in _copied(lines):
                    if table in tables:
                        _fill(connection, tables[table], names, rows, read)
            connection.check_constraints()
            for model in tables.values():
                for row in read_rows(connection, model):
                    kept.add(model._meta.db_table, row)
        except Error as error:
            raise Differs(f"SQLite does not take a row of the backup: {error}") from error
        read.compare(kept)
    return read


def sqlite_to_postgresql(file: Path) -> Sums:
    """Replace the rows of the present PostgreSQL database by those of a SQLite file of today's tables.

    All or nothing. Raises `Differs`.
    """
    target, source = connections[DEFAULT_DB_ALIAS], open_sqlite(file)
    models = _models()
    read, kept = Sums(), Sums()
    try:
        with transaction.atomic(), target.cursor() as cursor:
            tables = [model._meta.db_table for model in models]
            for statement in target.ops.sql_flush(no_style(), tables, reset_sequences=True, allow_cascade=True):
                cursor.execute(statement)
            for model in models:
                _copy_in(target, cursor, model, read_rows(source, model), read)
            for statement in target.ops.sequence_reset_sql(no_style(), models):
                cursor.execute(statement)
            for model in models:
                for row in read_rows(target, model):
                    kept.add(model._meta.db_table, row)
            read.compare(kept)
    except Error as error:
        raise Differs(f"PostgreSQL does not take a row of the backup: {error}") from error
    finally:
        source.close()
    ContentType.objects.clear_cache()
    return read


def bring_up_to_date(file: Path) -> None:
    """Give a SQLite file the tables of this version."""
    with in_its_place(file):
        call_command("migrate", interactive=False, verbosity=0)


def count_rows(file: Path) -> Sums:
    """All rows of a SQLite file that has the tables of this version."""
    sums, source = Sums(), open_sqlite(file)
    try:
        for model in _models():
            for row in read_rows(source, model):
                sums.add(model._meta.db_table, row)
    finally:
        source.close()
    return sums


def read_rows(connection: BaseDatabaseWrapper, model: type[Model]) -> Iterator[Row]:
    """All rows of a table, each value as Python has it, in the order of the columns by name."""
    fields = _fields(model)
    quoted = connection.ops.quote_name
    columns = ", ".join(quoted(field.column) for field in fields)
    expressions = [field.get_col(model._meta.db_table) for field in fields]
    converters = [
        [*connection.ops.get_db_converters(expression), *expression.get_db_converters(connection)]
        for expression in expressions
    ]
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM {quoted(model._meta.db_table)}")  # noqa: S608 - names of models
        while rows := cursor.fetchmany(BATCH):
            for row in rows:
                yield tuple(
                    _converted(value, expression, converts, connection)
                    for value, expression, converts in zip(row, expressions, converters, strict=True)
                )


def _converted(value: Any, expression: Any, converters: Sequence[Any], connection: BaseDatabaseWrapper) -> Any:
    if value == JSON_NULL and isinstance(expression.output_field, JSONField):
        return Value(None, JSONField())
    for convert in converters:
        value = convert(value, expression, connection)
    return value


def _models() -> list[type[Model]]:
    return sorted(
        (
            model
            for model in apps.get_models(include_auto_created=True)
            if model._meta.managed and not model._meta.proxy
        ),
        key=lambda model: model._meta.db_table,
    )


def _tables_of(connection: BaseDatabaseWrapper, applied: set[Migration]) -> list[type[Model]]:
    """Make the tables that these migrations make; gives the models of then."""
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    known = applied & set(graph.nodes)
    last = [key for key in known if not any(child.key in known for child in graph.node_map[key].children)]
    state = executor.migrate(last)
    return [model for model in state.apps.get_models(include_auto_created=True) if not model._meta.proxy]


def _fields(model: type[Model]) -> list[Any]:
    fields: list[Any] = list(model._meta.local_concrete_fields)
    return sorted(fields, key=lambda field: str(field.column))


def _empty(connection: BaseDatabaseWrapper, model: type[Model]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {connection.ops.quote_name(model._meta.db_table)}")  # noqa: S608


def _fill(
    connection: BaseDatabaseWrapper,
    model: type[Model],
    names: list[str],
    rows: Iterator[Texts],
    sums: Sums,
) -> None:
    table, fields = model._meta.db_table, _fields(model)
    places = [names.index(field.column) for field in fields]
    parsers = [_parser(field) for field in fields]
    quoted = connection.ops.quote_name
    columns = ", ".join(quoted(field.column) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {quoted(table)} ({columns}) VALUES ({marks})"  # noqa: S608 - names of models
    batch: list[list[Any]] = []
    with connection.cursor() as cursor:
        for texts in rows:
            row = tuple(
                None if (text := texts[place]) is None else parse(text)
                for place, parse in zip(places, parsers, strict=True)
            )
            sums.add(table, row)
            batch.append(_saved(connection, fields, row))
            if len(batch) == BATCH:
                cursor.executemany(statement, batch)
                batch.clear()
        cursor.executemany(statement, batch)


def _copy_in(
    connection: BaseDatabaseWrapper, cursor: Any, model: type[Model], rows: Iterator[Row], sums: Sums
) -> None:
    fields, quoted = _fields(model), connection.ops.quote_name
    columns = ", ".join(quoted(field.column) for field in fields)
    with (
        connection.wrap_database_errors,
        cursor.copy(f"COPY {quoted(model._meta.db_table)} ({columns}) FROM STDIN") as copy,
    ):
        for row in rows:
            sums.add(model._meta.db_table, row)
            copy.write_row(_saved(connection, fields, row))


def _saved(connection: BaseDatabaseWrapper, fields: Sequence[Field[Any, Any]], row: Row) -> list[Any]:
    return [field.get_db_prep_save(value, connection) for field, value in zip(fields, row, strict=True)]


def _parser(field: Any) -> Callable[[str], Any]:
    """A parser for values of this field as PostgreSQL prints them."""
    while field.remote_field is not None:
        field = field.target_field
    kind = field.get_internal_type()
    if kind == "BooleanField":
        return lambda text: text == "t"
    if kind == "JSONField":
        return lambda text: Value(None, JSONField()) if text == JSON_NULL else json.loads(text, cls=field.decoder)
    if kind == "BinaryField":
        return lambda text: bytes.fromhex(text.removeprefix("\\x"))
    parse: Callable[[str], Any] = field.to_python
    return parse


HEAD = re.compile(rb"COPY (?P<table>\S+) \((?P<columns>.*)\) FROM stdin;\n")
ESCAPED = re.compile(r"\\(.)")
MEANT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _copied(lines: Iterable[bytes]) -> Iterator[tuple[str, list[str], Iterator[Texts]]]:
    """Each table of an archive: its name, the names of its columns, and its rows, which must be read first."""
    stream = iter(lines)
    for line in stream:
        if head := HEAD.fullmatch(line):
            table = head["table"].decode().rpartition(".")[2].strip('"')
            yield table, [name.strip(' "') for name in head["columns"].decode().split(",")], _rows(stream)


def _rows(stream: Iterator[bytes]) -> Iterator[Texts]:
    for line in stream:
        if line == b"\\.\n":
            return
        yield [
            None if text == "\\N" else _unescaped(text) for text in line.decode().removesuffix("\n").split("\t")
        ]


def _unescaped(text: str) -> str:
    return ESCAPED.sub(lambda match: MEANT.get(match[1], match[1]), text) if "\\" in text else text


def _plain(value: Any) -> Any:
    """A value as both engines have it: JSON that they keep as other text, moments in UTC."""
    if isinstance(value, dict):
        return sorted((key, _plain(each)) for key, each in value.items())
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, (date, time, UUID)):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    return JSON_NULL if isinstance(value, Value) else value
