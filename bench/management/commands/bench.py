"""Measure speed and memory against floors of the same run: `manage.py bench [NAME …] [--against CHECKOUT]`."""

from __future__ import annotations

import json
from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from bench.cases import CASES
from bench.driver import line, run
from bench.site import ROOT, Site, Size, ending_in_order


class Command(BaseCommand):
    """Run cases, print their figures as they come, and say how many targets are missed."""

    help = "Measures against a floor, on a server and a database of its own; the site's data is not touched."
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """List the cases below the options."""
        rows = "\n".join(f"  {case.name:<10}{case.about}" for case in CASES)
        kwargs |= {"epilog": f"cases:\n{rows}", "formatter_class": RawDescriptionHelpFormatter}
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        seconds = "of the cases `load` and `programs`"
        url = "a PostgreSQL server on which databases may be made and dropped; SQLite without it"
        other = "measure this checkout too, in turn in the same run"
        parser.add_argument("names", nargs="*", metavar="NAME", help="cases to measure; all if none is named")
        parser.add_argument("--json", action="store_true", help="print a list of figures as JSON")
        parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of which the median counts")
        parser.add_argument("--seconds", type=int, default=Size().seconds, metavar="N", help=seconds)
        parser.add_argument("--against", metavar="CHECKOUT", help=other)
        parser.add_argument("--database-url", default="", metavar="URL", help=url)

    def handle(self, *args: Any, **options: Any) -> None:
        cases = {case.name: case for case in CASES}
        if unknown := [name for name in options["names"] if name not in cases]:
            raise CommandError(f"There is no case {', '.join(unknown)}; there are {', '.join(cases)}.")
        if min(options["rounds"], options["seconds"]) < 1:
            raise CommandError("Every number must be 1 or more.")
        checkouts = [ROOT, *([Path(options["against"]).resolve()] if options["against"] else [])]
        if not (checkouts[-1] / "manage.py").exists():
            raise CommandError(f"{checkouts[-1]} is no checkout: it has no manage.py.")
        size = Size(seconds=options["seconds"])
        sites = [Site(path, size, options["database_url"], self.stderr.write) for path in checkouts]
        print_line = (lambda _: None) if options["json"] else self.stdout.write
        rows: list[dict[str, Any]] = []
        with ending_in_order():
            try:
                print_line(line())
                for name in options["names"] or cases:
                    measured = run(cases[name], sites, rounds=options["rounds"])
                    rows += measured
                    for row in measured:
                        print_line(line(row))
            finally:
                for site in sites:
                    site.close()
        missed = sum(row["met"] is False for row in rows)
        print_line(f"{missed} of {sum(row['met'] is not None for row in rows)} targets missed.")
        if options["json"]:
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
