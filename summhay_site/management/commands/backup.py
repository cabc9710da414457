"""Write the whole database to one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from summhay_site.operations.backups import BackupFailed, backup


class Command(BaseCommand):
    """`manage.py backup FILE`: safe while everything runs."""

    help = "Write the whole database to FILE, which only its owner can read. Nothing needs to stop for it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--overwrite", action="store_true", help="Replace the file if it exists.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            size = backup(to=options["file"], overwrite=options["overwrite"])
        except (BackupFailed, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{options['file']}: {size:,} bytes")
