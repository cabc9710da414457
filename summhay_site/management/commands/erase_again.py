"""Erase people from a database that was restored by other means than `restore`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from summhay_site.operations import erasing
from summhay_site.operations.erasing import erase_again


class Command(BaseCommand):
    """`manage.py erase_again`: whoever is in the list of erased people goes again."""

    help = "Erase the people in removals.jsonl whom a restored database holds again. Run migrate before it."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            n = erase_again(erased=erasing.read_tombstones(erasing.tombstone_file()))
        except erasing.Damaged as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            raise CommandError(f"The database cannot be read: {error}. Run migrate, then this again.") from error
        self.stdout.write(f"People erased again: {n}.")
