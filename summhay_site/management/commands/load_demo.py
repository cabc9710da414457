"""Load the demo corpora, people and past work."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation import first_looks
from summhay_site.demo import player
from summhay_site.models import User


class Command(BaseCommand):
    """`manage.py load_demo`"""

    help = (
        "Loads corpora of our own writing, a person for every role and past sessions. A second call does nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Let another command print the logins where they are seen."""
        parser.add_argument("--no-logins", dest="logins", action="store_false", help="don't print the logins")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.HTTPS:
            raise CommandError("The demo has passwords that everybody knows; it is not loaded where HTTPS is on.")
        is_new = not player.is_loaded()
        player.load(now=timezone.now(), say=lambda text: self.stdout.write(f"  loading {text}"))
        if is_new:
            self.stdout.write("  computing what results show first")
            first_looks.of_demo(User.objects.get(username="ada"))
        if options["logins"]:
            self.stdout.write(player.login_table())
