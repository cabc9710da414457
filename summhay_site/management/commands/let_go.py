"""Let go of what the settings for it say."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from summhay_site import privacy


class Command(BaseCommand):
    """`manage.py let_go`: what beat asks for each night."""

    help = (
        "Let go of what is older than the RETAIN_…_DAYS of the settings: details in the audit log, events and "
        "search words of writing sessions, ids of people of a panel, names of annotators who no longer work. "
        "Figures stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Only say what would go.")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        would = privacy.due(now=now)
        went = {} if options["dry_run"] else privacy.let_go(now=now)
        for part, n in would:
            if not part.days:
                self.stdout.write(f"{part.words}: stay ({part.setting} is not set)")
                continue
            counted = f"{n} would go" if options["dry_run"] else f"{went.get(part.name, 0)} went"
            self.stdout.write(f"{part.words}: {counted} (after {part.days} days)")
