"""Mail annotators whose tasks are due soon."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.people.reminders import send_due


class Command(BaseCommand):
    """`manage.py send_reminders`: what beat does every hour."""

    help = "Mail annotators whose tasks are due in three days or one day; nobody gets more than one mail a day."

    stealth_options = ("now",)

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.EMAIL_IS_SET:
            raise CommandError("This site sends no mail: set EMAIL_URL.")
        self.stdout.write(f"Reminders sent: {send_due(now=options.get('now') or timezone.now())}.")
