"""Write a folder to submit with a paper, or check one."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.exports.boards import BoardMade, board_made
from annotation.leaderboard.reports import add_view, studies_of, view_of
from annotation.models import Study
from annotation.results.reports import find_study
from benchmarks import audit
from benchmarks.results.computation import CannotCompute
from extensions.papers.check import NoPaper, check_paper
from extensions.papers.folder import write_paper

MOST_SHOWN = 8


class Command(BaseCommand):
    """`manage.py paper --out FOLDER --study NAME …`, then `manage.py paper --check FOLDER`"""

    help = (
        "Writes a folder with the archives of studies, their tables and charts, a LaTeX macro for each number and"
        " the methods; or checks one: every number is computed again from the archives inside, in a temporary"
        " folder, and what differs is named."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--out", type=Path, metavar="FOLDER", help="the folder to write")
        which.add_argument("--check", type=Path, metavar="FOLDER", help="the folder to check")
        parser.add_argument(
            "--study", action="append", default=[], metavar="NAME", help="by name or id; repeatable"
        )
        parser.add_argument(
            "--leaderboard",
            action="store_true",
            help="with the leaderboard of the judge and haystacks below; people on it are those of the studies",
        )
        add_view(parser)
        parser.add_argument("--licence", default="", metavar="TEXT", help="for instance CC BY 4.0")
        parser.add_argument("--no-charts", action="store_true", help="draw nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["check"] is not None:
            self._check(options["check"])
            return
        if not options["study"] and not options["leaderboard"]:
            raise CommandError("Name the studies with --study, or ask for a --leaderboard.")
        now = timezone.now()
        try:
            studies = [find_study(name) for name in dict.fromkeys(options["study"])]
            manifest = write_paper(
                options["out"],
                studies,
                boards=[_board(options, studies, now)] if options["leaderboard"] else [],
                licence=options["licence"].strip(),
                now=now,
                with_charts=not options["no_charts"],
            )
        except CannotCompute as problem:
            raise CommandError(str(problem)) from problem
        targets: list[Study | None] = [*studies] or [None]
        for target in targets:
            audit.record_export(target=target, files=[options["out"].name], now=now)
        n_files, n_numbers = len(manifest["files"]) + 1, manifest["n_numbers"]
        self.stdout.write(f"{n_files} files and {n_numbers:,} numbers in {options['out']}")

    def _check(self, folder: Path) -> None:
        try:
            problems, n_same, unknown = check_paper(folder)
        except NoPaper as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(f"{n_same:,} numbers come out again.")
        if unknown:
            self.stdout.write(f"{len(unknown):,} cannot be computed from the archives alone:")
        by_reason: dict[str, list[str]] = defaultdict(list)
        for name, why in unknown.items():
            by_reason[why].append(name)
        for why, names in by_reason.items():
            shown = ", ".join(names[:MOST_SHOWN]) + (" …" if len(names) > MOST_SHOWN else "")
            self.stdout.write(f"  {len(names):,} {why}: {shown}")
        if problems:
            raise CommandError("\n".join(problems))
        self.stdout.write("Nothing differs.")


def _board(options: Mapping[str, Any], studies: Sequence[Study], now: datetime) -> BoardMade:
    """The leaderboard that options ask for, with people and labels of these studies."""
    among = studies_of(options).filter(pk__in=[study.pk for study in studies])
    return board_made(view_of(options), among, now=now)
