"""How many human minutes a system is worth: known crossings, and intervals that hold them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.scoring.coverage_check import simulated_minutes
from benchmarks.scoring.draws import Resampling
from benchmarks.scoring.minutes import TOO_FEW, Minutes, minutes_worth
from benchmarks.scoring.sums import BadShape

MARKS = [10.0, 20.0, 30.0, 40.0]


def worth(rows: list[list[float]], target: float, subtopics: list[str] | None = None) -> Minutes:
    of = subtopics or ["a"] * len(rows)
    found = minutes_worth(np.array(rows), marks=MARKS, subtopics=of, targets=dict.fromkeys(of, target))
    assert found is not None
    return found


def test_the_crossing_is_read_off_the_mean_straight_between_marks() -> None:
    rows = [[0.2, 0.4, 0.6, 0.6], [0.0, 0.2, 0.6, 1.0]]
    assert worth(rows, 0.3).value == pytest.approx(20)
    assert worth(rows, 0.45).value == pytest.approx(25)
    assert worth(rows, 0.05).value == pytest.approx(5)
    assert worth(rows, 0.0).value == 0


def test_what_people_never_reach_is_an_answer_of_its_own() -> None:
    found = worth([[0.1, 0.2, 0.3, 0.4]] * 8, 0.9)
    assert math.isinf(found.value)
    assert found.value == math.inf
    assert (found.low, found.high) == (math.inf, math.inf)


def test_the_first_crossing_counts_where_the_mean_falls_again() -> None:
    assert worth([[0.5, 0.2, 0.5, 0.5]], 0.4).value == pytest.approx(8)


def test_the_score_is_that_on_the_subtopics_of_the_sessions() -> None:
    values = np.array([[0.2, 0.4, 0.6, 0.8]] * 3)
    found = minutes_worth(values, marks=MARKS, subtopics=["a", "a", "b"], targets={"a": 0.3, "b": 0.6, "c": 0.0})
    assert found is not None
    assert found.target == pytest.approx(0.4)
    assert (found.n_sessions, found.n_subtopics, found.value) == (3, 2, pytest.approx(20))
    assert minutes_worth(values, marks=MARKS, subtopics=["x"] * 3, targets={"a": 0.3}) is None


def test_few_sessions_get_a_minute_and_a_reason() -> None:
    found = worth([[0.2, 0.4, 0.6, 0.8]] * 4, 0.4)
    assert (found.value, found.low, found.high, found.reason) == (pytest.approx(20), None, None, TOO_FEW)


def test_undefined_scores_are_left_out_of_the_mean() -> None:
    nan = float("nan")
    assert worth([[nan, 0.4, 0.6, 0.8], [nan, nan, 0.6, 0.8]], 0.4).value == pytest.approx(20)


def test_shapes_must_fit() -> None:
    with pytest.raises(BadShape):
        minutes_worth(np.zeros((2, 3)), marks=MARKS, subtopics=["a", "b"], targets={"a": 0.5})


@pytest.mark.parametrize(("n_subtopics", "each"), [(5, 4), (10, 2), (20, 1), (4, 10)])
def test_intervals_hold_the_true_crossing(n_subtopics: int, each: int) -> None:
    rng = np.random.default_rng(n_subtopics)
    held = 0
    for seed in range(300):
        resampling = Resampling(seed=seed, n_resamples=600)
        found, crossing = simulated_minutes(
            rng, n_subtopics * each, n_subtopics=n_subtopics, resampling=resampling
        )
        assert found.low is not None
        assert found.high is not None
        held += found.low <= crossing <= found.high
    assert held / 300 >= 0.92
