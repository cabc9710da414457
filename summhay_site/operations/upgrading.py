"""Whether this program can bring a database up to date, found out without touching it.

Django would begin with the migrations that it misses, and fail half-way at tables that another version made.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

Migration = tuple[str, str]
APPLIED = "SELECT app, name FROM django_migrations"


class ForeignDatabase(Exception):
    """The database was made by a version whose migrations this program does not know; the message says so."""


def check_database() -> None:
    """Look at the database of this site, which may be empty or missing. Raises `ForeignDatabase`.

    Raises `DatabaseError` where it cannot be read.
    """
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        applied = read_file(Path(name)) if Path(name).is_file() else set()
    else:
        applied = set(MigrationRecorder(connection).applied_migrations())
    check(applied, what="This database")


def check(applied: Iterable[Migration], *, what: str) -> None:
    """Compare (app, name) of migrations with those of this program. Raises `ForeignDatabase`."""
    installed = {config.label for config in apps.get_app_configs()}
    present = {(app, name) for app, name in applied if app in installed}
    unknown = sorted(present - set(MigrationLoader(None).disk_migrations))
    if unknown:
        names = ", ".join(f"{app}.{name}" for app, name in unknown[:3]) + (", …" if len(unknown) > 3 else "")
        raise ForeignDatabase(
            f"{what} was made by another version of this program, and this one does not know its migrations "
            f"{names}: go on with that version, or export archives with it and import them into a new database. "
            "Nothing was changed."
        )


def read_file(file: Path) -> set[Migration]:
    """The migrations that were applied to an SQLite file, which is not touched. Raises `DatabaseError`."""
    log = file.with_name(f"{file.name}-wal")
    is_settled = not log.exists() or not log.stat().st_size
    how = "immutable=1" if is_settled else "mode=ro"  # a reader of any other kind makes files beside it
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?{how}", uri=True)) as reader:
            if not reader.execute("SELECT 1 FROM sqlite_master WHERE name = 'django_migrations'").fetchall():
                return set()
            return {(app, name) for app, name in reader.execute(APPLIED)}
    except sqlite3.Error as error:
        raise DatabaseError(f"{file} cannot be read: {error}.") from error
