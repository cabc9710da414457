"""Restore a backup into a place that is thrown away, to know that it can be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from summhay_site.operations.backups import NO_LIST, BackupFailed, drill, is_unlisted


class Command(BaseCommand):
    """`manage.py try_backup FILE`: a drill; the site goes on."""

    help = "Restore FILE into a temporary SQLite file with today's tables, read each row, and say what there is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            engine, sums, at, n_erased = drill(source=options["file"])
        except (BackupFailed, OSError) as error:
            raise CommandError(str(error)) from error
        latest = f"the last act is of {at:%Y-%m-%d %H:%M} UTC" if at else "no act was recorded"
        self.stdout.write(
            f"{options['file']} can be restored: made on {engine}, {sums.n_rows:,} rows in {len(sums.by_table)} "
            f"tables, {latest}; a restore erases {n_erased} people again."
        )
        if is_unlisted(options["file"]):
            self.stdout.write(f"{NO_LIST} A restore elsewhere would bring back whoever was erased since.")
