"""Write a study or the leaderboard in the format of another program."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.exports.archive import arriving
from annotation.exports.boards import board_made
from annotation.leaderboard.reports import add_view, studies_of, view_of
from annotation.models import Study
from annotation.results.reports import find_study
from benchmarks import audit
from benchmarks.management import named
from benchmarks.results.computation import CannotCompute
from extensions.exchange.collected import Choices
from extensions.exchange.formats import (
    BOARD,
    FORMATS,
    RECALL,
    NothingToWrite,
    Wanted,
    formats_of,
    write_board,
    write_recall,
    write_study,
)


class Command(BaseCommand):
    """`manage.py export_for FORMAT (--study NAME | --judge NAME …) --out FILE.zip`"""

    help = (
        "Writes one zip for another program, of a study, of key point recall, or of the leaderboard that the other"
        " options choose. People are pseudonyms. Prompts of judges are left out; so are texts and insights unless"
        " they are asked for."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("format", choices=list(FORMATS))
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--study", default="", metavar="NAME", help="by name or id")
        which.add_argument(
            "--dataset", default="", metavar="NAME", help="of questions: their key point recall by the judge"
        )
        add_view(parser)
        parser.add_argument("--texts", action="store_true", help="with texts of people and systems")
        parser.add_argument("--insights", action="store_true", help="with reference insights and key points")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")
        parser.add_argument("--licence", default="", metavar="TEXT", help="for instance CC BY 4.0")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write beside the file, and move it there once it is complete."""
        now, out = timezone.now(), options["out"]
        choices = Choices(options["texts"], options["insights"])
        wanted = Wanted(FORMATS[options["format"]], choices, options["licence"].strip())
        study: Study | None = None
        try:
            study = find_study(options["study"]) if options["study"] else None
            kind = study.kind if study else RECALL if options["dataset"] else BOARD
            if wanted.format not in formats_of(kind):
                names = ", ".join(each.name for each in formats_of(kind)) or "no format"
                raise CommandError(f"This can be written for {names}.")
            if study is not None:
                write: Callable[..., str] = partial(write_study, study=study)
            elif options["dataset"]:
                judge = named.judge_called(options["judge"])
                write = partial(write_recall, dataset=options["dataset"], judge=judge)
            else:
                studies = studies_of(options)
                write = partial(
                    write_board, made=board_made(view_of(options), studies, now=now), people_of=studies
                )
            with arriving(out) as file:
                write(file, wanted=wanted, now=now)
        except (CannotCompute, NothingToWrite) as problem:
            raise CommandError(str(problem)) from problem
        audit.record_export(target=study, files=[out.name], now=now)
        self.stdout.write(f"{wanted.format.title} in {out}")
