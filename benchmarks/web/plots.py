"""A plot is data: described once, drawn into the page as SVG with the page's colours, or as a file by matplotlib.

Series carry intervals; people are always drawn in the same neutral dark. Colours never carry meaning alone: each
series has its own dash or marker and its name in the legend.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from django.db.models import Model
from django.http import HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchmarks.web.downloads import as_file

Kind = Literal["line", "points", "band"]
FORMATS = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
COLOURS = ("#1f5a8a", "#b5531c", "#2c7a4b", "#8a3f8f", "#9a7400", "#3d6f78", "#a23b56", "#5b5b9d")
HUMAN = "#333333"
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "10 4", "4 2 1 2", "3 5")
STYLE = {
    "svg.hashsalt": "summhay",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
}
"""Names are drawn as they are: a dollar sign in one begins no formula."""
OTHER_ALPHABETS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "Noto Sans Arabic", "Noto Emoji")
WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 16, 48


@dataclass(frozen=True)
class Series:
    """Points in x and y; a band has lows and highs; `faint` series (single sessions) have no legend entry."""

    label: str
    xs: Sequence[float]
    ys: Sequence[float | None]
    kind: Kind = "line"
    lows: Sequence[float | None] = ()
    highs: Sequence[float | None] = ()
    colour: int = 0
    is_human: bool = False
    faint: bool = False


@dataclass(frozen=True)
class Plot:
    """Everything a drawing needs; `alt` says in words what it shows, `caption` gives n."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    x_range: tuple[float, float]
    y_range: tuple[float, float] = (0.0, 100.0)
    caption: str = ""
    alt: str = ""
    x_ticks: Sequence[float] = field(default_factory=tuple)
    y_ticks: Sequence[float] = field(default_factory=tuple)


def ticks(low: float, high: float, *, about: int = 6) -> list[float]:
    """Round positions between low and high, both near the ends."""
    if high <= low:
        return [low]
    raw = (high - low) / about
    size = 10 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw)
    first = math.ceil(low / step - 1e-9)
    return [round(index * step, 10) for index in range(first, math.floor(high / step + 1e-9) + 1)]


def inline_svg(plot: Plot) -> SafeString:
    """Draw for a page: classes instead of colours, so that the theme decides; no inline style."""
    return format_html(
        '<svg class="plot" viewBox="0 0 {w} {h}" role="img" aria-label="{alt}">{axes}{series}</svg>{legend}',
        w=WIDTH,
        h=HEIGHT,
        alt=plot.alt or plot.title,
        axes=_axes(plot),
        series=format_html_join("", "{}", ((_drawn(plot, one),) for one in plot.series)),
        legend=_legend(plot),
    )


def _x(plot: Plot, value: float) -> float:
    low, high = plot.x_range
    return round(LEFT + (value - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT), 1)


def _y(plot: Plot, value: float) -> float:
    low, high = plot.y_range
    return round(HEIGHT - BOTTOM - (value - low) / ((high - low) or 1) * (HEIGHT - TOP - BOTTOM), 1)


def _label(value: float) -> str:
    return f"{value:g}"


def _axes(plot: Plot) -> SafeString:
    xs = plot.x_ticks or ticks(*plot.x_range)
    ys = plot.y_ticks or ticks(*plot.y_range)
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    rows = format_html_join(
        "",
        '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>',
        ((LEFT, right, _y(plot, y), _y(plot, y), LEFT - 8, _y(plot, y) + 4, _label(y)) for y in ys),
    )
    columns = format_html_join(
        "",
        '<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>',
        ((_x(plot, x), _x(plot, x), bottom, bottom + 5, _x(plot, x), bottom + 19, _label(x)) for x in xs),
    )
    return format_html(
        '{}{}<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text class="axis-label" x="{}" y="{}" text-anchor="middle">{}</text>'
        '<text class="axis-label" transform="translate(14 {}) rotate(-90)" text-anchor="middle">{}</text>',
        rows,
        columns,
        LEFT,
        right,
        bottom,
        bottom,
        (LEFT + right) / 2,
        HEIGHT - 8,
        plot.x_label,
        (TOP + bottom) / 2,
        plot.y_label,
    )


