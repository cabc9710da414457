"""From a chart to its Vega-Lite spec and drawings, by Altair and vl-convert: for workers, and slow.

In a page the theme decides the colours; in files they are those of the light theme.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import orjson

from benchmarks.web import chart_marks
from benchmarks.web.chart_marks import Plan
from benchmarks.web.charts import LINE, MUTED, TEXT, Chart, clean

LIGHT = {
    "human": "#1c1d1f",
    "text": "#1c1d1f",
    "muted": "#5a5e65",
    "line": "#e4e4df",
    "surface": "#ffffff",
    "chart-0": "#2152c9",
    "chart-1": "#b5531c",
    "chart-2": "#0b7a5b",
    "chart-3": "#8a3f8f",
    "chart-4": "#856400",
    "chart-5": "#2c7487",
    "chart-6": "#a23b56",
    "chart-7": "#5b5b9d",
}
"""The colours of files, as the style sheets name them."""
FONT = "Inter, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', Arial, sans-serif"
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
CONFIG: dict[str, Any] = {
    "font": FONT,
    "lineBreak": "\n",
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "gridColor": LINE,
        "domain": False,
        "ticks": False,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelPadding": 8,
        "titlePadding": 10,
        "labelLimit": 0,
        "titleLimit": 0,
    },
    "axisX": {"labelFlush": False},
    "legend": {
        "title": None,
        "orient": "top",
        "labelColor": TEXT,
        "labelFontSize": 12,
        "labelLimit": 0,
        "symbolSize": 90,
        "symbolStrokeWidth": 2,
        "rowPadding": 4,
        "offset": 28,
    },
    "header": {
        "title": None,
        "labelColor": TEXT,
        "labelFontSize": 13,
        "labelFontWeight": 600,
        "labelAnchor": "start",
        "labelLimit": 0,
        "titleColor": MUTED,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "fontSize": 15,
        "fontWeight": 600,
        "color": TEXT,
        "subtitleColor": MUTED,
        "subtitleFontSize": 12,
        "subtitlePadding": 6,
        "offset": 16,
    },
    "text": {"color": TEXT, "fontSize": 12},
}
LETTER_WIDTH = 6.6
"""About how wide a letter of a subtitle is, in pixels."""
NARROW, WIDE = 40, 160
"""Letters of a line of a title, at least and at most."""
SCALE = 2
"""Pixels of a PNG for each of the drawing."""
WIDE_FROM = 1000
"""Pixels from which a drawing needs more room than a window of medium size has."""
COLOUR_NAME = re.compile(r"var\(--([a-z0-9-]+)\)")
SVG = "http://www.w3.org/2000/svg"
XLINK = "{http://www.w3.org/1999/xlink}href"
BASE = "https://vega.github.io/vega-datasets/"
"""What vl-convert puts before relative addresses; those of a page have none."""


BUILDERS: dict[str, Callable[[Chart, Any], Plan]] = {
    "dots": chart_marks.dots,
    "bars": chart_marks.bars,
    "lines": chart_marks.lines,
}
"""What plans a spec, by the name of the layout."""
Spec = Mapping[str, Any]


@cache
def how() -> str:
    """A digest of the code that draws, here and in packages: with a change of it every drawing is stale."""
    sources = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("chart*.py"))]
    packages = " ".join(version(name) for name in ("altair", "vl-convert-python"))
    return hashlib.sha256(b"".join([*sources, packages.encode()])).hexdigest()


def spec_of(chart: Chart) -> dict[str, Any]:
    """The spec of a chart, without a title, its colours names, without control characters.

    Data joins it last, and Altair checks nothing, as that takes longer than all else; tests check specs whole.
    At its left stand names of so many letters: in a reader's font they may be wider than in the one measured here.
    """
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        plan = BUILDERS[chart.layout.layout](chart, chart.layout)
        made = plan.drawing.to_dict(validate=False)
    shared = {
        "background": None,
        "padding": {"left": 4 + plan.letters, "right": 28, "top": 4, "bottom": 4},
        "config": CONFIG,
        "usermeta": {"width": plan.width},
    }
    spec: dict[str, Any] = _cleaned(
        {**made, "datasets": plan.data, "$schema": SCHEMA, "description": chart.text, **shared}
    )
    return spec


def svg(chart: Chart, spec: Spec) -> str:
    """Draw for a page, which has title and subtitle beside it: safe as HTML, in the colours of the theme."""
    import vl_convert

    root = ET.fromstring(vl_convert.vegalite_to_svg(dict(spec)))  # noqa: S314  drawn here
    for element in list(root.iter()):
        _simplify(element, chart.name)
    width, height = root.get("width", ""), root.get("height", "")
    root.attrib.clear()
    root.attrib |= {
        "class": " ".join(["drawing", *(["is-wide"] if float(width) > WIDE_FROM else [])]),
        "width": width,
        "height": height,
        "viewBox": f"0 0 {width} {height}",
        # What holds links is no picture to a reader that speaks.
        "role": "group" if root.find(f".//{{{SVG}}}a") is not None else "img",
        "aria-label": clean(chart.text or chart.title),
    }
    ET.register_namespace("", SVG)
    # In HTML the namespace is known; declared it would only be an attribute.
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", ET.tostring(root, encoding="unicode"), count=2)


def svg_file(chart: Chart, spec: Spec) -> str:
    """Draw as a file of its own, with title and subtitle, in the colours of the light theme."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(for_file(chart, spec)))


