"""Import files of corpora, questions or labels; all are checked before anything is written."""

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

from benchmarks.io.formats import FORMATS, Format, Option, get_format
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.files import File
from benchmarks.io.running import Report, import_files
from benchmarks.models import ResearchGroup

EXIT_REFUSED = 1


class Command(BaseCommand):
    """Take files in; exit code 1 when one was refused, and then nothing of any file is in."""

    help = "Import files: all or nothing; importing a file again changes nothing."
    format_name = ""
    """A command for one format names it here."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the options of all formats, or of the only one."""
        if not self.format_name:
            parser.add_argument("format", choices=sorted(FORMATS), help="format of the files")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--dry-run", action="store_true", help="check and count, write nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")
        parser.add_argument(
            "--researcher", default=None, metavar="USERNAME", help="of files with labels: whose study they go to"
        )
        parser.add_argument(
            "--group", default=None, metavar="NAME", help="research group of what is new (default: the whole site)"
        )
        for option, owners in self._options().items():
            of = "" if self.format_name else f"{', '.join(owners)}: "
            default = f" (default: {option.default})" if option.default else ""
            parser.add_argument(
                f"--{option.name}",
                default=None,
                metavar="NAME",
                help=f"{of}{option.help}{default}".replace("%", "%%"),
            )

    def _options(self) -> dict[Option, list[str]]:
        """Each option with the names of the formats that have it."""
        by_option: dict[Option, list[str]] = {}
        for entry in [get_format(self.format_name)] if self.format_name else FORMATS.values():
            for option in entry.options:
                by_option.setdefault(option, []).append(entry.name)
        return by_option

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the file, import it unless this is a trial, and report."""
        entry = get_format(self.format_name or options["format"])
        name = options["researcher"]
        researcher = get_user_model().objects.filter(username=name).first()
        if name is not None and researcher is None:
            raise CommandError(f"There is no account “{name}”.")
        request = ImportRequest(
            now=timezone.now(),
            options=_option_values(entry, options),
            researcher=researcher,
            group=_group(options["group"]),
        )
        paths: list[Path] = options["files"]
        files = [File(path, path.name, settings.UPLOAD_LIMIT_BYTES) for path in paths]

        def say(file: File, dry_run: bool) -> None:
            counted = f"{file.name} ({files.index(file) + 1} of {len(files)})"
            message = f"{'Checking' if dry_run else 'Importing'} {counted}"
            self.stderr.write(message, self.style.NOTICE if self.stderr.isatty() else None)

        report = import_files(entry, files, request=request, dry_run=options["dry_run"], say=say)
        if options["json"]:
            self.stdout.write(orjson.dumps(report.as_json(), option=orjson.OPT_INDENT_2).decode())
        else:
            self._print(report, dry_run=options["dry_run"])
        if report.problems.n_errors:
            sys.exit(EXIT_REFUSED)

    def _print(self, report: Report, *, dry_run: bool) -> None:
        problems = report.problems
        if not problems.n_errors:
            self._print_counts(report)
        for warning in problems.warnings:
            self.stdout.write("warning: {kind} × {count:,}: {example}".format(**warning))
        for error in problems.errors:
            self.stderr.write(f"error: {error.file}: {error}")
        if hidden := problems.n_errors - len(problems.errors):
            self.stderr.write(f"and {hidden:,} more errors")
        if problems.n_errors:
            self.stderr.write("Nothing was imported.")
        elif dry_run:
            self.stdout.write("Dry run: nothing was written.")

    def _print_counts(self, report: Report) -> None:
        self.stdout.write(f"{'':<18}{'created':>10}{'unchanged':>12}{'updated':>10}")
        for kind in report.kinds:
            counts = (report.created, report.unchanged, report.updated)
            created, unchanged, updated = (f"{count.get(kind, 0):,}" for count in counts)
            self.stdout.write(f"{kind.replace('_', ' '):<18}{created:>10}{unchanged:>12}{updated:>10}")
        is_added_to = report.created.total() + report.updated.total() > 0
        for study in report.into:
            here = "here already" if is_added_to else "here already, nothing changes"
            self.stdout.write(f"Study: {study['title']} ({'new and closed' if study['is_new'] else here})")


def _option_values(entry: Format[Any], options: dict[str, Any]) -> dict[str, str]:
    """The options of this format, with their defaults; `CommandError` for one that is needed and not there."""
    values = {}
    for option in entry.options:
        value = options[option.name]
        values[option.name] = option.default if value is None else value
        if option.is_required and not values[option.name]:
            raise CommandError(f"{entry.title}: --{option.name} is needed.")
        if len(values[option.name]) > option.max_length:
            raise CommandError(f"{entry.title}: --{option.name} has at most {option.max_length} characters.")
    return values


def _group(name: str | None) -> int | None:
    if name is None:
        return None
    groups = ResearchGroup.objects.filter(name__iexact=name, archived_at=None)
    key: int | None = groups.values_list("pk", flat=True).first()
    if key is None:
        raise CommandError(f"There is no research group “{name}”, or it is archived.")
    return key
