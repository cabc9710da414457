"""Write the archive of a leaderboard, as its page offers it."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.exports.boards import board_made, write_board
from annotation.leaderboard.reports import add_view, studies_of, view_of
from annotation.management.export_files import add_archive, write_archive_file
from benchmarks.results.computation import CannotCompute


class Command(BaseCommand):
    """`manage.py export_leaderboard --judge NAME --out FILE.zip`"""

    help = (
        "Writes one zip with the verdicts, figures, tables and charts of a leaderboard, a methods section, and"
        " descriptions for people and for programs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_view(parser)
        add_archive(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        try:
            board = board_made(view_of(options), studies_of(options), now=now)
        except CannotCompute as problem:
            raise CommandError(str(problem)) from problem
        write = partial(write_board, board_made=board)
        self.stdout.write(write_archive_file(options, write, of=None, now=now))