def png(chart: Chart, spec: Spec) -> bytes:
    """Draw as PNG, likewise."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(for_file(chart, spec), scale=SCALE))


def pdf(chart: Chart, spec: Spec) -> bytes:
    """Draw as PDF, likewise."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_pdf(for_file(chart, spec)))


def spec_file(chart: Chart, spec: Spec) -> bytes:
    return orjson.dumps(for_file(chart, spec), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def for_file(chart: Chart, spec: Spec) -> dict[str, Any]:
    """The spec with title, subtitle and colours, without links into the site: it opens in any notebook."""
    letters = int(min(WIDE, max(NARROW, spec["usermeta"]["width"] / LETTER_WIDTH)))
    title = {
        "text": textwrap.wrap(clean(chart.title), int(0.8 * letters)),
        "subtitle": textwrap.wrap(clean(chart.subtitle), letters),
    }
    written: dict[str, Any] = _light({**spec, "title": title, "background": "white", "padding": 16})
    return written


def _simplify(element: ET.Element, name: str) -> None:
    """Leave out what is for a drawing that stands alone; a mark's description becomes its title.

    Browsers show titles under the mouse. Ids get the name of the chart, since a page may hold several.
    """
    label = element.attrib.pop("aria-label", "")
    if label and element.tag != f"{{{SVG}}}g":
        ET.SubElement(element, f"{{{SVG}}}title").text = label
    address = element.attrib.pop(XLINK, "").removeprefix(BASE)
    for key in [key for key in element.attrib if key in {"class", "role"} or key.startswith("aria-")]:
        del element.attrib[key]
    if address.startswith("/"):
        said = next((node.get("aria-label", "") for node in element if node.get("aria-label")), "")
        element.attrib |= {"href": address, "aria-label": said}
    for key in ("id", "clip-path"):
        if key in element.attrib:
            element.set(key, element.attrib[key].replace("clip", f"{name}-clip"))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {_cleaned(key): _cleaned(element) for key, element in value.items()}
    return [_cleaned(element) for element in value] if isinstance(value, list | tuple) else value


LINKS = {"href", "url"}
"""Keys of a spec that say where clicks lead."""


def _light(value: Any) -> Any:
    """Colours in place of the names of the theme's."""
    if isinstance(value, str):
        match = COLOUR_NAME.fullmatch(value)
        return LIGHT.get(match[1], value) if match else value
    if isinstance(value, Mapping):
        return {key: _light(part) for key, part in value.items() if key not in LINKS}
    return [_light(element) for element in value] if isinstance(value, list | tuple) else value
