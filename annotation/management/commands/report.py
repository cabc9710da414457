"""Print figures: `manage.py report judges|bias|agreement … [--json]`."""

from __future__ import annotations

from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.agreement import judge_reports, label_reports, recall_reports
from annotation.kinds import kinds
from annotation.leaderboard import reports
from annotation.results.judges import UnknownReference
from annotation.results.reports import Report

REPORTS: dict[str, Report] = {
    "leaderboard": reports.LEADERBOARD,
    "position": reports.POSITION,
    "retrieval": reports.RETRIEVAL,
    "context": reports.CONTEXT,
    "experiments": reports.EXPERIMENTS,
    "sources": reports.SOURCES,
    "agreement": label_reports.AGREEMENT,
    "judges": judge_reports.JUDGES,
    "bias": judge_reports.BIAS,
    "kpr": recall_reports.KPR,
    "segments": recall_reports.SEGMENTS,
    "extraction": recall_reports.EXTRACTION,
    "approval": judge_reports.APPROVAL,
    "replaceability": judge_reports.REPLACEABILITY,
    "results": label_reports.RESULTS,
    **{name: report for kind in kinds() for name, report in kind.reports.items()},
}


class Command(BaseCommand):
    """Figures of people and judges as a table, or with `--json` with every interval and reason."""

    help = "Print figures of people and judges, the same as on the agreement page."

    def add_arguments(self, parser: CommandParser) -> None:
        choices = parser.add_subparsers(dest="report", metavar="REPORT", required=True)
        for name, report in REPORTS.items():
            arguments = choices.add_parser(name, help=report.help)
            report.add_arguments(arguments)
            arguments.add_argument(
                "--json", action="store_true", help="print plain values with intervals and reasons"
            )

    def handle(self, *args: Any, **options: Any) -> None:
        report = REPORTS[options["report"]]
        try:
            figures = report.make(options)
        except UnknownReference as refused:
            raise CommandError(str(refused)) from refused
        if options["json"]:
            self.stdout.write(orjson.dumps(report.plain(figures), option=orjson.OPT_INDENT_2).decode())
        else:
            self.stdout.write("\n".join(report.console(figures)))
