"""The numbers that the papers print, by table or figure, row and column, from the files in `papers/`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from typing import Any

PAPERS = {
    "summhay": "Summary of a Haystack",
    "long2rag": "Long²RAG and Key Point Recall",
    "middlesum": "On Context Utilization in Summarization",
}
TABLE, FIGURE, TEXT = "table", "figure", "text"


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
        """What it is called: “Table 2, joint”, “§6.2”."""
        head = f"§{self.number}" if self.kind == TEXT else f"{self.kind.capitalize()} {self.number}"
        return f"{head}, {self.part}" if self.part else head

    def cells(self) -> Iterator[tuple[str, str, Decimal]]:
        """Row, column and number of each cell that is not empty."""
        for row, values in self.rows:
            for column, value in zip(self.columns, values, strict=True):
                if value is not None:
                    yield row, column, value

    def of_row(self, row: str) -> dict[str, Decimal]:
        """The numbers of a row by column."""
        return {column: value for name, column, value in self.cells() if name == row}

    def of_column(self, column: str) -> dict[str, Decimal]:
        """The numbers of a column by row."""
        return {row: value for row, name, value in self.cells() if name == column}


def printed(paper: str) -> tuple[Printed, ...]:
    """All that a paper prints, in its order: tables, figures, numbers of the text."""
    text = files(__package__).joinpath("papers", f"{paper}.toml").read_text(encoding="utf-8")
    return tuple(_read(table) for table in tomllib.loads(text, parse_float=Decimal)["table"])


def _read(table: dict[str, Any]) -> Printed:
    rows = tuple(
        (row[0], tuple(None if value == "" else Decimal(value) for value in row[1:]))
        for row in table.get("rows", ())
    )
    return Printed(
        table["kind"],
        table["number"],
        table.get("part", ""),
        table["title"],
        tuple(table.get("columns", ())),
        rows,
    )


def find(papers: tuple[Printed, ...], kind: str, number: str, part: str = "") -> Printed:
    """One of them."""
    return next(table for table in papers if (table.kind, table.number, table.part) == (kind, number, part))
