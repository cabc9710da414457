"""Specs and drawings of charts, made by workers like figures: a web process never loads what makes them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchmarks.results.computation import Computation, register
from benchmarks.results.stored import Shown, look_up, look_up_all
from benchmarks.web import chart_drawing as draw
from benchmarks.web.charts import Chart

WAIT_S = 1.0
WRITERS: dict[str, Callable[[Chart, draw.Spec], str | bytes]] = {
    "svg": draw.svg_file,
    "png": draw.png,
    "pdf": draw.pdf,
    "vl.json": draw.spec_file,
}
"""Makers of files of drawings, by the ends of their names."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The Vega-Lite spec of a chart, and its drawing for a page."""

    spec: Mapping[str, Any]
    svg: str


@dataclass(frozen=True, slots=True)
class FileLook:
    """Options of a stored file: the chart and one of the `WRITERS`."""

    chart: Chart
    ending: str


@dataclass(frozen=True, slots=True)
class File:
    """A file in base 64."""

    encoded: str

    @property
    def content(self) -> bytes:
        return base64.b64decode(self.encoded)


def _draw(chart: Chart) -> Drawing:
    spec = draw.spec_of(chart)
    return Drawing(spec, draw.svg(chart, spec))


def _write(look: FileLook) -> File:
    content = WRITERS[look.ending](look.chart, _draw(look.chart).spec)
    return File(base64.b64encode(content.encode() if isinstance(content, str) else content).decode())


DRAWING = register(
    Computation("drawing", options=Chart, figures=Drawing, compute=_draw, facts=lambda _chart: draw.how())
)
FILE = register(
    Computation("chart file", options=FileLook, figures=File, compute=_write, facts=lambda _look: draw.how())
)


def drawings_of(charts: Sequence[Chart], *, now: datetime, wait_s: float = WAIT_S) -> dict[str, Shown[Drawing]]:
    """The drawings of charts by name; it waits a moment for the worker where there are none yet. One query."""
    shown = look_up_all(DRAWING, charts, now=now, wait_s=wait_s)
    return {chart.name: drawn for chart, drawn in zip(charts, shown, strict=True)}


def file_now(chart: Chart, ending: str) -> File:
    """The drawing of a chart as a file, drawn here: for commands."""
    return FILE.compute(FileLook(chart, ending))


def file_of(chart: Chart, ending: str, *, now: datetime, wait_s: float) -> Shown[File]:
    """The drawing of a chart as a file, likewise."""
    return look_up(FILE, FileLook(chart, ending), now=now, wait_s=wait_s)
