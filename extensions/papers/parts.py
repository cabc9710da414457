"""Numbers that papers print, from the files in `as_printed/`, beside ours, or why there are none of ours."""

from __future__ import annotations

import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from typing import Any, ClassVar

from django.core.management.base import CommandError

from annotation.results.judges import UnknownReference
from annotation.results.reports import Report
from benchmarks.results.writing import aligned

PAPERS = {
    "summhay": "Summary of a Haystack",
    "long2rag": "Long²RAG and Key Point Recall",
    "middlesum": "On Context Utilization in Summarization",
}
TABLE, FIGURE, TEXT = "table", "figure", "text"
NOTHING = "—"
Values = dict[tuple[str, str], float | None]
"""Ours by row and column."""
Reason = Callable[[str, str], str]
"""Why there is none of ours in a row and column."""


@dataclass(frozen=True, slots=True)
class Printed:
    """One table or figure, a part of one, or a section's numbers; numbers keep the digits that are printed."""

    kind: str
    number: str
    part: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Decimal | None, ...]], ...]

    @property
    def name(self) -> str:
        """“Table 2, joint”, “§6.2”."""
        head = f"§{self.number}" if self.kind == TEXT else f"{self.kind.capitalize()} {self.number}"
        return f"{head}, {self.part}" if self.part else head

    def cells(self) -> Iterator[tuple[str, str, Decimal]]:
        """Row, column and number of each cell that is not empty."""
        for row, values in self.rows:
            for column, value in zip(self.columns, values, strict=True):
                if value is not None:
                    yield row, column, value

    def of_row(self, row: str) -> dict[str, Decimal]:
        return {column: value for name, column, value in self.cells() if name == row}

    def of_column(self, column: str) -> dict[str, Decimal]:
        return {row: value for row, name, value in self.cells() if name == column}

    @property
    def by_key(self) -> dict[str, str]:
        """The names of its rows by what they are compared by."""
        return by_key(row for row, _values in self.rows)


def printed(paper: str) -> tuple[Printed, ...]:
    """All that a paper prints, in its order: tables, figures, numbers of the text."""
    text = files(__package__).joinpath("as_printed", f"{paper}.toml").read_text(encoding="utf-8")
    return tuple(_read(**table) for table in tomllib.loads(text, parse_float=Decimal)["table"])


def _read(
    kind: str, number: str, title: str, part: str = "", columns: Sequence[str] = (), rows: Sequence[Any] = ()
) -> Printed:
    numbers = (tuple(None if value == "" else Decimal(value) for value in row[1:]) for row in rows)
    names = (row[0] for row in rows)
    return Printed(kind, number, part, title, tuple(columns), tuple(zip(names, numbers, strict=True)))


def find(papers: tuple[Printed, ...], kind: str, number: str, part: str = "") -> Printed:
    return next(table for table in papers if (table.kind, table.number, table.part) == (kind, number, part))


