"""Tables of figures that more than one page has, and what they are sorted by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from annotation.figures.people import PairRow
from benchmarks.scoring.stat import Stat
from benchmarks.web.tables import Column, Table


def figure_column(of: Callable[[Any], Stat | None]) -> Column:
    """A column of figures, from the highest; rows where it is undefined come last."""

    def value(row: Any) -> float | None:
        stat = of(row)
        return None if stat is None else stat.value

    return Column(value, high_first=True)


def named_figure(name: str) -> Column:
    """The figure of this name in rows of (name, {name: figure})."""
    return figure_column(lambda row: row[1].get(name))


def stat_columns(names: Iterable[str]) -> dict[str, Column]:
    """The figures of these names in the `stats` of rows."""

    def column(name: str) -> Column:
        return figure_column(lambda row: row.stats.get(name))

    return {name: column(name) for name in names}


PAIRS: Table[PairRow] = Table(
    "pairs",
    {
        "pair": Column(lambda row: f"{row.a} {row.b}"),
        "n": Column(lambda row: row.n, high_first=True),
        "percent": figure_column(lambda row: row.percent),
        "randolph": figure_column(lambda row: row.randolph),
        "cohen": figure_column(lambda row: row.cohen),
        "pearson": figure_column(lambda row: row.pearson),
        "linking": figure_column(lambda row: row.linking),
    },
    prefix="pairs-",
)
"""Every two annotators."""

WITHOUT: Table[tuple[str, Mapping[str, Stat]]] = Table(
    "without",
    {
        "name": Column(lambda row: row[0]),
        **{name: named_figure(name) for name in ("percent", "randolph", "alpha_ordinal")},
    },
    prefix="without-",
)
"""Figures without one annotator each."""
