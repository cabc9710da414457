"""Lines, points and rules over two axes, in one panel or many; Bland–Altman is one of them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.web.chart_marks import FIGURES, LINE_HEIGHT, SIZE, chart_of, colours_of, scale_of, tips_of
from benchmarks.web.chart_points import Kind, Point, Words, number, row_of, wrapped
from benchmarks.web.charts import HUMAN, Chart

END_LETTERS, PLACE_LETTERS = 26, 16
"""Letters of a line of a name at the end of a line, and under an axis."""
BREAK = "split(datum.value, '\\n')"
HOVER, DOT_OPACITY = 0.001, 0.8
"""The opacity of points that only the mouse finds, and of others: a cloud shows where it is dense."""
NEAR = 0.2
"""The share of the width within which two names could hide each other."""
EDGE, LEAST_EDGE = 1.25, 10.0
"""How far the axis of differences goes beyond the farthest, and at least."""
PANEL_GAP, GAP_FOR_NAMES = 24, 96


def lines(
    words: Words,
    points: Sequence[Point],
    *,
    x_domain: tuple[float, float],
    domain: tuple[float, float],
    colours: Mapping[str, str] | None = None,
    x_values: Sequence[float] = (),
    x_names: Sequence[str] = (),
    panels_beside: int = 0,
    size: tuple[int, int] = SIZE,
    has_dots: bool = True,
    has_bands: bool = True,
    ends: str = "series",
) -> Chart:
    """Lines and points over x, in a panel each where points name panels; series are named at their ends.

    `ends` is what stands at the end of a line, or beside the only dot of a series: "series" or its last "figure".
    `x_names` stand at the `x_values`. Intervals are bands, or bars if not `has_bands`.
    """
    import altair as alt

    width, height = size
    ends_of = _end_labels(words, points, x_domain=x_domain, domain=domain, height=height, ends=ends)
    rows = [{**row_of(words, point), "kind": point.kind} for point in points]
    data, named = {FIGURES: [*rows, *ends_of]}, alt.NamedData(FIGURES)
    panels = list(dict.fromkeys(point.panel for point in points if point.panel))
    x_title = None if panels else words.x or None
    x = alt.X("x:Q", title=x_title, axis=_places(x_values, x_names), scale=scale_of(x_domain))
    y = alt.Y("value:Q", title=words.value or None, axis=alt.Axis(tickCount=5), scale=scale_of(domain))
    base = alt.Chart().encode(x=x, y=y, color=colours_of(rows, colours), detail="series:N")
    marks = _line_marks(words, points, base, has_dots=has_dots, has_bands=has_bands)
    layered = alt.layer(*marks).properties(width=width, height=height)
    if not panels:
        return chart_of(words, points, layered.properties(data=named), data, width=width + 160)
    header = alt.Header(labelExpr=BREAK, titleOrient="bottom", labelPadding=10)
    facet = alt.Facet("panel:N", sort=panels, title=words.x or None, header=header)
    beside = min(panels_beside, len(panels))
    gap = PANEL_GAP if ends == "figure" else GAP_FOR_NAMES
    grid = layered.facet(facet=facet, columns=beside, data=named, spacing={"column": gap, "row": 36})
    return chart_of(words, points, grid.resolve_axis(x="independent"), data, width=beside * (width + gap))


def _places(values: Sequence[float], names: Sequence[str]) -> Any:
    """An axis with ticks at these values, which may have names."""
    import altair as alt

    axis: dict[str, Any] = {"grid": False, "tickCount": 6}
    if values:
        axis["values"] = list(values)
    if names:
        shown = {f"{value:g}": wrapped(name, PLACE_LETTERS) for value, name in zip(values, names, strict=True)}
        axis["labelExpr"] = f"split({json.dumps(shown)}[datum.value], '\\n')"
    return alt.Axis(**axis)


def _line_marks(words: Words, points: Sequence[Point], base: Any, *, has_dots: bool, has_bands: bool) -> list[Any]:
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

    layers = []
    if has_intervals and has_bands:
        layers.append(of(Kind.MAIN).mark_area(opacity=0.14, aria=False).encode(**ends))
    elif has_intervals:
        bars = of(Kind.MAIN, Kind.DOT).transform_filter("isValid(datum.low)")
        layers.append(bars.mark_rule(opacity=0.55, strokeWidth=1.5, aria=False).encode(**ends))
    if Kind.THIN in kinds:
        thin = of(Kind.THIN).mark_line(opacity=0.35, strokeWidth=1, aria=False)
        layers.append(thin.encode(tooltip=alt.Tooltip("series:N", title="title")))
    if Kind.DASHED in kinds:
        layers.append(of(Kind.DASHED).mark_line(strokeDash=[5, 3], strokeWidth=1.5, aria=False))
    if Kind.ACROSS in kinds:
        layers.append(rules(Kind.ACROSS, "y"))
    if Kind.UPRIGHT in kinds:
        layers.append(rules(Kind.UPRIGHT, "x"))
    if Kind.MAIN in kinds:
        layers.append(of(Kind.MAIN).mark_line(strokeWidth=2.25, aria=False))
    spots = of(Kind.MAIN, Kind.DASHED, Kind.DOT).transform_filter("isValid(datum.value)")
    spots = spots.mark_circle(size=40 if has_dots else 90, opacity=DOT_OPACITY if has_dots else HOVER)
    layers.append(spots.encode(description="text:N", tooltip=tips))
    named = of("end").mark_text(align="left", dx=8, fontWeight=600, aria=False)
    return [*layers, named.encode(text="label:N")]


def _end_labels(
    words: Words,
    points: Sequence[Point],
    *,
    x_domain: Sequence[float],
    domain: Sequence[float],
    height: int,
    ends: str,
) -> list[dict[str, Any]]:
    """Rows of the names at the ends of lines, at single dots and rules, so that none hides another."""
    counts = Counter((point.panel, point.series) for point in points)
    last = {}
    for point in points:
        key = (point.panel, point.series)
        is_in_cloud = point.kind is Kind.DOT and (ends != "series" or counts[key] > 1)
        has_place = point.value is not None or point.kind is Kind.UPRIGHT
        if has_place and point.kind is not Kind.THIN and not is_in_cloud:
            last[key] = point
    rows = []
    for panel in dict.fromkeys(panel for panel, _series in last):
        of_panel = [one for (where, _name), one in last.items() if where == panel]
        rows += _spread(words, of_panel, x_domain=x_domain, domain=domain, height=height, ends=ends)
    return rows


def _spread(
    words: Words,
    points: Sequence[Point],
    *,
    x_domain: Sequence[float],
    domain: Sequence[float],
    height: int,
    ends: str,
) -> list[dict[str, Any]]:
    """Rows of names beside points, the highest first; one that would hide another stands below it."""
    pixels = height / ((domain[1] - domain[0]) or 1)
    placed: list[tuple[float, float]] = []
    rows = []
    for point in sorted(points, key=lambda one: -math.inf if one.value is None else -one.value):
        x = x_domain[1] if point.kind is Kind.ACROSS or point.x is None else float(point.x)
        is_figure = ends == "figure" and point.kind is Kind.MAIN and point.value is not None
        label = f"{point.value:.0f}" if is_figure else wrapped(point.series, END_LETTERS)
        y = pixels * (domain[1] - (domain[1] if point.value is None else point.value))
        near = [at for where, at in placed if abs(where - x) < NEAR * (x_domain[1] - x_domain[0])]
        while hidden := [at for at in near if abs(y - at) < LINE_HEIGHT - 0.01]:
            y = max(hidden) + LINE_HEIGHT
        placed += [(x, y + LINE_HEIGHT * line) for line in range(label.count("\n") + 1)]
        row = {"kind": "end", "x": x, "value": domain[1] - y / pixels, "label": label}
        rows.append({**row, "series": point.series, "group": point.group or point.series, "panel": point.panel})
    return rows


def bland_altman(
    words: Words,
    points: Sequence[Point],
    *,
    x_domain: tuple[float, float],
    colours: Mapping[str, str],
    size: tuple[int, int] = SIZE,
) -> Chart:
    """Differences of two measurements against their means, with the mean difference and its limits of agreement.

    The limits are 1.96 standard deviations from the mean; with one point or none there are none.
    """
    apart = [point.value for point in points if point.value is not None]
    levels = []
    middle, spread = (fmean(apart), 1.96 * stdev(apart) if len(apart) > 1 else 0.0) if apart else (0.0, 0.0)
    if apart:
        levels.append((_("mean difference"), middle))
    if len(apart) > 1:
        levels += [
            (_("upper limit of agreement"), middle + spread),
            (_("lower limit of agreement"), middle - spread),
        ]
    edge = EDGE * max([LEAST_EDGE, abs(middle) + spread, *map(abs, apart)])
    rules = [
        Point(
            series=f"{name} {number(value, words, signed=True)}", value=value, group=_("limits"), kind=Kind.ACROSS
        )
        for name, value in levels
    ]
    colours = {**colours, _("limits"): HUMAN}
    return lines(
        words, [*points, *rules], x_domain=x_domain, domain=(-edge, edge), colours=colours, size=size, ends=""
    )
