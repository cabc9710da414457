"""What a case is, how it is run on one checkout or on two in turn, and how its figures are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from statistics import median
from typing import Any

from bench import cases
from bench.site import Site

Row = dict[str, float]
HEAD = ("case", "figure", "median", "spread", "target", "", "floor", "ratio", "against", "change")
WIDTHS = (8, 44, 13, 15, 13, 6, 13, 7, 13, 6)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a case: `key` is its name in what a round measures, `floor` that of the least that could be.

    Its target is to be at `most` or at `least` so much, or with `of_floor` so many times the floor.
    """

    key: str
    name: str
    unit: str = ""
    most: float | None = None
    least: float | None = None
    floor: str = ""
    floor_is: str = ""
    of_floor: bool = False

    @property
    def target(self) -> str:
        """The target in words; empty without one."""
        bound, sign = (self.most, "≤") if self.least is None else (self.least, "≥")
        return "" if bound is None else f"{sign} {bound:g}{' × floor' if self.of_floor else ''}"

    def is_met(self, *, value: float, ratio: float | None) -> bool | None:
        """Whether the target is kept; None if there is none, or no ratio to look at."""
        measured = ratio if self.of_floor else value
        if measured is None or not self.target:
            return None
        return (self.most is None or measured <= self.most) and (self.least is None or measured >= self.least)


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured in which world: `prepare` adds to its database once what it returns to every `measure`.

    Each round gets a fresh copy of that database, and its processes are fresh.
    """

    world: str
    figures: Sequence[Figure]
    measure: Callable[[Site, Any], Row]
    prepare: Callable[[Site], Any] = lambda _site: None


def all_cases() -> dict[str, tuple[str, Case]]:
    """What every module of `bench.cases` says that it measures, and its `CASE`, by name."""
    modules = {row.name: import_module(f"bench.cases.{row.name}") for row in iter_modules(cases.__path__)}
    return {name: ((module.__doc__ or "").splitlines()[0], module.CASE) for name, module in modules.items()}


def run(name: str, case: Case, sites: Sequence[Site], *, rounds: int) -> list[dict[str, Any]]:
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
    return [_row(name, figure, *measured) for figure in case.figures]


def _row(name: str, figure: Figure, rows: Sequence[Row], others: Sequence[Row] = ()) -> dict[str, Any]:
    seen, against = _summary(figure, rows), _summary(figure, others) if others else None
    is_met = figure.is_met(value=seen["median"], ratio=seen["ratio"])
    change = seen["median"] / against["median"] if against and against["median"] else None
    about = {"case": name, "figure": figure.name, "unit": figure.unit, "floor_is": figure.floor_is}
    return {**about, **seen, "target": figure.target, "met": is_met, "against": against, "change": change}


def _summary(figure: Figure, rows: Sequence[Row]) -> dict[str, Any]:
    values = [row[figure.key] for row in rows]
    floor = median(row[figure.floor] for row in rows) if figure.floor else None
    ratio = median(values) / floor if floor else None
    return {"median": median(values), "low": min(values), "high": max(values), "floor": floor, "ratio": ratio}


def line(row: dict[str, Any] | None = None) -> str:
    """One figure as a line of the table; its head without one."""
    if row is None:
        return _padded(HEAD)
    unit, against = row["unit"], row["against"] or {"median": None}
    times = [f"{row[key]:.2f} ×" if row[key] is not None else "" for key in ("ratio", "change")]
    spread = f"{_number(row['low'])} – {_number(row['high'])}"
    verdict = {True: "met", False: "MISSED", None: ""}[row["met"]]
    value, floor, other = (_number(each, unit) for each in (row["median"], row["floor"], against["median"]))
    return _padded(
        (row["case"], row["figure"], value, spread, row["target"], verdict, floor, times[0], other, times[1])
    )


def _padded(texts: Sequence[str]) -> str:
    return "  ".join(f"{text:<{width}}" for text, width in zip(texts, WIDTHS, strict=True)).rstrip()


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return ""
    return (f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2f}") + f" {unit}".rstrip()


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share (0 to 1) of all values lies, without interpolation; 0 of none."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0
