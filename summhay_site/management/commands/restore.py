"""Replace the database by a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from summhay_site.operations.backups import NO_LIST, BackupFailed, is_unlisted, restore


class Command(BaseCommand):
    """`manage.py restore FILE --yes`: everything now in the database is replaced."""

    help = (
        "Replace the database by FILE. Stop web, worker and beat first, and start them once it says so: if it is "
        "cut off before, some tables may be missing, or people be there who were erased. Restore again then."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--yes", action="store_true", help="The present database may be replaced.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["yes"]:
            raise CommandError("This replaces everything in the present database. Pass --yes to confirm.")
        has_no_list = is_unlisted(options["file"])
        try:
            n_erased = restore(source=options["file"])
        except BackupFailed as error:
            raise CommandError(str(error)) from error
        if n_erased:
            self.stdout.write(f"People erased since the backup, and erased from it again: {n_erased}.")
        if has_no_list:
            self.stdout.write(
                f"{NO_LIST} Whoever was erased after it was made is in the database again. If there is such a "
                "file, put it into DATA_DIR and run erase_again before anybody opens the site."
            )
        self.stdout.write("Restored. Start web, worker and beat.")
