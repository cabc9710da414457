"""Specs of lines, points and rules over two axes, in one panel or many."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.web.chart_marks import FIGURES, LINE_HEIGHT, Plan, colours_of, places_of, scale_of, tips_of
from benchmarks.web.charts import Chart, Kind, Lines, Point, Words, row_of, wrapped

END_LETTERS = 26
"""Letters of a line of a name at the end of a line."""
BREAK = "split(datum.value, '\\n')"
HOVER, DOT_OPACITY = 0.001, 0.8
"""The opacity of points that only the mouse finds, and of others: a cloud shows where it is dense."""
ON_LINES = (Kind.MAIN, Kind.DASHED)
NEAR = 0.2
"""The share of the width within which two names could hide each other."""
PANEL_GAP, GAP_FOR_NAMES = 24, 96


def lines(chart: Chart, layout: Lines) -> Plan:
    """The plan of `Lines`."""
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
    header = alt.Header(labelExpr=BREAK, titleOrient="bottom", labelPadding=10)
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
