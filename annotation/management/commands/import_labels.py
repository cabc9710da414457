"""Import plain labels made elsewhere: `manage.py import_labels FILE.csv --study NAME [--categories a,b,c]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.external_labels import import_labels
from annotation.labels_in import Counts
from benchmarks.exchange import plain_labels
from benchmarks.exchange.problems import ImportFailed, Problems

EXIT_REFUSED = 1


class Command(BaseCommand):
    """Take a table of labels in; exit code 1 when it was refused, and then nothing of it is in."""

    help = "Import labels made elsewhere (CSV or JSONL): all or nothing; the same file again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--study", required=True, metavar="NAME", help="made if there is none of this name")
        parser.add_argument(
            "--categories",
            type=plain_labels.split_categories,
            default=(),
            metavar="A,B,C",
            help="all labels that the task allows, in their order; by default those of the file",
        )
        parser.add_argument(
            "--task",
            default="",
            help="a name for one of several tasks on the same items; grounded and key_point are the two judgments"
            " on key points, whose categories are known",
        )
        parser.add_argument("--researcher", default=None, metavar="USERNAME", help="whose study it is")
        parser.add_argument("--dry-run", action="store_true", help="check and count, write nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, check, import, report."""
        owner = None
        if options["researcher"]:
            owner = get_user_model().objects.filter(username=options["researcher"]).first()
            if owner is None:
                raise CommandError(f"There is no account “{options['researcher']}”.")
        problems, counts = Problems(), Counts()
        try:
            with plain_labels.opened(options["file"], problems, limit_bytes=settings.UPLOAD_LIMIT_BYTES) as rows:
                found = plain_labels.read(
                    rows, categories=options["categories"], task=options["task"], problems=problems
                )
            _study, counts = import_labels(
                found,
                study_name=options["study"],
                task=options["task"],
                researcher=owner,
                now=timezone.now(),
                problems=problems,
                dry_run=options["dry_run"],
            )
        except ImportFailed:
            counts = Counts()
        self._report(counts, problems, as_json=options["json"], dry_run=options["dry_run"])
        if problems.n_errors:
            sys.exit(EXIT_REFUSED)

    def _report(self, counts: Counts, problems: Problems, *, as_json: bool, dry_run: bool) -> None:
        values = {
            "created": counts.created,
            "unchanged": counts.unchanged,
            "warnings": [warning.as_json() for warning in problems.warnings],
            "errors": [error.as_json() for error in problems.errors],
            "n_errors": problems.n_errors,
            "dry_run": dry_run,
        }
        if as_json:
            self.stdout.write(orjson.dumps(values, option=orjson.OPT_INDENT_2).decode())
            return
        for kind, n in counts.created.items():
            self.stdout.write(f"{kind.replace('_', ' ')}: {n:,} new, {counts.unchanged[kind]:,} unchanged")
        for warning in problems.warnings:
            self.stdout.write(f"warning: {warning.kind} × {warning.count:,}: {warning.example}")
        for error in problems.errors:
            self.stderr.write(f"error: {error}")
        if problems.n_errors:
            self.stderr.write("Nothing was imported.")
        elif dry_run:
            self.stdout.write("Dry run: nothing was written.")
