"""Variance components of writers and subtopics: the worked examples, and worlds with known ones."""

import numpy as np
import pytest

from benchmarks.scoring.components import (
    Cell,
    components,
    components_of,
    mean_over_writers,
    minutes_worth,
    over_writers,
)
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import t_interval

GRID = np.array(
    [
        [0.42, 0.31, 0.55, 0.38, 0.47],
        [0.50, 0.36, 0.61, 0.33, 0.58],
        [0.29, 0.25, 0.48, 0.30, 0.35],
        [0.45, 0.28, 0.52, 0.45, 0.49],
    ]
)
SYSTEM = np.array([0.35, 0.30, 0.41, 0.36, 0.40])
UNBALANCED = {
    (0, 0): 0.42, (0, 1): 0.31, (0, 2): 0.55, (1, 1): 0.36, (1, 2): 0.61, (1, 3): 0.33, (2, 0): 0.29,
    (2, 2): 0.48, (2, 4): 0.35, (3, 1): 0.28, (3, 3): 0.45, (3, 4): 0.49, (4, 2): 0.52, (4, 3): 0.40,
}  # fmt: skip


def cells_of(grid: np.ndarray) -> list[Cell]:
    return [Cell(f"w{w}", f"s{s}", float(value)) for (w, s), value in np.ndenumerate(grid)]


def of_grid(grid: np.ndarray) -> tuple[float, ...]:
    writers, subtopics = np.indices(grid.shape)
    found = components(grid.ravel(), writers=writers.ravel(), subtopics=subtopics.ravel())
    assert found.se is not None
    assert found.df is not None
    ends = t_interval(found.mean, found.se, found.df)
    return (found.writers, found.subtopics, found.rest, found.mean, found.se, found.df, *ends)


def test_the_worked_examples_of_people_and_of_people_minus_a_system() -> None:
    assert of_grid(GRID) == pytest.approx(
        (0.0032, 0.0081, 0.0021, 0.4185, 0.0503, 6.2676, 0.2966, 0.5404), abs=5e-5
    )
    assert of_grid(GRID - SYSTEM)[3:] == pytest.approx((0.0545, 0.0372, 5.3137, -0.0393, 0.1483), abs=5e-5)


def test_the_worked_example_with_gaps() -> None:
    found = mean_over_writers([Cell(w, s, value) for (w, s), value in UNBALANCED.items()])
    assert (found.value, found.low, found.high) == pytest.approx((0.4171, 0.2894, 0.5449), abs=5e-5)
    assert (found.n_items, found.n_clusters) == (14, 5)
    cells = [Cell(w, s, value) for (w, s), value in UNBALANCED.items()]
    parts = components_of(cells)
    assert parts.writers == 0, "what is below 0 is cut"
    assert (parts.subtopics, parts.rest) == pytest.approx((0.0114 - 0.0037, 0.0144 + 0.0037 - 0.0114), abs=1e-4)
    assert (parts.se, parts.df) == pytest.approx((0.0460, 4), abs=5e-5)


def test_components_of_a_full_table_are_those_of_an_analysis_of_variance() -> None:
    n, m = GRID.shape
    rows, columns, mean = GRID.mean(axis=1), GRID.mean(axis=0), GRID.mean()
    rest = ((GRID - rows[:, None] - columns + mean) ** 2).sum() / ((n - 1) * (m - 1))
    assert of_grid(GRID)[:3] == pytest.approx(
        ((m * rows.var(ddof=1) - rest) / m, (n * columns.var(ddof=1) - rest) / n, rest)
    )


def test_under_five_writers_there_is_no_interval_over_writers() -> None:
    found = mean_over_writers(cells_of(GRID))
    assert (found.low, found.interval_reason) == (None, "no interval over writers under 5 of them")


def test_weights_move_the_mean_and_two_texts_in_a_cell_are_one() -> None:
    cells = [Cell(w, s, 0.1 * w + 0.05 * s, weight=1 + s) for w in range(6) for s in range(6)]
    found = mean_over_writers(cells)
    assert found.value == pytest.approx(0.25 + 0.05 * sum(s * (1 + s) for s in range(6)) / 21)
    twice = [Cell(one.writer, one.subtopic, one.value, one.weight / 2) for one in cells for _copy in range(2)]
    again = mean_over_writers(twice)
    assert (again.low, again.high) == pytest.approx((found.low, found.high))
    assert again.n_items == 36


def test_nothing_that_varies_gives_no_interval() -> None:
    found = mean_over_writers([Cell(w, s, 0.5) for w in range(6) for s in range(6)])
    assert found.interval_reason == "the same in every cell"
    assert mean_over_writers([]).value is None


@pytest.mark.nightly
@pytest.mark.parametrize(("n_writers", "n_subtopics"), [(5, 10), (6, 9), (10, 45)])
def test_intervals_hold_the_mean_of_all_writers(n_writers: int, n_subtopics: int) -> None:
    """1,000 worlds, SD .08 between writers, .1 between subtopics, .12 of the rest."""
    rng = np.random.default_rng(n_writers)
    held = 0
    for _world in range(1000):
        grid = (
            0.4
            + rng.normal(0, 0.08, (n_writers, 1))
            + rng.normal(0, 0.1, (1, n_subtopics))
            + rng.normal(0, 0.12, (n_writers, n_subtopics))
        )
        low, high = of_grid(grid)[-2:]
        held += low <= 0.4 <= high
    assert 0.93 <= held / 1000 <= 0.98


def test_the_worked_example_of_minutes() -> None:
    curve = np.array([0.15, 0.28, 0.36, 0.40, 0.43])
    rows = [
        (w, s, curve + (w - 2) * 0.02 + (2 * s - 1) * 0.02 + ((3 * w + 5 * s) % 4 - 1.5) * 0.01)
        for w in range(5)
        for s in range(2)
    ]
    found = minutes_worth(
        np.array([values for *_key, values in rows]),
        marks=[10, 20, 30, 40, 50],
        subtopics=[s for _w, s, _values in rows],
        writers=[w for w, *_rest in rows],
        targets={0: 0.27, 1: 0.31},
    )
    assert (found.value, found.low, found.high) == pytest.approx((21.5, 17.80, 26.58), abs=0.005)
    assert found.n_writers is None


def test_scores_that_pile_up_at_0_have_an_interval_with_a_caution() -> None:
    rng = np.random.default_rng(2)
    many = [Cell(w, s, max(0.0, rng.normal(0, 0.2))) for w in range(6) for s in range(10)]
    few = [Cell(cell.writer, cell.subtopic, cell.value + 0.1) for cell in many]
    assert "a quarter of the scores or more are 0" in mean_over_writers(many).caution
    assert mean_over_writers(few).caution == ""
    assert over_writers(Stat(0.1, n_items=60), many).caution == mean_over_writers(many).caution
