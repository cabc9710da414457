"""Say what is wrong with the site."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from summhay_site.operations.doctor import examine, mail_alarms


class Command(BaseCommand):
    """`manage.py doctor`: ends with 1 if something is bad, with 0 if all is well or there are warnings only."""

    help = (
        "Look at settings, folders, database, broker, workers, clocks, disk, work that nobody does, and backups. "
        "Ends with 1 if something is bad; warnings do not count."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print a list of objects: name, says, is_bad.")
        parser.add_argument(
            "--mail", action="store_true", help="Mail admins what is bad, each problem once a day, as workers do."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        problems = examine(now=now)
        if options["json"]:
            self.stdout.write(json.dumps([asdict(problem) for problem in problems], indent=2))
        else:
            for problem in problems:
                self.stdout.write(f"{'bad' if problem.is_bad else 'warning'}: {problem.says}")
            if not problems:
                self.stdout.write("All is well.")
        if options["mail"]:
            mail_alarms(now=now)
        if any(problem.is_bad for problem in problems):
            sys.exit(1)
