"""Measure speed and memory against floors of the same run: `manage.py bench [NAME …] [--against CHECKOUT]`."""

from __future__ import annotations

import json
from argparse import RawDescriptionHelpFormatter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from bench.driver import all_cases, line, run
from bench.processes import ROOT, ending_in_order
from bench.site import Site, Size

SIZES = {
    "requests": "of each client, a round",
    "rounds": "of which the median counts",
    "clients": "at once",
    "people": "who log in at once",
    "summaries": "that are labelled; a model judges a quarter of them",
    "crowd": "who work at once in the case `load`",
    "seconds": "for which they do",
}


class Command(BaseCommand):
    """Run cases, print their figures as they come, and say how many targets are missed."""

    help = "Measures against a floor, on a server and a database of its own; the site's data is not touched."
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """List the cases below the options."""
        rows = "\n".join(f"  {name:<10}{about}" for name, (about, _case) in all_cases().items())
        kwargs |= {"epilog": f"cases:\n{rows}", "formatter_class": RawDescriptionHelpFormatter}
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="cases to measure; all if none is named")
        parser.add_argument("--json", action="store_true", help="print a list of figures as JSON")
        for name, default in asdict(Size()).items():
            parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=SIZES[name])
        parser.add_argument(
            "--against", metavar="CHECKOUT", help="measure this checkout too, in turn in the same run"
        )
        url = "a PostgreSQL server on which databases may be made and dropped; SQLite without it"
        parser.add_argument("--database-url", default="", metavar="URL", help=url)

    def handle(self, *args: Any, **options: Any) -> None:
        cases, sizes = all_cases(), {name: options[name] for name in SIZES}
        if unknown := [name for name in options["names"] if name not in cases]:
            raise CommandError(f"There is no case {', '.join(unknown)}; there are {', '.join(cases)}.")
        if min(sizes.values()) < 1:
            raise CommandError("Every number must be 1 or more.")
        checkouts = [ROOT, *([Path(options["against"]).resolve()] if options["against"] else [])]
        if not (checkouts[-1] / "manage.py").exists():
            raise CommandError(f"{checkouts[-1]} is no checkout: it has no manage.py.")
        sites = [Site(path, Size(**sizes), options["database_url"], self.stderr.write) for path in checkouts]
        print_line = (lambda _: None) if options["json"] else self.stdout.write
        rows: list[dict[str, Any]] = []
        with ending_in_order():
            try:
                print_line(line())
                for name in options["names"] or cases:
                    rows += run(name, cases[name][1], sites, rounds=options["rounds"])
                    for row in rows:
                        print_line(line(row)) if row["case"] == name else None
            finally:
                for site in sites:
                    site.close()
        missed = sum(row["met"] is False for row in rows)
        print_line(f"{missed} of {sum(row['met'] is not None for row in rows)} targets missed.")
        if options["json"]:
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
