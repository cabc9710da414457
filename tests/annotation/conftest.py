"""What the tests of people's work share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.results.drawings import DRAWING, Drawing
from benchmarks.web.charts import Chart


@pytest.fixture(scope="session", autouse=True)
def each_chart_is_drawn_once() -> Iterator[None]:
    """Many tests show the same charts, and drawing takes as long as all else of a page."""
    draw, drawn = DRAWING.compute, dict[str, Drawing]()

    def once(chart: Chart) -> Drawing:
        key = DRAWING.key(chart)
        if key not in drawn:
            drawn[key] = draw(chart)
        return drawn[key]

    object.__setattr__(DRAWING, "compute", once)
    yield
    object.__setattr__(DRAWING, "compute", draw)


@pytest.fixture
def charts_stay_empty() -> Iterator[None]:
    """For tests of tables and numbers on pages whose charts differ each time."""
    draw = DRAWING.compute
    object.__setattr__(DRAWING, "compute", lambda chart: Drawing({}, "<svg></svg>"))
    yield
    object.__setattr__(DRAWING, "compute", draw)
