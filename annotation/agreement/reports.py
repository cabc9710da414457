"""What `manage.py report NAME` can print: a sub-report adds its arguments, makes plain values, and words them.

A new one is a module with a `REPORT`, and a line in the command.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.results.judged import licence_notes
from benchmarks.results.licence_notes import with_licence_notes
from benchmarks.results.sheet import Sheet
from benchmarks.results.writing import console


class ReportRefused(Exception):
    """What was asked for cannot be reported; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Report:
    """One sub-report: `make` takes the parsed options and gives figures.

    `as_json` makes plain values of them, `sheet` lays them out for a console. A report whose figures are plain
    values already has `lines` for a console.
    """

    help: str
    add_arguments: Callable[[ArgumentParser], None]
    make: Callable[[Mapping[str, Any]], Any]
    lines: Callable[[Any], list[str]] | None = None
    as_json: Callable[[Any], Any] | None = None
    sheet: Callable[[Any], Sheet] | None = None

    def plain(self, figures: Any) -> Any:
        """The figures as plain values, with every interval and reason."""
        return figures if self.as_json is None else self.as_json(figures)

    def console(self, figures: Any) -> list[str]:
        """The figures as lines."""
        if self.sheet is not None:
            return as_lines(self.sheet(figures))
        return [] if self.lines is None else self.lines(figures)


def as_lines(sheet: Sheet, *, with_intervals: bool = True) -> list[str]:
    """A sheet as lines for a console, with what is said of the judges behind its figures."""
    return console(with_licence_notes(sheet, licence_notes(sheet.judged)), with_intervals=with_intervals)


def number(value: float | None) -> str:
    """A figure for a console."""
    return "—" if value is None else f"{value:.3f}"


def with_interval(values: Mapping[str, Any], name: str) -> str:
    """A named figure with its interval for a console."""
    return number(values.get(name)) + bounds_of(values.get("intervals", {}).get(name))


def bounds_of(interval: Mapping[str, Any] | None) -> str:
    """The ends of an interval for a console, nothing where there is none."""
    if not interval or interval["low"] is None:
        return ""
    return f" [{interval['low']:.3f}, {interval['high']:.3f}]"
