"""Make haystacks and check them: `manage.py synthesize check FILE.json …`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from extensions.synthesis.model_work import Output
from extensions.synthesis.subcommands import SUBCOMMANDS


class Command(BaseCommand):
    """One name for all of synthesis; what there is stands in `extensions/synthesis/subcommands.py`."""

    help = "Make haystacks, and check what their documents hold."

    def add_arguments(self, parser: CommandParser) -> None:
        """Let each subcommand declare its own."""
        choices = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", required=True)
        for each in SUBCOMMANDS:
            each.add_arguments(choices.add_parser(each.name, help=each.help))

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one of them."""
        run = next(each.run for each in SUBCOMMANDS if each.name == options["subcommand"])
        run(options, Output(self.stdout.write, self.stderr.write))
