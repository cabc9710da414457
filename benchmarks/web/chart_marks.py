"""Specs of rows of dots with intervals, of bars, and of lines and points over two axes, in one panel or many.

Each takes a chart and its layout, and plans its spec. What is undefined is said, and never drawn as 0.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
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
    Lines,
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
    """Encodings of all layers of rows: a row for each series, in which groups may stand one under the other."""
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
    """Fields of a tooltip: name, place, value, interval, n; only what these points have."""
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


END_LETTERS = 26
"""Letters of a line of a name at the end of a line."""
LINE_BREAK = "split(datum.value, '\\n')"
HOVER, DOT_OPACITY = 0.001, 0.8
"""The opacity of points that only the mouse finds, and of others: a cloud shows where it is dense."""
ON_LINES = (Kind.MAIN, Kind.DASHED)
NEAR = 0.2
"""The share of the width within which two names could hide each other."""
PANEL_GAP, GAP_FOR_NAMES = 24, 96


def lines(chart: Chart, layout: Lines) -> Plan:
    import altair as alt

    words, points, (width, height) = chart.words, chart.points, layout.size
    ends_of = _end_labels(words, points, layout)
    rows = [{**row_of(words, point), "kind": point.kind} for point in points]
    data, named = {FIGURES: [*rows, *ends_of]}, alt.NamedData(FIGURES)
    panels = list(dict.fromkeys(point.panel for point in points if point.panel))
    x_title = None if panels else words.x or None
    axis = places_of(layout.x_values, layout.x_names)
    x = alt.X("x:Q", title=x_title, axis=axis, scale=scale_of(layout.x_domain))
    y = alt.Y("value:Q", title=words.value or None, axis=alt.Axis(tickCount=5), scale=scale_of(layout.domain))
    base = alt.Chart().encode(x=x, y=y, color=colours_of(rows, layout.colours), detail="series:N")
    marks = _line_marks(words, points, base, layout)
    layered = alt.layer(*marks).properties(width=width, height=height)
    if not panels:
        return Plan(layered.properties(data=named), data, width=width + 160)
    header = alt.Header(labelExpr=LINE_BREAK, titleOrient="bottom", labelPadding=10)
    facet = alt.Facet("panel:N", sort=panels, title=words.x or None, header=header)
    beside = min(layout.panels_beside, len(panels))
    gap = PANEL_GAP if layout.ends == "figure" else GAP_FOR_NAMES
    grid = layered.facet(facet=facet, columns=beside, data=named, spacing={"column": gap, "row": 36})
    return Plan(grid.resolve_axis(x="independent"), data, width=beside * (width + gap))


def _line_marks(words: Words, points: Sequence[Point], base: Any, layout: Lines) -> list[Any]:
    """The layers of lines: intervals, thin lines, dashed ones, lines, points, rules with names, names at ends."""
    import altair as alt

    kinds = {point.kind for point in points}
    has_intervals = any(point.low is not None for point in points)
    tips = tips_of(words, points)
    ends = {"y": alt.Y("low:Q"), "y2": "high:Q"}

    def of(*kinds: str) -> Any:
        return base.transform_filter(alt.FieldOneOfPredicate(field="kind", oneOf=list(kinds)))

    def rules(kind: Kind, along: str) -> Any:
        rule = (
            alt.Chart().transform_filter(f"datum.kind == '{kind}'").mark_rule(strokeDash=[4, 3], strokeWidth=1.25)
        )
        place, colour = base.encoding[along], base.encoding.color
        return rule.encode(**{along: place, "color": colour, "description": "text:N", "tooltip": tips})

    leads = {"href": alt.Href("url:N")} if any(point.url for point in points) else {}
    layers = []
    if has_intervals and layout.has_bands:
        layers.append(of(Kind.MAIN).mark_area(opacity=0.14, aria=False).encode(**ends))
    elif has_intervals:
        bars = of(Kind.MAIN, Kind.DOT).transform_filter("isValid(datum.low)")
        layers.append(bars.mark_rule(opacity=0.55, strokeWidth=1.5, aria=False).encode(**ends))
    if Kind.THIN in kinds:
        # What leads somewhere needs a name for those who do not see it.
        thin = of(Kind.THIN).mark_line(opacity=0.35, strokeWidth=1, aria=bool(leads))
        said = {"description": alt.Description("series:N")} if leads else {}
        layers.append(thin.encode(tooltip=alt.Tooltip("series:N", title="title"), **said, **leads))
    if Kind.DASHED in kinds:
        layers.append(of(Kind.DASHED).mark_line(strokeDash=[5, 3], strokeWidth=1.5, aria=False))
    if Kind.ACROSS in kinds:
        layers.append(rules(Kind.ACROSS, "y"))
    if Kind.UPRIGHT in kinds:
        layers.append(rules(Kind.UPRIGHT, "x"))
    if Kind.MAIN in kinds:
        interpolate = "step-after" if layout.is_stepped else "linear"
        layers.append(of(Kind.MAIN).mark_line(strokeWidth=2.25, interpolate=interpolate, aria=False))
    for kinds_of, is_seen in ((ON_LINES, layout.has_dots), ((Kind.DOT,), True)):
        if kinds.intersection(kinds_of):
            spots = of(*kinds_of).transform_filter("isValid(datum.value)")
            spots = spots.mark_circle(size=40 if is_seen else 90, opacity=DOT_OPACITY if is_seen else HOVER)
            layers.append(spots.encode(description="text:N", tooltip=tips, **leads))
    named = of("end").mark_text(align="left", dx=8, fontWeight=600, aria=False)
    inside = of("across-name").mark_text(align="left", dx=4, dy=-7, fontSize=11, aria=False)
    return [*layers, *(names.encode(text="label:N") for names in (named, inside))]


def _end_labels(words: Words, points: Sequence[Point], layout: Lines) -> list[dict[str, Any]]:
    """Rows of the names at the ends of lines, at single dots and rules, so that none hides another."""
    counts = Counter((point.panel, point.series) for point in points)
    last = {}
    for point in points:
        key = (point.panel, point.series)
        is_in_cloud = point.kind is Kind.DOT and (layout.ends != "series" or counts[key] > 1)
        has_place = point.value is not None or point.kind is Kind.UPRIGHT
        if has_place and point.kind is not Kind.THIN and not is_in_cloud:
            last[key] = point
    rows = []
    for panel in dict.fromkeys(panel for panel, _series in last):
        of_panel = [point for (where, _name), point in last.items() if where == panel]
        inside = [point for point in of_panel if layout.ends == "figure" and point.kind is Kind.ACROSS]
        rows += _spread(words, [point for point in of_panel if point not in inside], layout)
        rows += [{**row, "kind": "across-name", "x": layout.x_domain[0]} for row in _spread(words, inside, layout)]
    return rows


def _spread(words: Words, points: Sequence[Point], layout: Lines) -> list[dict[str, Any]]:
    """Rows of names beside points, the highest first; one that would hide another stands below it, or above it."""
    x_domain, domain = layout.x_domain, layout.domain
    pixels = layout.size[1] / ((domain[1] - domain[0]) or 1)
    placed: list[tuple[float, float]] = []
    rows = []
    for point in sorted(points, key=lambda point: -math.inf if point.value is None else -point.value):
        x = x_domain[1] if point.kind is Kind.ACROSS or point.x is None else float(point.x)
        is_figure = layout.ends == "figure" and point.kind is Kind.MAIN and point.value is not None
        label = f"{point.value:.0f}" if is_figure else wrapped(point.series, END_LETTERS)
        y = pixels * (domain[1] - (domain[1] if point.value is None else point.value))
        near = [at for where, at in placed if abs(where - x) < NEAR * (x_domain[1] - x_domain[0])]
        while hidden := [at for at in near if abs(y - at) < LINE_HEIGHT - 0.01]:
            y = max(hidden) + LINE_HEIGHT
        if placed and y > layout.size[1]:
            y = layout.size[1]
            while hidden := [at for at in near if abs(y - at) < LINE_HEIGHT - 0.01]:
                y = min(hidden) - LINE_HEIGHT
        placed += [(x, y + LINE_HEIGHT * line) for line in range(label.count("\n") + 1)]
        row = {"kind": "end", "x": x, "value": domain[1] - y / pixels, "label": label}
        rows.append({**row, "series": point.series, "group": point.group or point.series, "panel": point.panel})
    return rows
