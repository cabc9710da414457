"""Bring every writing session to now, as the worker does about every 20 seconds."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from annotation.writing import settling


class Command(BaseCommand):
    """`manage.py settle_sessions [--json]`"""

    help = "Close what time has ended and make the snapshots that are due; safe to run at any time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print {settled} as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        settled = settling.settle_due(now=timezone.now())
        self.stdout.write(json.dumps({"settled": settled}) if options["json"] else f"{settled} settled")
