"""A chart is data: words, points, and how they are laid out; from it workers make the Vega-Lite spec and drawings.

Nothing here loads what draws: pages hold charts and look up what workers made of them. In a page the theme decides
the colours, which are names of CSS properties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Annotated, Any, Literal

from pydantic import Field

from benchmarks.web.chart_points import Kind, Point, Words, headings_of, in_words, number

SERIES_COLOURS = tuple(f"var(--chart-{at})" for at in range(8))
HUMAN, TEXT, MUTED, LINE, SURFACE = (f"var(--{name})" for name in ("human", "text", "muted", "line", "surface"))
SIZE = (720, 340)
MOST_SPOKEN = 40
"""Figures above which the subtitle is the alternative text; the table has them."""
EDGE, LEAST_EDGE = 1.25, 10.0
"""How far the axis of differences goes beyond the farthest, and at least."""
Domain = tuple[float, float]
Colours = Sequence[tuple[str, str]]
"""Groups with their colours, in the order of the legend; a mapping would lose it in the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """A row for each series in the order of the points, and people as a band across all.

    A point is a dot with its interval, one of `Kind.DOT` a dot alone. With groups a row has a mark of each,
    one under the other if `is_dodged`, else on a line from the lowest to the highest; values stand above those
    with intervals.
    """

    domain: Domain
    colours: Colours = ()
    band: Point | None = None
    is_dodged: bool = False
    layout: Literal["dots"] = "dots"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Bars of equal width that begin at the x of each point, and upright rules with names at `marks`.

    Points at the same x stand on one another, with `colours` and a legend by series. `x_names` stand at the
    `x_values`.
    """

    width_of_bar: float
    domain: Domain
    marks: Sequence[Point] = ()
    colours: Colours = ()
    x_values: tuple[float, ...] = ()
    x_names: tuple[str, ...] = ()
    layout: Literal["bars"] = "bars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Lines and points over x, in a panel each where points name panels; series are named at their ends.

    `ends` is what stands at the end of a line, or beside the only dot of a series: "series" or its last "figure".
    `x_names` stand at the `x_values`. Intervals are bands, or bars if not `has_bands`. Stepped lines keep a value
    until the next.
    """

    x_domain: Domain
    domain: Domain
    colours: Colours = ()
    x_values: tuple[float, ...] = ()
    x_names: tuple[str, ...] = ()
    panels_beside: int = 0
    size: tuple[int, int] = SIZE
    has_dots: bool = True
    has_bands: bool = True
    is_stepped: bool = False
    ends: str = "series"
    layout: Literal["lines"] = "lines"


Layout = Annotated[Dots | Bars | Lines, Field(discriminator="layout")]


@dataclass(frozen=True, slots=True)
class Chart:
    """All that a spec is made from, and that what workers store is looked up by."""

    words: Words
    points: Sequence[Point]
    layout: Layout

    @property
    def name(self) -> str:
        """Unique on its page; names of files begin with it."""
        return self.words.name

    @property
    def title(self) -> str:
        """The question that it answers."""
        return self.words.title

    @property
    def subtitle(self) -> str:
        """What is shown."""
        return self.words.subtitle

    @property
    def is_small(self) -> bool:
        """Whether it is for a card."""
        return self.words.is_small

    @property
    def figures(self) -> list[Point]:
        """What is drawn, people first."""
        band = self.layout.band if isinstance(self.layout, Dots) else None
        return [*([] if band is None or band.value is None else [band]), *self.points]

    @property
    def text(self) -> str:
        """What it says to those who do not see it."""
        spoken = [in_words(self.words, point) for point in self.figures if point.kind is not Kind.THIN]
        return self.words.text or ("; ".join(spoken) if len(spoken) <= MOST_SPOKEN else self.words.subtitle)

    @property
    def columns(self) -> dict[str, str]:
        """The heading of each field of the rows."""
        return headings_of(self.words, self.figures)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The figures that are drawn."""
        columns = self.columns
        return [{name: getattr(point, name) for name in columns} for point in self.figures]

    def renamed(self, name: str) -> Chart:
        """The same chart under another name."""
        return replace(self, words=replace(self.words, name=name))


def colour_of(place: int) -> str:
    """The colour of a series by its place; after the last the first comes again."""
    return SERIES_COLOURS[place % len(SERIES_COLOURS)]


def bland_altman(
    words: Words, points: Sequence[Point], *, x_domain: Domain, colours: Colours, size: tuple[int, int] = SIZE
) -> Chart:
    """Differences of two measurements against their means, with the mean difference and its limits of agreement.

    The limits are 1.96 standard deviations from the mean; with one point or none there are none.
    """
    apart = [point.value for point in points if point.value is not None]
    levels = []
    middle, spread = (fmean(apart), 1.96 * stdev(apart) if len(apart) > 1 else 0.0) if apart else (0.0, 0.0)
    if apart:
        levels.append(("mean difference", middle))
    if len(apart) > 1:
        levels += [
            ("upper limit of agreement", middle + spread),
            ("lower limit of agreement", middle - spread),
        ]
    edge = EDGE * max([LEAST_EDGE, abs(middle) + spread, *map(abs, apart)])
    rules = [
        Point(series=f"{name} {number(value, words, signed=True)}", value=value, group="limits", kind=Kind.ACROSS)
        for name, value in levels
    ]
    colours = (*colours, ("limits", HUMAN))
    layout = Lines(x_domain=x_domain, domain=(-edge, edge), colours=colours, size=size, ends="")
    return Chart(words, [*points, *rules], layout)
