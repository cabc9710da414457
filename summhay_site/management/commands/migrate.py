"""Django's own command, for databases that it can bring up to date."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DatabaseError

from summhay_site.operations.upgrading import ForeignDatabase, check_database
from summhay_site.postgresql import limits


class Command(migrate.Command):
    """`manage.py migrate`: refuses a database of another version untouched, and takes the time it needs."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """Look at the database first: already the checks of the system open it for writing."""
        try:
            check_database()
        except (ForeignDatabase, DatabaseError) as error:
            raise CommandError(str(error)) from error
        return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        with limits.lifted(), collected_rarely():
            super().handle(*args, **options)


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Look for unused objects rarely: a migration makes thousands of classes, and looking at them takes long.

    Migrating takes three quarters of the time then, and some 85 MB more.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(300_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
