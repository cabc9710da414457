"""What `manage.py report NAME` can print: a sub-report adds its arguments, makes plain values, and words them.

A new one is a module with a `REPORT`, named in `MODULES`.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

MODULES = {
    "leaderboard": "annotation.leaderboard.reports:LEADERBOARD",
    "position": "annotation.leaderboard.reports:POSITION",
    "retrieval": "annotation.leaderboard.report_retrieval",
    "context": "annotation.leaderboard.report_context",
    "experiments": "annotation.leaderboard.report_context:EXPERIMENTS",
    "agreement": "annotation.agreement.report_agreement",
    "judges": "annotation.agreement.report_judges",
    "bias": "annotation.agreement.report_bias",
    "kpr": "annotation.agreement.report_kpr",
    "extraction": "annotation.agreement.report_extraction",
    "validation": "annotation.agreement.report_validation",
    "likert": "annotation.agreement.report_likert",
    "replaceability": "annotation.agreement.report_replaceability",
}


class ReportRefused(Exception):
    """What was asked for cannot be reported; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Report:
    """One sub-report: `make` takes the parsed options and gives plain values, `lines` words them for a console."""

    help: str
    add_arguments: Callable[[ArgumentParser], None]
    make: Callable[[Mapping[str, Any]], Any]
    lines: Callable[[Any], list[str]]


def reports() -> dict[str, Report]:
    """All sub-reports by name."""
    found = {}
    for name, place in MODULES.items():
        module, _, attribute = place.partition(":")
        found[name] = getattr(import_module(module), attribute or "REPORT")
    return found


def number(value: float | None) -> str:
    """A figure for a console."""
    return "—" if value is None else f"{value:.3f}"


def with_interval(values: Mapping[str, Any], name: str) -> str:
    """A named figure with its interval for a console."""
    interval = values.get("intervals", {}).get(name)
    bounds = f" [{interval['low']:.3f}, {interval['high']:.3f}]" if interval else ""
    return f"{number(values.get(name))}{bounds}"


def aligned(rows: list[list[str]]) -> list[str]:
    """Columns under each other; the first row is the head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