def _runs(xs: Sequence[float], *columns: Sequence[float | None]) -> list[list[tuple[float, ...]]]:
    """Split at missing values, so that a gap is drawn as a gap."""
    runs: list[list[tuple[float, ...]]] = [[]]
    for x, *values in zip(xs, *columns, strict=True):
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            runs[-1].append((x, *known))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _drawn(plot: Plot, one: Series) -> SafeString:
    css = f"series c{one.colour % len(COLOURS)}{' human' if one.is_human else ''}{' faint' if one.faint else ''}"
    if one.kind == "band":
        paths = (_band_path(plot, run) for run in _runs(one.xs, one.lows, one.highs))
        return format_html_join("", '<path class="{} band" d="{}"/>', ((css, path) for path in paths))
    shapes = []
    for run in _runs(one.xs, one.ys):
        points = [(_x(plot, x), _y(plot, y)) for x, y in run]
        if one.kind == "line" and len(points) > 1:
            path = "M" + "L".join(f"{x},{y}" for x, y in points)
            dash = "" if one.is_human else DASHES[one.colour % len(DASHES)]
            shapes.append(format_html('<path class="{}" d="{}" stroke-dasharray="{}"/>', css, path, dash))
        if not one.faint:
            shapes.append(
                format_html_join(
                    "", '<circle class="{} dot" cx="{}" cy="{}" r="3"/>', ((css, x, y) for x, y in points)
                )
            )
    whiskers = _runs(one.xs, one.lows, one.highs) if one.kind == "points" and one.lows else []
    for run in whiskers:
        ends = ((css, _x(plot, x), _x(plot, x), _y(plot, low), _y(plot, high)) for x, low, high in run)
        shapes.append(format_html_join("", '<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>', ends))
    return format_html_join("", "{}", ((shape,) for shape in shapes))


def _band_path(plot: Plot, run: Sequence[tuple[float, ...]]) -> str:
    upper = [f"{_x(plot, x)},{_y(plot, high)}" for x, _, high in run]
    lower = [f"{_x(plot, x)},{_y(plot, low)}" for x, low, _ in reversed(run)]
    return "M" + "L".join([*upper, *lower]) + "Z"


def _legend(plot: Plot) -> SafeString:
    named = [one for one in plot.series if one.label and not one.faint and one.kind != "band"]
    entries = format_html_join(
        "",
        '<li><svg class="key" viewBox="0 0 28 10" aria-hidden="true">'
        '<path class="series c{}{}" d="M0,5L28,5" stroke-dasharray="{}"/></svg> {}</li>',
        (
            (
                one.colour % len(COLOURS),
                " human" if one.is_human else "",
                "" if one.is_human else DASHES[one.colour % len(DASHES)],
                one.label,
            )
            for one in named
        ),
    )
    return format_html('<ul class="legend">{}</ul>', entries) if named else SafeString("")


def file_of(plot: Plot, file_format: str) -> bytes:
    """Draw with matplotlib as svg, png or pdf; the same plot gives the same bytes."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE | {"font.family": _fonts()}):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        axes = figure.subplots()
        for one in plot.series:
            _draw_on(axes, one)
        axes.set_xlim(*plot.x_range)
        axes.set_ylim(*plot.y_range)
        if plot.x_ticks:
            axes.set_xticks(list(plot.x_ticks))
        axes.set_xlabel(_drawable(plot.x_label))
        axes.set_ylabel(_drawable(plot.y_label))
        axes.set_title(_drawable(plot.title), loc="left")
        if any(one.label and not one.faint for one in plot.series):
            axes.legend(frameon=False, fontsize=9)
        if plot.caption:
            figure.supxlabel(_drawable(plot.caption), fontsize=8, color="#555555")
        out = io.BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(file_format)
        figure.savefig(out, format=file_format, dpi=200, metadata=metadata)
    return out.getvalue()


def _fonts() -> list[str]:
    """The font of plots, and those of other alphabets that are installed here, for letters that it lacks."""
    from matplotlib.font_manager import get_font_names

    known = set(get_font_names())
    return ["DejaVu Sans", *(name for name in OTHER_ALPHABETS if name in known)]


def _drawable(text: str) -> str:
    """A name as matplotlib can draw it: no control characters, which would break SVG, and no hiding underscore."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return f" {shown}" if shown.startswith("_") else shown


def _draw_on(axes: object, one: Series) -> None:
    colour = HUMAN if one.is_human else COLOURS[one.colour % len(COLOURS)]
    nan = [math.nan if y is None else y for y in one.ys]
    lows = [math.nan if y is None else y for y in one.lows]
    highs = [math.nan if y is None else y for y in one.highs]
    if one.kind == "band":
        axes.fill_between(one.xs, lows, highs, color=colour, alpha=0.15, linewidth=0)  # type: ignore[attr-defined]
        return
    label = None if one.faint else _drawable(one.label)
    style = "-" if one.is_human else ("-", "--", ":", "-.")[one.colour % 4]
    width, alpha = (0.8, 0.35) if one.faint else (1.8, 1.0)
    if one.kind == "points":
        errors = None
        if lows:
            errors = [
                [y - low for y, low in zip(nan, lows, strict=True)],
                [h - y for y, h in zip(nan, highs, strict=True)],
            ]
        axes.errorbar(one.xs, nan, yerr=errors, fmt="o", color=colour, label=label, markersize=4)  # type: ignore[attr-defined]
        return
    axes.plot(one.xs, nan, style, color=colour, label=label, linewidth=width, alpha=alpha)  # type: ignore[attr-defined]


def plot_download(plot: Plot, *, file_format: str, name: str, about: Model | None = None) -> HttpResponse:
    """Answer with the plot as a file."""
    response = HttpResponse(file_of(plot, file_format), content_type=FORMATS[file_format])
    return as_file(response, name=f"{name}.{file_format}", about=about)
