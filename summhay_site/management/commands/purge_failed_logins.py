"""Forget failed logins after a day; beat does it every hour."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from summhay_site.accounts.logins import purge_failed_logins


class Command(BaseCommand):
    """`manage.py purge_failed_logins`"""

    help = "Forget failed logins, and the addresses they came from, that are older than a day."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{purge_failed_logins(now=timezone.now())} forgotten")
