"""What a database cannot hold, said of rows before they are written: too long, too large, or no such value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError
from django.db.models import Model

from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.schemas.fields import holds_nul

UNIQUE = ("23505", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY")
"""What the databases call rows that are there twice."""


def report_what_cannot_be_held(rows: Iterable[Model], problems: Problems) -> None:
    """Report values of new rows that their fields do not take; relations are not looked at."""
    for row in rows:
        for field in row._meta.concrete_fields:
            if not field.is_relation and not field.primary_key:
                _report(row, field, problems)


def _report(row: Model, field: Any, problems: Problems) -> None:
    value = getattr(row, field.attname)
    expected = f"what the field {field.name} takes"
    if holds_nul(value):
        got = Got("a text with a NUL in it")
        problems.error("wrong_value", str(row._meta.verbose_name), field.name, expected=expected, got=got)
        return
    try:
        field.clean(value, row)
    except ValidationError as error:
        if getattr(error, "code", "") != "blank":  # a database holds what forms do not take
            got = Got(" ".join(error.messages).lower().rstrip("."))
            problems.error("wrong_value", str(row._meta.verbose_name), field.name, expected=expected, got=got)


def report_refusal(error: IntegrityError | DataError, problems: Problems) -> None:
    """Say why the database refused rows: another import was faster, or they are not as they may be."""
    cause: Any = error.__cause__
    code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorname", "")
    if code in UNIQUE:
        problems.error(
            "import_race", "", "", expected="nothing twice, and no other import of it at the same time",
            got=Got("one or the other"), message="Nothing was written; import it again.",
        )  # fmt: skip
        return
    reason = str(error).partition("\n")[0]
    got = Got(f"what the database refuses ({reason})")
    message = "Nothing was written."
    problems.error(
        "not_allowed", "", "", expected="rows that keep the rules of this site", got=got, message=message
    )
