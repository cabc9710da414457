"""Import files of corpora, questions, or published labels; all are checked before anything is written."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation import labels_in
from benchmarks.exchange.formats import FORMATS, Holds, get_format
from benchmarks.exchange.problems import ImportFailed, Problems
from benchmarks.exchange.questions import QuestionText
from benchmarks.importing import PUBLISHED_JUDGE, ImportReport, import_topic, merged_json
from benchmarks.importing_questions import DATASET as LONG2RAG
from benchmarks.importing_questions import import_questions

EXIT_REFUSED = 1


def _user(name: str) -> Any:
    user = get_user_model().objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is no account “{name}”.")
    return user


class Command(BaseCommand):
    """Take published corpora in; exit code 1 when a file was refused, and then nothing of any file is in."""

    help = "Import corpora from files: all or nothing; importing a file again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("format", choices=sorted(FORMATS), help="format of the files")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--dry-run", action="store_true", help="check and count, write nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")
        parser.add_argument(
            "--dataset", default=None, help="a name for these corpora together: letters, digits, - and _"
        )
        parser.add_argument(
            "--researcher", default=None, metavar="USERNAME", help="of files with labels: whose study they go to"
        )
        parser.add_argument(
            "--judge",
            default=PUBLISHED_JUDGE,
            metavar="NAME",
            help="imported judge that the published evaluations are of (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Take corpora, questions or labels in, whichever the format holds."""
        takes = {Holds.CORPUS: self._corpora, Holds.QUESTIONS: self._questions, Holds.LABELS: self._labels}
        takes[get_format(options["format"]).holds](**options)

    def _corpora(self, **options: Any) -> None:
        """Check all files first, then import them one by one; a single file is one transaction anyway."""
        only_check = options.pop("dry_run")
        reports, failures = (
            self._pass(dry_run=True, **options) if only_check or len(options["files"]) > 1 else ([], [])
        )
        if not failures and not only_check:
            reports, failures = self._pass(dry_run=False, **options)
        elif failures:
            reports = []
        merged = merged_json(reports, failures)
        self._report(merged, as_json=options["json"], dry_run=only_check)

    def _pass(
        self, *, dry_run: bool, format: str, files: list[Path], dataset: str | None, judge: str, **_: Any
    ) -> tuple[list[ImportReport], list[tuple[str, Problems]]]:
        parse = get_format(format).parse
        reports, failures = [], []
        for number, path in enumerate(files, 1):
            problems = Problems()
            self._say(f"{'Checking' if dry_run else 'Importing'} {path.name} ({number} of {len(files)})")
            try:
                topic = parse(path, problems=problems, limit_bytes=settings.UPLOAD_LIMIT_BYTES)
                report = import_topic(
                    topic,
                    actor=None,
                    now=timezone.now(),
                    dataset=dataset,
                    judge_name=judge,
                    problems=problems,
                    dry_run=dry_run,
                )
                reports.append(report)
            except ImportFailed as failure:
                failures.append((path.name, failure.problems))
        return reports, failures

    def _questions(
        self, *, format: str, files: list[Path], dataset: str | None, dry_run: bool, json: bool, **_: Any
    ) -> None:
        """Take questions in: those of all files in one transaction."""
        problems, name = Problems(), ""
        told: dict[str, Any] = {}
        failures = []
        try:
            found: list[QuestionText] = []
            for name in map(str, files):
                parse = get_format(format).parse
                found.extend(parse(Path(name), problems=problems, limit_bytes=settings.UPLOAD_LIMIT_BYTES))
            told = import_questions(
                found,
                dataset=dataset or LONG2RAG,
                actor=None,
                now=timezone.now(),
                problems=problems,
                dry_run=dry_run,
            ).as_json()
        except ImportFailed as failure:
            failures.append((Path(name).name, failure.problems))
        self._report(merged_json([], failures) | told, as_json=json, dry_run=dry_run)

    def _labels(
        self,
        *,
        format: str,
        files: list[Path],
        dataset: str | None,
        researcher: str | None,
        dry_run: bool,
        json: bool,
        **_: Any,
    ) -> None:
        """Take labels and predictions in: the entries of all files in one transaction."""
        owner = None if researcher is None else _user(researcher)
        problems = Problems()
        counts, failures = labels_in.Counts(), []
        name = ""
        try:
            entries = []
            for name in map(str, files):
                parse = get_format(format).parse
                entries.extend(parse(Path(name), problems=problems, limit_bytes=settings.UPLOAD_LIMIT_BYTES))
            counts = labels_in.import_benchmark(
                entries,
                dataset=dataset or labels_in.DATASET,
                actor=None,
                researcher=owner,
                now=timezone.now(),
                problems=problems,
                dry_run=dry_run,
            )
        except ImportFailed as failure:
            failures.append((Path(name).name, failure.problems))
        merged = merged_json([], failures)
        if not failures:
            merged |= {
                "created": counts.created,
                "unchanged": counts.unchanged,
                "updated": dict.fromkeys(counts.created, 0),
                "warnings": [warning.as_json() for warning in problems.warnings],
            }
        self._report(merged, as_json=json, dry_run=dry_run)

    def _report(self, merged: dict[str, Any], *, as_json: bool, dry_run: bool) -> None:
        if as_json:
            self.stdout.write(orjson.dumps(merged, option=orjson.OPT_INDENT_2).decode())
        else:
            self._print(merged, dry_run=dry_run)
        if merged["n_errors"]:
            sys.exit(EXIT_REFUSED)

    def _say(self, message: str) -> None:
        self.stderr.write(message, self.style.NOTICE if self.stderr.isatty() else None)

    def _print(self, merged: dict[str, Any], *, dry_run: bool) -> None:
        if not merged["n_errors"]:
            self._print_counts(merged)
        for warning in merged["warnings"]:
            self.stdout.write(f"warning: {warning['kind']} × {warning['count']:,}: {warning['example']}")
        for error in merged["errors"]:
            self.stderr.write(f"error: {error['file']}: {error['message']}")
        if hidden := merged["n_errors"] - len(merged["errors"]):
            self.stderr.write(f"and {hidden:,} more errors")
        if merged["n_errors"]:
            self.stderr.write("Nothing was imported.")
        elif dry_run:
            self.stdout.write("Dry run: nothing was written.")

    def _print_counts(self, merged: dict[str, Any]) -> None:
        rows = [
            (kind, *(merged[name][kind] for name in ("created", "unchanged", "updated")))
            for kind in merged["created"]
        ]
        self.stdout.write(f"{'':<18}{'created':>10}{'unchanged':>12}{'updated':>10}")
        for kind, *counts in rows:
            created, unchanged, updated = (f"{count:,}" for count in counts)
            self.stdout.write(f"{kind.replace('_', ' '):<18}{created:>10}{unchanged:>12}{updated:>10}")
