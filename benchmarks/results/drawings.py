"""Drawings of charts, made by workers like figures: a web process never loads what draws them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from benchmarks.results.computation import Computation, register
from benchmarks.results.stored import Shown, look_up
from benchmarks.web import charts
from benchmarks.web.charts import Chart

PAGE = "page"
"""The form of a chart that stands in a page; the others are ends of the names of files."""
WAIT_S = 1.0
DRAWN: dict[str, Callable[[Chart], str | bytes]] = {
    PAGE: charts.svg,
    "svg": charts.svg_file,
    "png": charts.png,
    "pdf": charts.pdf,
}


@dataclass(frozen=True, slots=True)
class DrawingLook:
    """Options of a stored drawing: the chart and its form, one of `DRAWN`."""

    chart: Chart
    form: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing in base 64."""

    encoded: str

    @property
    def content(self) -> bytes:
        """What a file holds."""
        return base64.b64decode(self.encoded)


def _draw(look: DrawingLook) -> Drawing:
    content = DRAWN[look.form](look.chart)
    plain = content.encode() if isinstance(content, str) else content
    return Drawing(base64.b64encode(plain).decode())


DRAWING = register(
    Computation("drawing", options=DrawingLook, figures=Drawing, compute=_draw, facts=lambda _look: ())
)


def drawing_of(chart: Chart, form: str, *, now: datetime, wait_s: float = WAIT_S) -> Shown[Drawing]:
    """The drawing of a chart; it waits a moment for the worker where there is none yet."""
    return look_up(DRAWING, DrawingLook(chart, form), now=now, wait_s=wait_s)
