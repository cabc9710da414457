"""Write the archive of a study, as its page offers it."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.agreement.reports import ReportRefused
from annotation.agreement.scope import find_study
from annotation.exports.archive import write_archive
from benchmarks import audit


class Command(BaseCommand):
    """`manage.py export_study --study NAME --out FILE.zip [--licence TEXT]`"""

    help = "Writes one zip with all files of a study, a manifest, a data sheet and a methods paragraph."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="NAME", help="by name or id")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")
        parser.add_argument("--licence", default="", metavar="TEXT", help="for instance CC BY 4.0")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write beside the file, and move it there once it is complete."""
        now, out = timezone.now(), options["out"]
        try:
            study = find_study(options["study"])
        except ReportRefused as problem:
            raise CommandError(str(problem)) from problem
        part = out.with_name(out.name + ".part")
        try:
            with part.open("wb") as file:
                manifest = write_archive(file, study, licence=options["licence"].strip(), now=now)
            part.replace(out)
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
        finally:
            part.unlink(missing_ok=True)
        audit.record_export(target=study, files=[out.name], now=now)
        self.stdout.write(f"{len(manifest['files']) + 1} files in {out}")
