"""A plot is data: described once and drawn by matplotlib, into the page with the page's colours or as a file.

Series carry intervals; people are always drawn in the same neutral dark. Colours never carry meaning alone: each
series has its own dash or marker and its name in the legend.
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

from django.core.cache import cache
from django.db.models import Model
from django.http import HttpResponse
from django.utils.crypto import salted_hmac
from django.utils.safestring import SafeString

from benchmarks.web.downloads import as_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
KEEP_S = 3_600
ON_THE_AXIS = 0.1
"""Spokes whose sine is smaller point up or down; their names are centred."""
SVG = "http://www.w3.org/2000/svg"
NAMESPACES = {"": SVG, "xlink": "http://www.w3.org/1999/xlink"}
_drawing = threading.Lock()


@dataclass(frozen=True)
class Series:
    """Points in x and y; a band has lows and highs; `faint` series (single sessions) have no legend entry.

    A line with lows and highs has a marker and an interval at each of its points.
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


@dataclass(frozen=True)
class Plot:
    """Everything a drawing needs; `alt` says in words what it shows, `caption` gives n.

    `x_names` stand at the ticks. In a radar they are the spokes, which series count from 0.
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
    x_names: Sequence[str] = field(default_factory=tuple)
    is_radar: bool = False
    is_legend_beside: bool = False


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
    key = "plot:" + salted_hmac("benchmarks.web.plots", repr(plot), algorithm="sha256").hexdigest()
    found: str | None = cache.get(key)
    if found is None:
        found = _for_page(_draw(plot, "svg", is_page=True), plot.alt or plot.title)
        cache.set(key, found, KEEP_S)
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

    page_style = {"svg.fonttype": "none", "font.size": 12} if is_page else {"font.family": _fonts()}
    out = io.BytesIO()
    with _drawing, mpl.rc_context(STYLE | page_style):
        figure = Figure(figsize=(10, 5.5) if is_page else (7.2, 4.4), layout="constrained")
        axes: Any = figure.subplots(subplot_kw={"projection": "polar"} if plot.is_radar else None)
        axes.grid(axis="y", linewidth=0.6, alpha=0.2, color="#000000")
        (_radar if plot.is_radar else _cartesian)(axes, plot)
        axes.set_ylim(*plot.y_range)
        if plot.y_ticks:
            axes.set_yticks(list(plot.y_ticks))
        if any(one.label and not one.faint and one.kind != "band" for one in plot.series):
            right = 1.25 if plot.is_radar else 1.01
            beside = {"loc": "center left", "bbox_to_anchor": (right, 0.5)} if plot.is_legend_beside else {}
            # The font of a page is wider than the one that is measured here.
            size = "medium" if is_page and beside else "small"
            axes.legend(frameon=False, fontsize=size, **beside)
        if is_page:
            figure.patch.set_visible(False)
            axes.patch.set_visible(False)
        else:
            axes.set_title(_drawable(plot.title), loc="left")
            if plot.caption:
                figure.supxlabel(_drawable(plot.caption), fontsize=8, color="#555555")
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(file_format)
        figure.savefig(out, format=file_format, dpi=200, metadata=metadata)
    return out.getvalue()


def _cartesian(axes: Axes, plot: Plot) -> None:
    for one in plot.series:
        _draw_on(axes, one)
    axes.set_xlim(*plot.x_range)
    if plot.x_ticks:
        names = [_drawable(name) for name in plot.x_names]
        slanted: Any = {"fontsize": "small", "rotation": 20, "ha": "right"} if names else {}
        axes.set_xticks(list(plot.x_ticks), names or None, **slanted)
    axes.set_xlabel(_drawable(plot.x_label))
    axes.set_ylabel(_drawable(plot.y_label))


def _radar(axes: PolarAxes, plot: Plot) -> None:
    """Spokes clockwise from the top, every line closed."""
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
        _draw_on(axes, replace(one, xs=[*closed, *closed[:1]], ys=[*one.ys, *one.ys[:1]]), has_markers=True)


def _draw_on(axes: Axes, one: Series, *, has_markers: bool = False) -> None:
    colour = HUMAN if one.is_human else COLOURS[one.colour % len(COLOURS)]
    ys, lows, highs = ([math.nan if y is None else y for y in column] for column in (one.ys, one.lows, one.highs))
    label = None if one.faint or not one.label else _drawable(one.label)
    if one.kind == "band":
        axes.fill_between(one.xs, lows, highs, color=colour, alpha=0.15, linewidth=0)
    elif one.kind == "points":
        below = [y - low for y, low in zip(ys, lows, strict=True)] if lows else []
        above = [high - y for y, high in zip(ys, highs, strict=True)] if highs else []
        errors = [below, above] if lows else None
        axes.errorbar(one.xs, ys, yerr=errors, fmt="o", color=colour, label=label, markersize=4)
    else:
        # With more series than colours a colour comes again, with another dash.
        dash = "-" if one.is_human else DASHES[(one.colour + one.colour // len(COLOURS)) % len(DASHES)]
        width, alpha = (0.8, 0.35) if one.faint else (1.8, 1.0)
        marker = "o" if lows or has_markers else None
        axes.plot(
            one.xs, ys, linestyle=dash, color=colour, label=label, linewidth=width, alpha=alpha, marker=marker,
            markersize=4,
        )  # fmt: skip
        if lows:
            axes.vlines(one.xs, lows, highs, color=colour, linewidth=1.0, alpha=0.6)


def _fonts() -> list[str]:
    """The font of plots, and those of other alphabets that are installed here, for letters that it lacks."""
    from matplotlib.font_manager import get_font_names

    known = set(get_font_names())
    return ["DejaVu Sans", *(name for name in OTHER_ALPHABETS if name in known)]


def _drawable(text: str) -> str:
    """A name as matplotlib can draw it: no control characters, which would break SVG, and no hiding underscore."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return f" {shown}" if shown.startswith("_") else shown


def _for_page(drawn: bytes, alt: str) -> str:
    """The drawing as part of a page: no inline styles, which the CSP forbids, and the colours of the theme."""
    root = ET.fromstring(drawn)  # noqa: S314  drawn here
    view = root.get("viewBox", "")
    for part in root.findall(f"{{{SVG}}}metadata") + root.findall(f"{{{SVG}}}defs"):
        if part.tag.endswith("metadata") or part.find(f"{{{SVG}}}style") is not None:
            root.remove(part)
    for element in root.iter():
        if element.tag == f"{{{SVG}}}g":
            element.attrib.pop("id", None)
        for name, value in _properties(element.attrib.pop("style", "")):
            element.set(name, value)
    root.attrib.clear()
    root.attrib.update({"class": "plot", "viewBox": view, "role": "img", "aria-label": alt})
    for prefix, uri in NAMESPACES.items():
        ET.register_namespace(prefix, uri)
    # In HTML both namespaces are known; declared they would only be attributes.
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", ET.tostring(root, encoding="unicode"))


def _properties(style: str) -> list[tuple[str, str]]:
    found = []
    for name, _, value in (part.strip().partition(":") for part in style.split(";") if part.strip()):
        if not name.startswith("font"):
            found.append((name, THEME.get(value.strip(), value.strip())))
    return found
