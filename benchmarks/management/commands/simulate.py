"""Check the product's statistics on simulated data: `manage.py simulate coverage`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.scoring.coverage_check import check


class Command(BaseCommand):
    """`manage.py simulate coverage`"""

    help = "Print how often 95 % intervals hold the truth, for every kind of figure, on simulated data."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to simulate, and how often."""
        parser.add_argument("what", choices=["coverage"])
        parser.add_argument("--clusters", type=int, nargs="+", default=[5, 10, 20], metavar="N")
        parser.add_argument("--repetitions", type=int, default=500, metavar="N")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--json", action="store_true", help="print a list of objects")

    def handle(self, *args: Any, **options: Any) -> None:
        """Simulate, and print a row for each figure and number of clusters."""
        if min(*options["clusters"], options["repetitions"], 1) < 1 or min(options["clusters"]) < 2:
            raise CommandError("Take 2 clusters or more, and 1 repetition or more.")
        found = check(clusters=options["clusters"], repetitions=options["repetitions"], seed=options["seed"])
        if options["json"]:
            rows = [asdict(row) for row in found]
            self.stdout.write(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
            return
        self.stdout.write(f"{'figure':<44} clusters  coverage  mean width  with an interval")
        for row in found:
            held = "—" if row.coverage is None else f"{row.coverage:.3f}"
            width = "—" if row.mean_width is None else f"{row.mean_width:.3f}"
            self.stdout.write(f"{row.figure:<44} {row.clusters:>8}  {held:>8}  {width:>10}  {row.shown:>15.0%}")
