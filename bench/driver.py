"""A case, how it is run on one checkout or on two in turn, and how its figures are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.site import Site

Row = dict[str, float]
WIDTHS = {
    "case": 8, "figure": 44, "median": 13, "spread": 15, "target": 13, "": 6, "floor": 13, "ratio": 7,
    "against": 13, "change": 6,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a case: `key` is its name in what a round measures, `floor` that of the least that could be.

    A `target` is “≤ 5”, “≥ 100”, or so many times the floor: “≤ 5 × floor”.
    """

    key: str
    name: str
    unit: str = ""
    target: str = ""
    floor: str = ""

    def is_met(self, *, value: float, ratio: float | None) -> bool | None:
        """Whether the target is kept; None if there is none, or no ratio to look at."""
        sign, bound, *of_floor = (self.target or "≤ 0 none").split()
        measured = ratio if of_floor else value
        if measured is None or not self.target:
            return None
        return measured <= float(bound) if sign == "≤" else measured >= float(bound)


@dataclass(frozen=True, slots=True)
class Case:
    """A measurement in a world: `prepare` adds to its database once what it returns to every `measure`.

    Each round gets a fresh copy of that database, and its processes are fresh. Name and docstring of `measure` are
    those of the case.
    """

    measure: Callable[[Site, Any], Row]
    world: str
    figures: Sequence[Figure]
    prepare: Callable[[Site], Any] = lambda _site: None

    @property
    def name(self) -> str:
        return self.measure.__name__

    @property
    def about(self) -> str:
        return (self.measure.__doc__ or "").splitlines()[0]


def run(case: Case, sites: Sequence[Site], *, rounds: int) -> list[dict[str, Any]]:
    """Measure a case on every site in turn, in every second round the last one first; a row for each figure."""
    measured: list[list[Row]] = [[] for _ in sites]
    with ExitStack() as stack:
        made = [
            (site, stack.enter_context(site.copy_of(site.world(case.world))), case.prepare(site)) for site in sites
        ]
        turns = list(zip(made, measured, strict=True))
        for at in range(rounds):
            for (site, database, prepared), rows in turns[:: -1 if at % 2 else 1]:
                with site.copy_of(database):
                    rows.append(case.measure(site, prepared))
    return [_row(case, figure, *measured) for figure in case.figures]


def _row(case: Case, figure: Figure, rows: Sequence[Row], others: Sequence[Row] = ()) -> dict[str, Any]:
    seen, against = _summary(figure, rows), _summary(figure, others) if others else None
    is_met = figure.is_met(value=seen["median"], ratio=seen["ratio"])
    change = seen["median"] / against["median"] if against and against["median"] else None
    about = {"case": case.name, "figure": figure.name, "unit": figure.unit, "target": figure.target}
    return {**about, **seen, "met": is_met, "against": against, "change": change}


def _summary(figure: Figure, rows: Sequence[Row]) -> dict[str, Any]:
    values = [row[figure.key] for row in rows]
    floor = median(row[figure.floor] for row in rows) if figure.floor else None
    ratio = median(values) / floor if floor else None
    return {"median": median(values), "low": min(values), "high": max(values), "floor": floor, "ratio": ratio}


def line(row: dict[str, Any] | None = None) -> str:
    """One figure as a line of the table; its head without one."""
    texts = list(WIDTHS)
    if row is not None:
        against = row["against"] or {"median": None}
        values = (row["median"], row["floor"], against["median"])
        value, floor, other = (_number(each, row["unit"]) for each in values)
        ratio, change = (f"{row[key]:.2f} ×" if row[key] is not None else "" for key in ("ratio", "change"))
        spread = f"{_number(row['low'])} – {_number(row['high'])}"
        met = {True: "met", False: "MISSED", None: ""}[row["met"]]
        texts = [row["case"], row["figure"], value, spread, row["target"], met, floor, ratio, other, change]
    return "  ".join(f"{text:<{width}}" for text, width in zip(texts, WIDTHS.values(), strict=True)).rstrip()


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return ""
    return (f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2f}") + f" {unit}".rstrip()


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share (0 to 1) of all values lies, without interpolation; 0 of none."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0
