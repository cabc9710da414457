"""Load the demo corpora, people and past work."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from summhay_site import demo


class Command(BaseCommand):
    """`manage.py load_demo`"""

    help = (
        "Loads corpora of our own writing, a person for every role and past sessions. A second call does nothing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Load, and print the logins."""
        if settings.HTTPS:
            raise CommandError("The demo has passwords that everybody knows; it is not loaded where HTTPS is on.")
        demo.load(now=timezone.now(), say=lambda text: self.stdout.write(f"  loading {text}"))
        for username, _name, role in demo.LOGINS:
            self.stdout.write(f"  {role:<11} {username:<5} password {demo.PASSWORD}")
