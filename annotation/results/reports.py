"""Reports of `manage.py report NAME`: a sub-report adds its arguments, makes plain values, and words them.

Those of a kind of study are the `reports` of its class; others have a line in the command.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from annotation.models import Study
from annotation.results.table import Rater
from benchmarks.results.approval_notes import with_approval_notes
from benchmarks.results.judged import approval_notes
from benchmarks.results.sheet import Sheet
from benchmarks.results.writing import console

OF_SUMMARIES = ("haystack", "domain", "retriever", "summarizer", "guideline")


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
        if self.sheet is not None:
            return as_lines(self.sheet(figures))
        return [] if self.lines is None else self.lines(figures)


def as_lines(sheet: Sheet, *, with_intervals: bool = True) -> list[str]:
    """A sheet as lines for a console, with what is said of the judges behind its figures."""
    return console(with_approval_notes(sheet, approval_notes(sheet.judged)), with_intervals=with_intervals)


def number(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"


def with_interval(values: Mapping[str, Any], name: str) -> str:
    return number(values.get(name)) + bounds_of(values.get("intervals", {}).get(name))


def bounds_of(interval: Mapping[str, Any] | None) -> str:
    """The ends of an interval for a console, nothing where there is none."""
    if not interval or interval["low"] is None:
        return ""
    return f" [{interval['low']:.3f}, {interval['high']:.3f}]"


def find_study(name: str, *, kind: str = "", is_none: str = "") -> Study:
    """A study by its name or id; `is_none` says what one of another `kind` is not."""
    study: Study | None = Study.objects.filter(name=name).first()
    if study is None:
        with suppress(ValueError):
            study = Study.objects.filter(uid=UUID(name)).first()
    if study is None:
        raise CommandError(f"There is no study “{name}”.")
    if kind and study.kind != kind:
        raise CommandError(f"“{study.name}” {is_none}.")
    return study


def refuse_filters(options: Mapping[str, Any], labels: str) -> None:
    """Refuse filters of summaries for `labels` that are not on summaries.

    Raises:
        CommandError: one was chosen.
    """
    chosen = [f"--{name}" for name in OF_SUMMARIES if options[name] not in ("", None)]
    if chosen:
        raise CommandError(f"These are {labels}, not on summaries of haystacks: leave out {', '.join(chosen)}.")


def people_called(wanted: AbstractSet[str], people: Iterable[Rater]) -> tuple[str, ...]:
    """Keys of those of `people` who are `wanted`, by name or pseudonym.

    Raises:
        CommandError: somebody who is wanted is not among them.
    """
    people = tuple(people)
    if missing := sorted(wanted - {name for rater in people for name in (rater.name, rater.pseudonym)}):
        known = ", ".join(rater.pseudonym for rater in people)
        raise CommandError(f"Nobody called {', '.join(missing)} labelled here; there are: {known}.")
    return tuple(rater.key for rater in people if {rater.name, rater.pseudonym} & wanted)