def key_of(name: str) -> str:
    """A name by its letters and digits: “GPT-4o” is gpt4o, “Claude3-Sonnet” is claude3sonnet."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def by_key(names: Iterable[str]) -> dict[str, str]:
    """Names by what they are compared by."""
    return {key_of(name): name for name in names}


# Ours


@dataclass(frozen=True, slots=True)
class Reported:
    """The plain values of a report, or why there are none."""

    values: Any = None
    reason: str = ""

    def rows(self, key: str) -> dict[Any, dict[str, Any]]:
        """Its rows by one of their values; empty without any."""
        return {row[key]: row for row in self.values or ()}


def reported(report: Report, *arguments: str) -> Reported:
    """As `manage.py report … --json` prints it with these arguments."""
    parser = ArgumentParser()
    report.add_arguments(parser)
    parser.add_argument("--json", action="store_true")
    options = vars(parser.parse_args([*arguments, "--json"]))
    try:
        return Reported(report.plain(report.make(options)))
    except (CommandError, UnknownReference) as refused:
        return Reported(reason=str(refused).rstrip("."))


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of the paper and ours; `reason` says why there is none of ours.

    `paper` is None where a figure prints no number.
    """

    row: str
    column: str
    paper: Decimal | None
    ours: float | None
    reason: str = ""

    @property
    def decimals(self) -> int:
        """How many the paper prints; two more than most where it prints no number."""
        exponent = -3 if self.paper is None else self.paper.as_tuple().exponent
        return -exponent if isinstance(exponent, int) else 0

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.ours is None or self.paper is None else self.ours - float(self.paper)

    @property
    def is_equal(self) -> bool | None:
        """Whether ours, written with as many digits as the paper prints, is its number."""
        if self.ours is None or self.paper is None:
            return None
        return f"{self.ours:.{self.decimals}f}" == f"{self.paper:.{self.decimals}f}"

    @property
    def as_json(self) -> dict[str, Any]:
        """Plain values, ours unrounded."""
        return {
            "row": self.row,
            "column": self.column,
            "paper": None if self.paper is None else float(self.paper),
            "ours": self.ours,
            "difference": self.difference,
            "equal": self.is_equal,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Part:
    """A table or figure with all of its cells.

    `of` says what ours are of, `report` what prints them with intervals, `note` what has to be known.
    `reason` says why there is nothing of ours at all.
    """

    printed: Printed
    cells: tuple[Cell, ...]
    of: str = ""
    report: str = ""
    note: str = ""
    reason: str = ""

    @property
    def has_ours(self) -> bool:
        return any(cell.ours is not None for cell in self.cells)

    @property
    def as_json(self) -> dict[str, Any]:
        head = {name: getattr(self.printed, name) for name in ("kind", "number", "part", "title")}
        told = {name: getattr(self, name) for name in ("of", "report", "note", "reason")}
        return head | told | {"cells": [cell.as_json for cell in self.cells]}


def part_of(
    table: Printed,
    values: Mapping[tuple[str, str], float | None],
    *,
    why: Reason | str,
    of: str = "",
    report: str = "",
    note: str = "",
) -> Part:
    """A table with ours where there are any, and `why` where there are none."""
    cells = []
    for row, column, paper in table.cells():
        ours = values.get((row, column))
        reason = "" if ours is not None else why(row, column) if callable(why) else why
        cells.append(Cell(row, column, paper, ours, reason))
    if all(cell.ours is None for cell in cells):
        of, reason = "", "; ".join(dict.fromkeys(cell.reason for cell in cells))
        return Part(table, tuple(cells), of, report, note, reason)
    return Part(table, tuple(cells), of, report, note)


def plotted(
    table: Printed, values: Mapping[tuple[str, str], float | None], *, why: str, of: str = "", report: str = ""
) -> Part:
    """A figure that prints no numbers, with ours where there are any."""
    if not values:
        return nothing(table, why, report=report)
    cells = tuple(Cell(row, column, None, ours) for (row, column), ours in values.items())
    note = "The paper draws this without printing numbers, so there is no difference."
    return Part(table, cells, of, report, note)


def nothing(table: Printed, reason: str, *, report: str = "") -> Part:
    """A table or figure of which nothing of ours is there."""
    cells = tuple(Cell(row, column, paper, None, reason) for row, column, paper in table.cells())
    return Part(table, cells, report=report, reason=reason)


class Paper:
    """A paper on the data at hand; `judge` names whose verdicts count, `study` whose labels."""

    parts: ClassVar[Mapping[tuple[str, str], Callable[..., Part]]] = {}
    """Makers of tables and figures, of the paper and what is printed, by kind and number."""

    def __init__(self, *, judge: str = "", study: str = "") -> None:
        self.judge, self.study = judge, study

    def part(self, table: Printed) -> Part:
        return self.parts[table.kind, table.number](self, table)


# On a console


def console(parts: Sequence[Part], *, is_whole: bool) -> list[str]:
    """Each part with its numbers; of one that has nothing of ours only the reason, unless it was asked for."""
    lines: list[str] = []
    for part in parts:
        lines += ["", head(part), *_about(part)]
        if part.has_ours or is_whole:
            lines += _rows(part)
    return lines[1:]


def head(part: Part) -> str:
    return ". ".join(filter(None, (part.printed.name if part.printed.number else "", part.printed.title)))


def _about(part: Part) -> list[str]:
    said = [f"Ours are of {part.of}." if part.of and part.has_ours else "", part.note]
    said += [f"Not here: {part.reason}." if part.reason else "", counted(part)]
    said += [f"With intervals: manage.py {part.report}" if part.report else ""]
    return [line for line in said if line]


def counted(part: Part) -> str:
    """How many of the numbers are the same in as many digits as the paper prints."""
    compared = [cell for cell in part.cells if cell.is_equal is not None]
    if not compared:
        return ""
    n_equal = sum(bool(cell.is_equal) for cell in compared)
    return f"{n_equal} of {len(compared)} numbers are equal in the digits printed." if n_equal else ""


def _rows(part: Part) -> list[str]:
    if not part.cells:
        return []
    rows = [["", "", "paper", "ours", "difference"]]
    rows += [[cell.row, cell.column, *numbers(cell)] for cell in shown(part)]
    reasons = dict.fromkeys(cell.reason for cell in part.cells if cell.reason and cell.reason != part.reason)
    return [*aligned(rows), *(f"{NOTHING} {reason}." for reason in reasons)]


def shown(part: Part) -> list[Cell]:
    """The cells that are told one by one: of what the printed numbers give only what differs."""
    if part.printed.number:
        return list(part.cells)
    return [cell for cell in part.cells if not cell.is_equal]


def numbers(cell: Cell) -> tuple[str, str, str]:
    """The paper's, ours and the difference, with as many digits as are printed."""
    paper = NOTHING if cell.paper is None else f"{cell.paper}"
    return paper, _number(cell.ours, cell.decimals), _number(cell.difference, cell.decimals, sign="+")


def _number(value: float | None, decimals: int, *, sign: str = "") -> str:
    return NOTHING if value is None else f"{round(value, decimals) + 0.0:{sign}.{decimals}f}"
