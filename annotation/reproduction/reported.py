"""Figures as `manage.py report` gives them: everything that is reproduced is computed by these reports."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any

from django.core.management.base import CommandError

from annotation.results.references import UnknownReference
from annotation.results.reports import Report, ReportRefused


@dataclass(frozen=True, slots=True)
class Reported:
    """The plain values of a report, or why there are none."""

    values: Any = None
    reason: str = ""

    def rows(self, key: str) -> dict[Any, dict[str, Any]]:
        """Its rows by one of their values; empty without any."""
        return {row[key]: row for row in self.values or ()}


def reported(report: Report, *arguments: str) -> Reported:
    """What `manage.py report … --json` prints with these arguments."""
    parser = ArgumentParser()
    report.add_arguments(parser)
    parser.add_argument("--json", action="store_true")
    options = vars(parser.parse_args([*arguments, "--json"]))
    try:
        return Reported(report.plain(report.make(options)))
    except (ReportRefused, UnknownReference, CommandError) as refused:
        return Reported(reason=str(refused).rstrip("."))
