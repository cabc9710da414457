"""A plot is data: described once and drawn by matplotlib, into the page with the page's colours or as a file.

Series carry intervals; people are always drawn in the same neutral dark. Colours never carry meaning alone: each
series has its own dash or marker and its name in the legend, on the axis or above its panel. In a page every point
tells its values when the mouse rests on it.
"""

from __future__ import annotations

import io
import math
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree as ET

from django.db.models import Model
from django.http import HttpResponse
from django.utils.safestring import SafeString

from benchmarks.web.downloads import as_file
from benchmarks.web.memory import remembered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.projections.polar import PolarAxes

Kind = Literal["line", "points", "band"]
FORMATS = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
COLOURS = ("#1f5a8a", "#b5531c", "#2c7a4b", "#8a3f8f", "#9a7400", "#3d6f78", "#a23b56", "#5b5b9d")
HUMAN = "#333333"
DASHES = (
    "-",
    (0, (6, 3)),
    (0, (2, 3)),
    (0, (8, 3, 2, 3)),
    (0, (1, 2)),
    (0, (10, 4)),
    (0, (4, 2, 1, 2)),
    (0, (3, 5)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
ON_THE_AXIS = 0.1
"""Spokes whose sine is smaller point up or down; their names are centred."""
TIPS = "tips-"
MAX_TIPS = 1_000
"""Points of a series above which none has a tip: they lie too close for the mouse."""
"""The id of a drawn group whose points get the values of a series, by the place of the series."""
STYLE = {
    "svg.hashsalt": "summhay",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
}
"""Names are drawn as they are: a dollar sign in one begins no formula."""
OTHER_ALPHABETS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "Noto Sans Arabic", "Noto Emoji")
THEME = {colour: f"var(--plot-{at})" for at, colour in enumerate(COLOURS)} | {
    HUMAN: "var(--human)",
    "#000000": "currentColor",
}
"""What a colour becomes in a page, where the theme decides."""
SVG = "http://www.w3.org/2000/svg"
NAMESPACES = {"": SVG, "xlink": "http://www.w3.org/1999/xlink"}
_drawing = threading.Lock()


@dataclass(frozen=True)
class Series:
    """Points in x and y; a band has lows and highs; `faint` series (single sessions) have no legend entry.

    A line that `is_marked` has a marker and, with lows and highs, an interval at each of its points. With
    `is_across` lows and highs are along x. `panel` is the place of a panel of the plot; in panels lines are solid
    unless one `is_dashed`.
    """

    label: str
    xs: Sequence[float]
    ys: Sequence[float | None]
    kind: Kind = "line"
    lows: Sequence[float | None] = ()
    highs: Sequence[float | None] = ()
    colour: int = 0
    is_human: bool = False
    faint: bool = False
    is_across: bool = False
    is_marked: bool = False
    is_dashed: bool = False
    panel: int = 0


@dataclass(frozen=True)
class Plot:
    """Everything a drawing needs; `alt` says in words what it shows, `caption` gives n.

    `x_names` stand at the ticks; in a radar they are the spokes, which series count from 0. `rows` name the
    positions 1, 2 … of y, from the top. `panels` are the titles of small plots beside each other, all with the
    same axes. One that `is_small` stands in a card.
    """

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
    x_names: Sequence[str] = ()
    is_radar: bool = False
    rows: Sequence[str] = ()
    panels: Sequence[str] = ()
    is_legend_beside: bool = False
    is_small: bool = False


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
    """Draw for a page, whose heading and caption stand beside it; drawn once an hour at most."""
    found = remembered("plot", plot, lambda: _for_page(_draw(plot, "svg", is_page=True), plot))
    # What matplotlib drew, parsed and written again as XML: names in it are text, never markup.
    return SafeString(found)


def file_of(plot: Plot, file_format: str) -> bytes:
    """Draw as svg, png or pdf, with title and caption; the same plot gives the same bytes."""
    return _draw(plot, file_format, is_page=False)


def plot_download(plot: Plot, *, file_format: str, name: str, about: Model | None = None) -> HttpResponse:
    """Answer with the plot as a file."""
    response = HttpResponse(file_of(plot, file_format), content_type=FORMATS[file_format])
    return as_file(response, name=f"{name}.{file_format}", about=about)


def _draw(plot: Plot, file_format: str, *, is_page: bool) -> bytes:
    """Draw with matplotlib, whose settings are global: one plot at a time."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib.figure import Figure

    page_style: dict[str, Any] = (
        {"svg.fonttype": "none", "font.size": 12} if is_page else {"font.family": _fonts()}
    )
    # Beside a plot of a page a legend needs room: the page's font is wider than the one that is measured here.
    page_style["legend.fontsize"] = "medium" if is_page and plot.is_legend_beside else "small"
    out = io.BytesIO()
    with _drawing, mpl.rc_context(STYLE | page_style):
        n_columns = min(3, len(plot.panels) or 1)
        n_rows = -(-len(plot.panels) // n_columns) if plot.panels else 1
        figure = Figure(figsize=_size(plot, n_rows, is_page=is_page), layout="constrained")
        shape: dict[str, Any] = {"subplot_kw": {"projection": "polar"}} if plot.is_radar else {}
        grid = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False, **shape).ravel()
        for place, axes in enumerate(grid):
            if place and place >= len(plot.panels):
                axes.remove()
                grid[place - n_columns].tick_params(labelbottom=True)
                continue
            (_draw_radar if plot.is_radar else _draw_panel)(axes, plot, place)
            if is_page:
                axes.patch.set_visible(False)
        if is_page:
            figure.patch.set_visible(False)
        else:
            _set_title(figure, grid[0], plot)
        if plot.panels:
            below = [plot.x_label] if is_page else [plot.x_label, plot.caption]
            figure.supxlabel("\n".join(map(_drawable, below)), fontsize="small")
            figure.supylabel(_drawable(plot.y_label), fontsize="small")
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(file_format)
        figure.savefig(out, format=file_format, dpi=200, metadata=metadata)
    return out.getvalue()


def _size(plot: Plot, n_rows: int, *, is_page: bool) -> tuple[float, float]:
    """Width and height in inches; rows with names and rows of panels take the height they need."""
    width = 10.0 if is_page else 7.2
    if plot.is_small:
        return 5.4, 1.0 + 0.34 * len(plot.rows) if plot.rows else 2.8
    if plot.rows:
        return width, 1.5 + 0.42 * len(plot.rows)
    return width, (3.1 if is_page else 2.3) * n_rows if plot.panels else (5.5 if is_page else 4.4)


def _set_title(figure: Figure, axes: Axes, plot: Plot) -> None:
    if plot.panels:
        figure.suptitle(_drawable(plot.title), x=0.01, ha="left")
        return
    axes.set_title(_drawable(plot.title), loc="left")
    if plot.caption:
        figure.supxlabel(_drawable(plot.caption), fontsize=8, color="#555555")


def _draw_panel(axes: Axes, plot: Plot, place: int) -> None:
    """One set of axes with the series of its panel."""
    axes.grid(axis="x" if plot.rows else "y", linewidth=0.6, alpha=0.2, color="#000000")
    for number, one in enumerate(plot.series):
        if one.panel == place:
            _draw_on(axes, one, tips=f"{TIPS}{number}", is_named=not plot.panels)
    axes.set_xlim(*plot.x_range)
    axes.set_ylim(*plot.y_range)
    if plot.x_ticks:
        names = [_drawable(name) for name in plot.x_names]
        slanted: Any = {"fontsize": "small", "rotation": 20, "ha": "right"} if names else {}
        axes.set_xticks(list(plot.x_ticks), names or None, **slanted)
    if plot.rows:
        axes.set_yticks(range(1, len(plot.rows) + 1), [_drawable(name) for name in plot.rows])
        axes.set_ylim(len(plot.rows) + 0.5, 0.5)
    elif plot.y_ticks:
        axes.set_yticks(list(plot.y_ticks))
    if plot.panels:
        axes.set_title(_drawable(plot.panels[place]), loc="left", fontsize="medium")
        return
    axes.set_xlabel(_drawable(plot.x_label))
    axes.set_ylabel(_drawable(plot.y_label))
    in_legend = [one for one in plot.series if one.label and not one.faint and one.kind != "band"]
    if any(one.kind == "line" for one in in_legend) if plot.rows else in_legend:
        _add_legend(axes, plot, right=1.01)


def _add_legend(axes: Axes, plot: Plot, *, right: float) -> None:
    beside: Any = {"loc": "center left", "bbox_to_anchor": (right, 0.5)} if plot.is_legend_beside else {}
    axes.legend(frameon=False, **beside)


def _draw_radar(axes: PolarAxes, plot: Plot, _place: int) -> None:
    """Spokes clockwise from the top, every line closed."""
    axes.grid(axis="y", linewidth=0.6, alpha=0.2, color="#000000")
    n = len(plot.x_names)
    angles = [2 * math.pi * at / n for at in range(n)]
    axes.set_theta_offset(math.pi / 2)
    axes.set_theta_direction(-1)
    axes.set_xticks(angles, [_drawable(name) for name in plot.x_names])
    for name, angle in zip(axes.get_xticklabels(), angles, strict=True):
        side = math.sin(angle)
        name.set_horizontalalignment("center" if abs(side) < ON_THE_AXIS else "left" if side > 0 else "right")
    axes.spines["polar"].set_alpha(0.2)
    axes.xaxis.grid(linewidth=0.6, alpha=0.2, color="#000000")
    for one in plot.series:
        closed = [angles[int(x)] for x in one.xs]
        line = replace(one, xs=[*closed, *closed[:1]], ys=[*one.ys, *one.ys[:1]], is_marked=True)
        _draw_on(axes, line, tips="", is_named=True)
    axes.set_ylim(*plot.y_range)
    if plot.y_ticks:
        axes.set_yticks(list(plot.y_ticks))
    if any(one.label for one in plot.series):
        _add_legend(axes, plot, right=1.25)


def _draw_on(axes: Axes, one: Series, *, tips: str, is_named: bool) -> None:
    colour = HUMAN if one.is_human else COLOURS[one.colour % len(COLOURS)]
    ys, lows, highs = ([math.nan if y is None else y for y in column] for column in (one.ys, one.lows, one.highs))
    is_in_legend = is_named and one.label and not one.faint and not (one.kind == "points" and one.is_across)
    label = _drawable(one.label) if is_in_legend else None
    if one.kind == "band":
        fill = axes.fill_betweenx if one.is_across else axes.fill_between
        fill(ys if one.is_across else one.xs, lows, highs, color=colour, alpha=0.15, linewidth=0)
    elif one.kind == "points":
        values = one.xs if one.is_across else ys
        below = [value - low for value, low in zip(values, lows, strict=True)] if lows else []
        above = [high - value for value, high in zip(values, highs, strict=True)] if highs else []
        errors: dict[str, Any] = {"xerr" if one.is_across else "yerr": [below, above]} if lows else {}
        marker = MARKERS[one.colour % len(MARKERS)]
        drawn = axes.errorbar(
            one.xs, ys, **errors, fmt=marker, color=colour, label=label, markersize=7 if one.is_across else 4
        )
        drawn.lines[0].set_gid(tips)
    else:
        # With more series than colours a colour comes again, with another dash.
        is_solid = one.is_human or not is_named
        dash = (
            DASHES[1]
            if one.is_dashed
            else DASHES[0 if is_solid else (one.colour + one.colour // len(COLOURS)) % len(DASHES)]
        )
        width, alpha = (0.8, 0.35) if one.faint else (1.8, 1.0)
        dots = "o" if one.is_marked else None
        axes.plot(
            one.xs, ys, linestyle=dash, color=colour, label=label, linewidth=width, alpha=alpha, marker=dots,
            markersize=4,
        )  # fmt: skip
        if one.is_marked and lows:
            axes.vlines(one.xs, lows, highs, color=colour, linewidth=1.0, alpha=0.6)
        if not one.faint and one.label and tips:
            axes.plot(one.xs, ys, linestyle="none", marker="o", markersize=9, color=colour, alpha=0.0, gid=tips)


def _values(plot: Plot, one: Series) -> list[str]:
    """What each drawn point of a series says, with its interval where it has one."""
    found = []
    for at, (x, y) in enumerate(zip(one.xs, one.ys, strict=True)):
        if y is None:
            continue
        low, high = (one.lows[at], one.highs[at]) if one.lows and one.highs else (None, None)
        between = "" if low is None or high is None else f" ({_short(low)}–{_short(high)})"
        if one.is_across:
            found.append(f"{one.label}: {_short(x)}{between}")
        else:
            where = plot.x_names[list(plot.x_ticks).index(x)] if plot.x_names and x in plot.x_ticks else _short(x)
            found.append(f"{one.label}: {plot.x_label} {where}, {plot.y_label} {_short(y)}{between}")
    return found


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _fonts() -> list[str]:
    """The font of plots, and those of other alphabets that are installed here, for letters that it lacks."""
    from matplotlib.font_manager import get_font_names

    known = set(get_font_names())
    return ["DejaVu Sans", *(name for name in OTHER_ALPHABETS if name in known)]


def _drawable(text: str) -> str:
    """A name as matplotlib can draw it: no control characters, which would break SVG, and no hiding underscore."""
    shown = text if text.isprintable() else "".join(letter if letter.isprintable() else " " for letter in text)
    return f" {shown}" if shown.startswith("_") else shown


def _for_page(drawn: bytes, plot: Plot) -> str:
    """The drawing as part of a page: no inline styles, which the CSP forbids, and the colours of the theme."""
    root = ET.fromstring(drawn)  # noqa: S314  drawn here
    view = root.get("viewBox", "")
    for part in root.findall(f"{{{SVG}}}metadata") + root.findall(f"{{{SVG}}}defs"):
        if part.tag.endswith("metadata") or part.find(f"{{{SVG}}}style") is not None:
            root.remove(part)
    for element in root.iter():
        if element.tag == f"{{{SVG}}}g":
            _add_tips(element, plot, element.attrib.pop("id", ""))
        for name, value in _properties(element.attrib.pop("style", "")):
            element.set(name, value)
    root.attrib.clear()
    root.attrib.update({"class": "plot", "viewBox": view, "role": "img", "aria-label": plot.alt or plot.title})
    for prefix, uri in NAMESPACES.items():
        ET.register_namespace(prefix, uri)
    # In HTML both namespaces are known; declared they would only be attributes.
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", ET.tostring(root, encoding="unicode"))


def _add_tips(group: ET.Element, plot: Plot, name: str) -> None:
    """Give the points of a series their values as titles, which browsers show under the mouse."""
    if not name.startswith(TIPS):
        return
    points = group.findall(f".//{{{SVG}}}use")
    if len(points) > MAX_TIPS:
        return
    values = _values(plot, plot.series[int(name.removeprefix(TIPS))])
    if len(values) == len(points):
        for value, point in zip(values, points, strict=True):
            ET.SubElement(point, f"{{{SVG}}}title").text = _drawable(value)


def _properties(style: str) -> list[tuple[str, str]]:
    found = []
    for name, _, value in (part.strip().partition(":") for part in style.split(";") if part.strip()):
        if not name.startswith("font"):
            found.append((name, THEME.get(value.strip(), value.strip())))
    return found
