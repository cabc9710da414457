"""Measure speed, weight and memory against floors taken in the same run."""

from __future__ import annotations

import json
from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from bench.cases import Case, Measurement, Unmeasurable, all_cases
from bench.stage import Effort, Stage

VERDICTS = {True: "met", False: "MISSED", None: ""}


class Command(BaseCommand):
    """`manage.py bench [NAME…] [--json]`"""

    help = "Measures against a floor, on a server and a database of its own; the site's data is not touched."
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """List the cases below the options."""
        rows = "\n".join(f"  {one.name:<16}{one.about}" for one in all_cases().values())
        return super().create_parser(
            prog_name,
            subcommand,
            epilog=f"cases:\n{rows}",
            formatter_class=RawDescriptionHelpFormatter,
            **kwargs,
        )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to measure, and how hard."""
        effort = Effort()
        parser.add_argument("names", nargs="*", metavar="NAME", help="cases to measure; all if none is named")
        parser.add_argument("--json", action="store_true", help="print a list of measurements as JSON")
        parser.add_argument("--requests", type=int, default=effort.requests, help="of each client, a round")
        parser.add_argument("--rounds", type=int, default=effort.rounds, help="of which the median counts")
        parser.add_argument("--clients", type=int, default=effort.clients, help="at once")
        parser.add_argument(
            "--database-url",
            default="",
            metavar="URL",
            help="a PostgreSQL server on which a database may be made and dropped; SQLite without it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Measure, and print as it goes."""
        cases = _chosen(options["names"])
        if min(options["requests"], options["rounds"], options["clients"]) < 1:
            raise CommandError("--requests, --rounds and --clients must be 1 or more.")
        effort = Effort(requests=options["requests"], rounds=options["rounds"], clients=options["clients"])
        stage = Stage(effort=effort, database_url=options["database_url"], say=self._say)
        rows: list[dict[str, Any]] = []
        try:
            for one in cases:
                self._say(f"{one.name}: {one.about}")
                rows += self._measure(one, stage, is_silent=options["json"])
        finally:
            stage.close()
        if options["json"]:
            self.stdout.write(json.dumps(rows, indent=2))
        else:
            missed = sum(row["met"] is False for row in rows)
            self.stdout.write(f"{missed} of {sum(row['met'] is not None for row in rows)} targets missed.")

    def _measure(self, one: Case, stage: Stage, *, is_silent: bool) -> list[dict[str, Any]]:
        rows = []
        try:
            for found in one.run(stage):
                rows.append(found.as_json(case=one.name))
                if not is_silent:
                    self.stdout.write(line(one.name, found))
                    self.stdout.flush()
        except Unmeasurable as reason:
            self.stderr.write(f"{one.name}: not measured: {reason}")
            rows.append({"case": one.name, "not_measured": str(reason), "met": None})
        return rows

    def _say(self, message: str) -> None:
        self.stderr.write(message, self.style.NOTICE if self.stderr.isatty() else None)


def line(name: str, found: Measurement) -> str:
    """One measurement as a line of text."""
    parts = [f"{name:<14} {found.name:<48} {_number(found.value):>9} {found.unit:<4}"]
    parts.append(f"{found.target or ''!s:<13} {VERDICTS[found.is_met]:<6}")
    if found.floor is not None:
        ratio = f"{found.ratio:.2f} ×" if found.ratio is not None else ""
        parts.append(f"floor {_number(found.floor)} {found.unit} {ratio} ({found.floor_is})")
    return " ".join(parts).rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2f}"


def _chosen(names: list[str]) -> list[Case]:
    known = all_cases()
    if unknown := [name for name in names if name not in known]:
        raise CommandError(f"There is no case {', '.join(unknown)}; there are {', '.join(known)}.")
    return [known[name] for name in names] if names else list(known.values())
