"""What is told of a table or figure: the paper's number, ours, the difference, and why there is none of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotation.reproduction.printed import Printed

Values = Mapping[tuple[str, str], float | None]
"""Ours by row and column."""
Reason = Callable[[str, str], str]
"""Why there is none of ours in a row and column."""


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
        """Whether any number of ours is there."""
        return any(cell.ours is not None for cell in self.cells)


def part_of(
    table: Printed, values: Values, *, why: Reason | str, of: str = "", report: str = "", note: str = ""
) -> Part:
    """A table with ours where there are any, and `why` where there are none."""
    say = why if callable(why) else lambda row, column: why
    cells = tuple(
        Cell(row, column, paper, ours, "" if ours is not None else say(row, column))
        for row, column, paper, ours in ((*cell, values.get(cell[:2])) for cell in table.cells())
    )
    is_there = any(cell.ours is not None for cell in cells)
    return Part(table, cells, of if is_there else "", report, note, "" if is_there else _only(cells))


def plotted(table: Printed, values: Values, *, why: str, of: str = "", report: str = "") -> Part:
    """A figure that prints no numbers, with ours where there are any."""
    if not values:
        return nothing(table, why, report=report)
    cells = tuple(Cell(row, column, None, ours) for (row, column), ours in values.items())
    note = "The paper draws this without printing numbers, so there is no difference."
    return Part(table, cells, of, report, note)


def nothing(table: Printed, reason: str, *, report: str = "", note: str = "") -> Part:
    """A table or figure of which nothing of ours is there."""
    cells = tuple(Cell(row, column, paper, None, reason) for row, column, paper in table.cells())
    return Part(table, cells, report=report, note=note, reason=reason)


def _only(cells: Sequence[Cell]) -> str:
    return "; ".join(dict.fromkeys(cell.reason for cell in cells))


def as_json(paper: str, parts: Sequence[Part]) -> dict[str, Any]:
    """All parts as plain values, ours unrounded."""
    return {"paper": paper, "parts": [_part_json(part) for part in parts]}


def _part_json(part: Part) -> dict[str, Any]:
    table = part.printed
    head = {"kind": table.kind, "number": table.number, "part": table.part, "title": table.title}
    told = {name: getattr(part, name) for name in ("of", "report", "note", "reason")}
    return head | told | {"cells": [_cell_json(cell) for cell in part.cells]}


def _cell_json(cell: Cell) -> dict[str, Any]:
    return {
        "row": cell.row,
        "column": cell.column,
        "paper": None if cell.paper is None else float(cell.paper),
        "ours": cell.ours,
        "difference": cell.difference,
        "equal": cell.is_equal,
        "reason": cell.reason,
    }
