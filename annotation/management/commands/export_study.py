"""Write the archive of a study, as its page offers it."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from annotation.exports.studies import write_archive
from annotation.management.export_files import add_archive, write_archive_file
from annotation.results.reports import find_study


class Command(BaseCommand):
    """`manage.py export_study --study NAME --out FILE.zip [--licence TEXT]`"""

    help = (
        "Writes one zip with all files of a study, its figures, tables and charts, a methods section, and "
        "descriptions"
        " for people and for programs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="by name or id")
        add_archive(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        write = partial(write_archive, study=study)
        self.stdout.write(write_archive_file(options, write, of=study, now=timezone.now()))
