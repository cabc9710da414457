"""Print the tables and figures of a paper beside ours: `manage.py reproduce summhay --data FOLDER`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from extensions.papers.making import SUMMHAY, reproduce
from extensions.papers.parts import FIGURE, PAPERS, TABLE, Printed, console, printed


class Command(BaseCommand):
    """The paper's number, ours, the difference, and why there is none of ours."""

    help = (
        "Print each table and figure of a paper: its number, ours on the data at hand, the difference, and the "
        "reason where there is none of ours."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paper", choices=sorted(PAPERS))
        parser.add_argument(
            "--table", action="append", default=[], metavar="N", help="only this table; repeatable"
        )
        parser.add_argument(
            "--figure", action="append", default=[], metavar="N", help="only this figure; repeatable"
        )
        parser.add_argument(
            "--data",
            type=Path,
            metavar="FOLDER",
            help="of summhay: take the published files in this folder, in memory, and nothing of the site "
            "(default: what is on the site)",
        )
        parser.add_argument(
            "--judge",
            default="",
            metavar="NAME",
            help="whose verdicts on systems count (default: those that were published, or GPT-4o's)",
        )
        parser.add_argument(
            "--study",
            default="",
            metavar="NAME",
            help="whose labels stand for those of the paper, of several studies",
        )
        parser.add_argument("--json", action="store_true", help="print all numbers, unrounded")

    def handle(self, *args: Any, **options: Any) -> None:
        paper, data = options["paper"], options["data"]
        if data is not None and paper != SUMMHAY:
            raise CommandError(
                f"--data reads files of {PAPERS[SUMMHAY]}; import those of others, and leave it out."
            )
        wanted = {(TABLE, number) for number in options["table"]} | {
            (FIGURE, number) for number in options["figure"]
        }
        self._check(paper, wanted)

        def is_wanted(table: Printed) -> bool:
            return not wanted or (table.kind, table.number) in wanted

        parts = reproduce(paper, judge=options["judge"], study=options["study"], wanted=is_wanted, data=data)
        if options["json"]:
            self.stdout.write(
                orjson.dumps(
                    {"paper": paper, "parts": [part.as_json for part in parts]}, option=orjson.OPT_INDENT_2
                ).decode()
            )
        else:
            self.stdout.write("\n".join(console(parts, is_whole=bool(wanted))))

    def _check(self, paper: str, wanted: set[tuple[str, str]]) -> None:
        """A table that the paper does not have is a mistake."""
        known = {(table.kind, table.number) for table in printed(paper)}
        for kind, number in sorted(wanted - known):
            numbers = ", ".join(dict.fromkeys(table.number for table in printed(paper) if table.kind == kind))
            raise CommandError(f"{PAPERS[paper]} has no {kind} {number} here; there are: {numbers}.")
