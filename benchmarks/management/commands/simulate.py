"""Check the product's statistics on simulated data: `manage.py simulate coverage`."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.scoring.coverage_check import check
from benchmarks.scoring.coverage_worlds import WORLDS, check_worlds

ORDINARY = "ordinary"


class Command(BaseCommand):
    """`manage.py simulate coverage`"""

    help = "Print the coverage of 95 % intervals of every kind of figure on simulated data."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=["coverage"])
        parser.add_argument(
            "--worlds",
            nargs="+",
            choices=[ORDINARY, *WORLDS],
            default=[ORDINARY, *WORLDS],
            metavar="WORLD",
            help=f"what is simulated: {', '.join([ORDINARY, *WORLDS])} (default: all)",
        )
        parser.add_argument(
            "--clusters",
            type=int,
            nargs="+",
            default=[5, 10, 20],
            metavar="N",
            help=f"of the world {ORDINARY}; the others have their own",
        )
        parser.add_argument("--repetitions", type=int, default=500, metavar="N")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--json", action="store_true", help="print a list of objects")

    def handle(self, *args: Any, **options: Any) -> None:
        """Simulate, and print a row for each figure and number of clusters."""
        if options["repetitions"] < 1 or min(options["clusters"]) < 2:
            raise CommandError("Take 2 clusters or more, and 1 repetition or more.")
        common = {"repetitions": options["repetitions"], "seed": options["seed"]}
        named = [name for name in options["worlds"] if name != ORDINARY]
        ordinary = check(clusters=options["clusters"], **common) if ORDINARY in options["worlds"] else ()
        worlds = chain(ordinary, check_worlds(named, **common))
        if options["json"]:
            rows = [asdict(row) for row in worlds]
            self.stdout.write(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
            return
        self.stdout.write(f"{'figure':<52} clusters  people  coverage  mean width  of known  with an interval")
        for row in worlds:
            people = "" if row.people is None else str(row.people)
            held, width = ("—" if value is None else f"{value:.3f}" for value in (row.coverage, row.mean_width))
            known = f"{row.mean_width / row.known_width:.2f}" if row.mean_width and row.known_width else ""
            counts = f"{row.figure:<52} {row.clusters:>8}  {people:>6}"
            self.stdout.write(f"{counts}  {held:>8}  {width:>10}  {known:>8}  {row.shown:>15.0%}")
