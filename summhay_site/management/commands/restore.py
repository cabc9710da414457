"""Replace the database by a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from summhay_site.operations.backups import BackupFailed, restore


class Command(BaseCommand):
    """`manage.py restore FILE --yes`: everything now in the database is replaced."""

    help = "Replace the database by FILE. Stop web, worker and beat first."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--yes", action="store_true", help="The present database may be replaced.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["yes"]:
            raise CommandError("This replaces everything in the present database. Say --yes if that is meant.")
        try:
            n_erased = restore(source=options["file"])
        except BackupFailed as error:
            raise CommandError(str(error)) from error
        if n_erased:
            self.stdout.write(f"People erased since the backup, and erased from it again: {n_erased}.")
        self.stdout.write("Restored. Start web, worker and beat.")
