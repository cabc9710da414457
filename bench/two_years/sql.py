"""Rows made of rows, in one statement each, on PostgreSQL and SQLite."""

from __future__ import annotations

import json
from typing import Any

from django.db import connection, models


def insert(model: type[models.Model], source: str, **values: str) -> int:
    """Add a row for each of `source`, which stands after FROM; columns without an expression get their default.

    Gives how many rows came.
    """
    return _run(model, source, {name: _default(field) for name, field in _columns(model).items()} | values)


def copy(model: type[models.Model], source: str, **values: str) -> int:
    """Add a copy of each row `t` of `source` with some columns changed; gives how many came."""
    return _run(model, source, {name: f't."{name}"' for name in _columns(model)} | values)


def execute(statement: str) -> int:
    """Run a statement as it is; gives the number of rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        n_rows: int = cursor.rowcount
        return n_rows


def table(model: type[models.Model]) -> str:
    """The name of its table."""
    return model._meta.db_table


def later(column: str, days: str) -> str:
    """A time so many days later; nothing stays nothing."""
    if connection.vendor == "postgresql":
        return f"{column} + {days} * interval '1 day'"
    return f"strftime('%Y-%m-%d %H:%M:%f', {column}, ({days}) || ' days')"


def sha256(text: str) -> str:
    """The hash of a text as the app stores it."""
    return (
        f"encode(sha256(convert_to({text}, 'UTF8')), 'hex')"
        if connection.vendor == "postgresql"
        else f"SHA256({text})"
    )


def uid(*parts: str) -> str:
    """A key that follows from these parts."""
    digest = f"md5({' || '.join(f'({part})' for part in parts)})"
    return f"({digest})::uuid" if connection.vendor == "postgresql" else digest


def as_json(text: str) -> str:
    """An expression that gives text, as a value of JSON."""
    return f"({text})::jsonb" if connection.vendor == "postgresql" else f"({text})"


def moment(value: Any) -> str:
    """A time as a literal."""
    text = value.strftime("%Y-%m-%d %H:%M:%S.%f")
    return f"'{text}+00'::timestamptz" if connection.vendor == "postgresql" else f"'{text}'"


def dice(*keys: str, sides: int = 100) -> str:
    """A number below `sides` that follows from these keys (whole numbers)."""
    mixed = " + ".join(
        f"({key}) * {prime}" for key, prime in zip(keys, (7919, 104_729, 1299_709, 15_485), strict=False)
    )
    return f"(((({mixed}) % 1000003) * 2654435) % 999983) % {sides}"


def among(number: str, *shares: tuple[str, int]) -> str:
    """The first of these values whose bound is above the number, as text."""
    cases = " ".join(f"WHEN {number} < {bound} THEN '{value}'" for value, bound in shares[:-1])
    return f"CASE {cases} ELSE '{shares[-1][0]}' END"


def _columns(model: type[models.Model]) -> dict[str, Any]:
    fields: list[Any] = list(model._meta.concrete_fields)
    return {field.column: field for field in fields if not field.primary_key}


def _default(field: Any) -> str:
    value = field.get_default() if field.has_default() else None
    if value is None:
        return "NULL" if field.null else "''"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(field, models.JSONField):
        return f"'{json.dumps(value)}'"
    return str(value) if isinstance(value, int | float) else f"'{value}'"


def _run(model: type[models.Model], source: str, values: dict[str, str]) -> int:
    names = ", ".join(f'"{name}"' for name in values)
    return execute(f'INSERT INTO "{table(model)}" ({names}) SELECT {", ".join(values.values())} FROM {source}')  # noqa: S608
