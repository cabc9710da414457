"""What the tests of people's work share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from annotation import kinds
from benchmarks.results.drawings import DRAWING, Drawing
from benchmarks.web.charts import Chart
from tests.annotation.toy_kind import KIND


@contextmanager
def drawn_by(compute: Callable[[Chart], Drawing]) -> Iterator[None]:
    """Meanwhile charts are drawn by this."""
    draw = DRAWING.compute
    object.__setattr__(DRAWING, "compute", compute)
    yield
    object.__setattr__(DRAWING, "compute", draw)


@pytest.fixture(scope="session", autouse=True)
def each_chart_is_drawn_once() -> Iterator[None]:
    """Many tests show the same charts, and drawing takes as long as all else of a page."""
    draw, drawn = DRAWING.compute, dict[str, Drawing]()

    def once(chart: Chart) -> Drawing:
        key = DRAWING.key(chart)
        if key not in drawn:
            drawn[key] = draw(chart)
        return drawn[key]

    with drawn_by(once):
        yield


@pytest.fixture
def charts_stay_empty() -> Iterator[None]:
    """For tests of tables and numbers on pages whose charts differ each time."""
    with drawn_by(lambda chart: Drawing({}, "<svg></svg>")):
        yield


@pytest.fixture
def grading(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind of study that tests add."""
    monkeypatch.setitem(kinds._kinds, KIND.value, KIND)
