"""A chart is data: words, points and a layout; from it workers make spec and drawing."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from statistics import fmean, stdev
from typing import Annotated, Any, Literal

from pydantic import Field

from benchmarks.scoring.stat import Stat

NAME_LETTERS = 40
"""Letters of a line of a name."""
UNPRINTABLE = re.compile(r"[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Kind(StrEnum):
    """How a point is drawn: on a series' own line, a thin one, a dashed one, alone, or as a rule with a name."""

    MAIN = "main"
    THIN = "thin"
    DASHED = "dashed"
    DOT = "dot"
    ACROSS = "across"
    UPRIGHT = "upright"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A figure: whose it is, where it stands, its value with interval and n, or the reason why it has none.

    `series` names a row or a line; `group` is what its colour says, the series itself if empty. `place` is the
    name of x where it is no number. A click on it leads to `url`; what `is_marked` has a ring.
    """

    series: str
    value: float | None
    x: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    group: str = ""
    panel: str = ""
    place: str = ""
    reason: str = ""
    kind: Kind = Kind.MAIN
    url: str = ""
    is_marked: bool = False

    @classmethod
    def of(cls, stat: Stat | None, *, factor: float = 1, **more: Any) -> Point:
        """A point of a figure, in another unit with a factor; of None one that is missing."""
        if stat is None:
            return cls(value=None, reason="missing", **more)
        shown = stat.scaled(factor)
        more |= {"low": shown.low, "high": shown.high, "n": stat.n_items or None}
        return cls(value=shown.value, reason=stat.undefined_reason, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a chart; `columns` are headings of the table of its figures that are not the usual ones.

    `value` and `x` say what the values and the places are, at axes and in the table. Without a `text` the figures
    are the alternative text. `digits` are those after the point.
    """

    name: str
    title: str
    subtitle: str
    value: str
    x: str = ""
    text: str = ""
    digits: int = 1
    columns: Mapping[str, str] = field(default_factory=dict)
    is_small: bool = False


def clean(text: str) -> str:
    """Text without what XML does not allow: vl-convert would abort the process."""
    return UNPRINTABLE.sub(" ", text)


def wrapped(name: str, letters: int = NAME_LETTERS) -> str:
    """A name in lines, none of it cut off, without control characters, which would end the process that draws."""
    return "\n".join(textwrap.wrap(clean(name), letters)) or clean(name)


def row_of(words: Words, point: Point) -> dict[str, Any]:
    """A point as the spec has it, with what its tooltip says."""
    left_out = {"kind", *(() if point.is_marked else ("is_marked",))}
    row = {
        name: value for name, value in asdict(point).items() if value not in {None, ""} and name not in left_out
    }
    between = _between(point, words)
    row |= {"value": point.value, "group": point.group or point.series, "figure": number(point.value, words)}
    row |= {"place": place_of(point), "between": between, "text": in_words(words, point)}
    if point.reason:
        row["reason"] = wrapped(point.reason, 2 * NAME_LETTERS)
    return row


def in_words(words: Words, point: Point) -> str:
    """A figure with its interval and n as text, or why there is none."""
    name = " · ".join(dict.fromkeys(part for part in (point.panel, point.series, point.group) if part))
    where = "" if point.x is None else f"{words.x} {place_of(point)}".lstrip()
    between = f" ({_between(point, words)})" if point.low is not None else ""
    figure = point.reason if point.value is None else f"{number(point.value, words)}{between}"
    parts = [where, figure, "" if point.n is None else f"n = {point.n:,}"]
    return f"{name}: " + ", ".join(part for part in parts if part)


def number(value: float | None, words: Words, *, signed: bool = False) -> str:
    if value is None:
        return "–"
    return f"{value:{'+' if signed else ''},.{words.digits}f}".replace("-", "−")


def _between(point: Point, words: Words) -> str:
    return "" if point.low is None else f"{number(point.low, words)} – {number(point.high, words)}"


def place_of(point: Point) -> str:
    """Where a point stands along x, as its name or a short number."""
    return point.place or ("" if point.x is None else f"{point.x:,.4g}".replace("-", "−"))


def headings_of(words: Words, points: Iterable[Point]) -> dict[str, str]:
    """The headings of those fields that any point has."""
    usual = {
        "panel": "panel",
        "series": "name",
        "group": "group",
        "x": words.x,
        "place": words.x,
        "value": words.value or "value",
        "low": "95 % from",
        "high": "95 % to",
        "n": "n",
        "reason": "remark",
    }
    known = {name for point in points for name in usual if getattr(point, name) not in {None, ""}}
    return {name: words.columns.get(name, title) for name, title in usual.items() if name in known | {"value"}}


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
        return self.words.title

    @property
    def subtitle(self) -> str:
        return self.words.subtitle

    @property
    def is_small(self) -> bool:
        return self.words.is_small

    @property
    def figures(self) -> list[Point]:
        """The series drawn, people first."""
        band = self.layout.band if isinstance(self.layout, Dots) else None
        return [*([] if band is None or band.value is None else [band]), *self.points]

    @property
    def text(self) -> str:
        """A text for those who do not see it."""
        spoken = [in_words(self.words, point) for point in self.figures if point.kind is not Kind.THIN]
        return self.words.text or ("; ".join(spoken) if len(spoken) <= MOST_SPOKEN else self.words.subtitle)

    @property
    def columns(self) -> dict[str, str]:
        """The heading of each field of the rows."""
        return headings_of(self.words, self.figures)

    @property
    def rows(self) -> list[dict[str, Any]]:
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
        levels.append(("mean", middle))
    if len(apart) > 1:
        levels += [
            ("upper limit", middle + spread),
            ("lower limit", middle - spread),
        ]
    edge = EDGE * max([LEAST_EDGE, abs(middle) + spread, *map(abs, apart)])
    rules = [
        Point(series=f"{name} {number(value, words, signed=True)}", value=value, group="limits", kind=Kind.ACROSS)
        for name, value in levels
    ]
    colours = (*colours, ("limits", HUMAN))
    layout = Lines(x_domain=x_domain, domain=(-edge, edge), colours=colours, size=size, ends="")
    return Chart(words, [*points, *rules], layout)
