"""Specs of rows of dots with intervals, and of bars; and what the builders of all specs share.

Each takes a chart and its layout, and plans its spec. What is undefined is said, and never drawn as 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.web.charts import (
    HUMAN,
    LINE,
    MUTED,
    SERIES_COLOURS,
    SIZE,
    SURFACE,
    TEXT,
    Bars,
    Chart,
    Colours,
    Dots,
    Kind,
    Point,
    Words,
    clean,
    colour_of,
    headings_of,
    number,
    row_of,
    wrapped,
)

SMALL_WIDTH = 250
FIGURES, PEOPLE, MARKS = "figures", "people", "marks"
"""Names of the data of a spec."""
LINE_HEIGHT, DODGE = 15, 14
PLACE_LETTERS = 16
"""Letters of a line of a name under an axis."""
RING = 2
LEGEND_WIDTH, TICK_WIDTH = 180, 40
NARROW = 360
"""Pixels below which marks are smaller."""
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
)
BREAK = "split(datum.label, '\\n')"


@dataclass(frozen=True, slots=True)
class Plan:
    """A drawing of Altair, its data by name, about how wide it is in pixels; names at its left have `letters`."""

    drawing: Any
    data: Mapping[str, Sequence[Mapping[str, Any]]]
    width: int
    letters: int = 0


def dots(chart: Chart, layout: Dots) -> Plan:
    """The plan of `Dots`."""
    import altair as alt

    words, points, band, is_dodged = chart.words, chart.points, layout.band, layout.is_dodged
    rows = [{**row_of(words, point), "series": wrapped(point.series), "kind": point.kind} for point in points]
    lines = [line for row in rows for line in row["series"].split("\n")]
    n_lines = max((row["series"].count("\n") + 1 for row in rows), default=1)
    n_groups = len({row["group"] for row in rows})
    step = max(26 if words.is_small else 32, LINE_HEIGHT * n_lines + 8, DODGE * n_groups if is_dodged else 0)
    width = SMALL_WIDTH if words.is_small else SIZE[0]
    axis = alt.Axis(
        tickCount=5 if words.is_small else alt.ExprRef(f"min(10, max(2, floor(width / {TICK_WIDTH})))")
    )
    across = alt.X("value:Q", title=words.value or None, axis=axis, scale=scale_of(layout.domain))
    has_legend = any(point.group for point in points)
    base = _rows(words, rows, colours_of(rows, layout.colours, has_legend=has_legend), is_dodged=is_dodged)
    data = {FIGURES: rows}
    layers = _dots(words, points, base, across, shape=_shapes(rows, layout.colours) if has_legend else None)
    if has_legend and not is_dodged:
        layers = [_span(base), *layers, _above(base, across)]
    if not has_legend:
        # The values stand in a column of their own, where no dot hides them.
        beside = alt.XValue(alt.ExprRef("width + 12"))
        figures = base.mark_text(align="left", aria=False)
        layers.append(figures.encode(x=beside, text=alt.Text("figure:N"), color=alt.ColorValue(TEXT)))
    if band is not None and band.value is not None:
        layers = [*_people(words, band, across), *layers]
        data[PEOPLE] = [{**row_of(words, band), "label": f"{band.series} {number(band.value, words)}"}]
    drawing = alt.layer(*layers).properties(width=width, height=alt.Step(step, **{"for": "position"}))
    return Plan(drawing, data, width=width + 180, letters=max(map(len, lines), default=0))


def _rows(words: Words, rows: Sequence[Mapping[str, Any]], colour: Any, *, is_dodged: bool) -> Any:
    """What all layers of rows share: a row for each series, in which groups may stand one under the other."""
    import altair as alt

    size = 12 if words.is_small else 13
    axis = alt.Axis(labelExpr=BREAK, labelColor=TEXT, labelFontSize=size, grid=not is_dodged)
    names = list(dict.fromkeys(row["series"] for row in rows))
    scale = alt.Scale(domain=names, paddingInner=0.3) if is_dodged else alt.Scale(domain=names)
    base = alt.Chart(alt.NamedData(FIGURES)).encode(
        y=alt.Y("series:N", sort=None, title=None, axis=axis, scale=scale), color=colour
    )
    groups = list(dict.fromkeys(row["group"] for row in rows))
    return base.encode(yOffset=alt.YOffset("group:N", scale=alt.Scale(domain=groups))) if is_dodged else base


def _dots(words: Words, points: Sequence[Point], base: Any, across: Any, *, shape: Any) -> list[Any]:
    """The layers of rows: intervals, dots, and what is said where there is no value."""
    import altair as alt

    tips = tips_of(words, points)
    intervals = base.transform_filter(f"isValid(datum.low) && datum.kind != '{Kind.DOT}'")
    intervals = intervals.mark_rule(strokeWidth=2, opacity=0.55, aria=False)
    spots = base.transform_filter("isValid(datum.value)")
    size = alt.ExprRef(f"width < {NARROW} ? 50 : 130") if shape else 90
    spots = spots.mark_point(size=size, opacity=1, filled=True, stroke=SURFACE, strokeWidth=1)
    if any(point.is_marked for point in points):
        ring, wide = ({"test": "datum.is_marked", "value": value} for value in (TEXT, RING))
        spots = spots.encode(
            stroke=alt.StrokeValue(SURFACE, condition=ring), strokeWidth=alt.StrokeWidthValue(1, condition=wide)
        )
    if any(point.url for point in points):
        spots = spots.encode(href=alt.Href("url:N"))
    if any(point.kind == Kind.DOT for point in points):
        # The main one of a row lies on top of the others.
        spots = spots.encode(order=alt.Order("is_main:Q")).transform_calculate(
            is_main=f"datum.kind != '{Kind.DOT}'"
        )
    reasons = base.transform_filter("!isValid(datum.value)").mark_text(
        align="left", fontStyle="italic", aria=False
    )
    return [
        intervals.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), tooltip=tips),
        spots.encode(
            x=across, description=alt.Description("text:N"), tooltip=tips, **({"shape": shape} if shape else {})
        ),
        reasons.encode(x=alt.XValue(6), text=alt.Text("reason:N"), color=alt.ColorValue(MUTED)),
    ]


def _span(base: Any) -> Any:
    """A line from the lowest dot of a row to the highest."""
    import altair as alt

    line = base.transform_filter("isValid(datum.value)").mark_rule(strokeWidth=5, aria=False)
    return line.encode(
        x=alt.X("min(value):Q"),
        x2=alt.X2("max(value):Q"),
        color=alt.ColorValue(LINE),
        detail=alt.Detail("series:N"),
    )


def _above(base: Any, across: Any) -> Any:
    """The value of each dot that has an interval, above it."""
    import altair as alt

    figures = base.transform_filter(f"isValid(datum.value) && datum.kind != '{Kind.DOT}'")
    figures = figures.mark_text(dy=-13, fontSize=11, aria=False)
    return figures.encode(x=across, text=alt.Text("figure:N"), color=alt.ColorValue(TEXT))


def _people(words: Words, band: Point, across: Any) -> list[Any]:
    """The interval of people as a band across all rows, their value as a line with its name above."""
    import altair as alt

    base = alt.Chart(alt.NamedData(PEOPLE))
    area = base.transform_filter("isValid(datum.low)").mark_rect(color=HUMAN, opacity=0.09, aria=False)
    tips = tips_of(words, [band])
    return [
        area.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), tooltip=tips),
        base.mark_rule(color=HUMAN, strokeWidth=1.5).encode(
            x=across, description=alt.Description("text:N"), tooltip=tips
        ),
        base.mark_text(align="center", fontWeight=600, color=HUMAN, aria=False).encode(
            x=across, y=alt.YValue(-10), text=alt.Text("label:N")
        ),
    ]


def bars(chart: Chart, layout: Bars) -> Plan:
    """The plan of `Bars`."""
    import altair as alt

    words, points = chart.words, chart.points
    rows = _stacked(words, points, layout.width_of_bar)
    most = max((row["top"] for row in rows), default=0) or 1
    y = alt.Y("top:Q", title=words.value, axis=alt.Axis(tickCount=5), scale=alt.Scale(domain=[0, most]))
    axis = places_of(layout.x_values, layout.x_names) if layout.x_names else alt.Axis(grid=False)
    x = alt.X("x:Q", title=words.x, axis=axis, scale=scale_of(layout.domain))
    colour = colours_of(rows, layout.colours, has_legend=True) if layout.colours else alt.value(colour_of(0))
    leads = {"href": alt.Href("url:N")} if any(point.url for point in points) else {}
    columns = alt.Chart(alt.NamedData(FIGURES)).mark_rect(opacity=0.75, stroke=SURFACE)
    columns = columns.encode(color=colour, description=alt.Description("text:N"), tooltip=tips_of(words, points))
    layers = [columns.encode(x=x, x2=alt.X2("to:Q"), y=y, y2=alt.Y2("base:Q"), **leads)]
    data = {FIGURES: rows, MARKS: [row_of(words, mark) for mark in layout.marks]}
    base = alt.Chart(alt.NamedData(MARKS)).encode(x=x)
    layers.append(
        base.mark_rule(color=HUMAN, strokeDash=[4, 3], strokeWidth=1.25).encode(
            description=alt.Description("text:N")
        )
    )
    layers.append(
        base.mark_text(align="left", dx=6, dy=-8, color=HUMAN, aria=False).encode(
            y=alt.YValue(0), text=alt.Text("series:N")
        )
    )
    drawing = alt.layer(*layers).properties(width=SIZE[0], height=240)
    return Plan(drawing, data, width=SIZE[0] + 80)


def _stacked(words: Words, points: Sequence[Point], width: float) -> list[dict[str, Any]]:
    """Rows of bars with where they end to the right, and from where to where they go up."""
    reached: dict[float, float] = {}
    rows = []
    for point in points:
        x, value = float(point.x or 0), point.value or 0
        base = reached.get(x, 0)
        reached[x] = base + value
        rows.append({**row_of(words, point), "to": x + width, "base": base, "top": base + value})
    return rows


def places_of(values: Sequence[float], names: Sequence[str]) -> Any:
    """An axis with ticks at these values, which may have names."""
    import altair as alt

    axis: dict[str, Any] = {"grid": False, "tickCount": 6}
    if values:
        axis["values"] = list(values)
    if names:
        shown = {f"{value:g}": wrapped(name, PLACE_LETTERS) for value, name in zip(values, names, strict=True)}
        axis["labelExpr"] = f"split({json.dumps(shown)}[datum.value], '\\n')"
    return alt.Axis(**axis)


def scale_of(domain: Sequence[float]) -> Any:
    import altair as alt

    return alt.Scale(domain=list(domain), nice=False)


def colours_of(rows: Sequence[Mapping[str, Any]], colours: Colours, *, has_legend: bool = False) -> Any:
    """The colours of groups: those given, in their order, then others."""
    import altair as alt

    groups, known = _groups(rows, colours), dict(colours)
    chosen = [known.get(group) or colour_of(at) for at, group in enumerate(groups)]
    return alt.Color(
        "group:N", scale=alt.Scale(domain=groups, range=chosen), legend=_legend() if has_legend else None
    )


def _shapes(rows: Sequence[Mapping[str, Any]], colours: Colours) -> Any:
    """A shape for each group, so that colour never says it alone: where a colour comes again the shape differs."""
    import altair as alt

    groups = _groups(rows, colours)
    shapes = [SHAPES[(at + at // len(SERIES_COLOURS)) % len(SHAPES)] for at in range(len(groups))]
    return alt.Shape("group:N", scale=alt.Scale(domain=groups, range=shapes), legend=_legend())


def _legend() -> Any:
    """One that takes as many columns as the width allows."""
    import altair as alt

    return alt.Legend(symbolOpacity=1, columns=alt.ExprRef(f"max(1, floor(width / {LEGEND_WIDTH}))"))


def _groups(rows: Sequence[Mapping[str, Any]], colours: Colours) -> list[str]:
    present = dict.fromkeys(row["group"] for row in rows)
    return list(dict.fromkeys([*(group for group, _colour in colours if group in present), *present]))


def tips_of(words: Words, points: Sequence[Point]) -> list[Any]:
    """What a tooltip shows: name, place, value, interval, n; only what these points have."""
    import altair as alt

    tips = [alt.Tooltip("series:N", title="title")]
    headings = headings_of(words, points)
    shown = {"group": "group:N", "x": "place:N", "value": "figure:N", "low": "between:N", "n": "n:Q"}
    for name, of in shown.items():
        if name in headings:
            title = "95 % interval" if name == "low" else headings[name]
            # Vega-Lite writes titles into an expression without escaping them.
            title = re.sub(r'[\\"\s]+', " ", clean(title)).strip()
            tips.append(alt.Tooltip(of, title=title or "value", **({"format": ","} if of == "n:Q" else {})))
    return tips
