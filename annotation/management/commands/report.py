"""Print figures: `manage.py report judges|bias|agreement … [--json]`."""

from __future__ import annotations

from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.agreement.reports import ReportRefused, reports
from annotation.figures.references import UnknownReference


class Command(BaseCommand):
    """Figures of people and judges as a table, or with `--json` with every interval and reason."""

    help = "Print figures of people and judges, the same as on the agreement page."

    def add_arguments(self, parser: CommandParser) -> None:
        """Let each sub-report declare its own."""
        self.reports = reports()
        choices = parser.add_subparsers(dest="report", metavar="REPORT", required=True)
        for name, report in self.reports.items():
            one = choices.add_parser(name, help=report.help)
            report.add_arguments(one)
            one.add_argument("--json", action="store_true", help="print plain values with intervals and reasons")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make and print one report."""
        report = self.reports[options["report"]]
        try:
            values = report.make(options)
        except (ReportRefused, UnknownReference) as refused:
            raise CommandError(str(refused)) from refused
        if options["json"]:
            self.stdout.write(orjson.dumps(values, option=orjson.OPT_INDENT_2).decode())
        else:
            self.stdout.write("\n".join(report.lines(values)))
