"""Make haystacks and check them: `manage.py synthesize check FILE.json …`."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from extensions.synthesis.commands import SUBCOMMANDS
from extensions.synthesis.commands.base import Failed, Output, SynthesisRefused


class Command(BaseCommand):
    """One name for all of synthesis; what there is stands in `extensions/synthesis/commands/`."""

    help = "Make haystacks, and check what their documents hold."

    def add_arguments(self, parser: CommandParser) -> None:
        """Let each subcommand declare its own."""
        choices = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", required=True)
        for subcommand in SUBCOMMANDS:
            subcommand.add_arguments(choices.add_parser(subcommand.name, help=subcommand.help))

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one of them."""
        subcommand = next(subcommand for subcommand in SUBCOMMANDS if subcommand.name == options["subcommand"])
        try:
            subcommand.run(options, Output(self.stdout.write, self.stderr.write))
        except SynthesisRefused as refused:
            raise CommandError(str(refused)) from refused
        except Failed:
            sys.exit(1)
