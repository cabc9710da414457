"""Correlation of columns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.scoring.ranking import pearson
from benchmarks.scoring.sums import BadShape, Resampling


def test_known_values() -> None:
    x, y = [0, 0.5, 1, 1, 0], [0, 1, 1, 0.5, 0.5]
    assert pearson(x, y).value == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_too_few_points_or_a_constant_side_is_undefined() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pearson([0, 1], [0, 1]).undefined_reason == "under 3 items"
        assert pearson([], []).undefined_reason == "under 3 items"
        assert pearson([0.1] * 9, range(9)).undefined_reason == "one side is constant"
        assert pearson(range(9), [1] * 9).undefined_reason == "one side is constant"


def test_three_points_have_a_value_and_no_interval() -> None:
    stat = pearson([0, 0.5, 1], [0, 1, 1], resampling=Resampling(n_resamples=50))
    assert stat.value is not None
    assert stat.interval_reason == "no interval under 4 items"


def test_intervals_resample_clusters() -> None:
    rng = np.random.default_rng(0)
    x = rng.choice([0, 0.5, 1], 90)
    y = np.where(rng.random(90) < 0.7, x, rng.choice([0, 0.5, 1], 90))
    stat = pearson(x, y, clusters=[index // 5 for index in range(90)], resampling=Resampling(n_resamples=200))
    assert stat.value is not None
    assert stat.low is not None
    assert stat.high is not None
    assert stat.low < stat.value < stat.high
    assert stat.n_clusters == 18


def test_columns_must_run_in_parallel() -> None:
    with pytest.raises(BadShape):
        pearson([1, 2, 3], [1, 2])


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 0.5, 1])), min_size=3, max_size=30))
def test_correlations_are_bounded_and_symmetric(points: list[tuple[float, float]]) -> None:
    x, y = zip(*points, strict=True)
    there, back = pearson(x, y), pearson(y, x)
    assert there.undefined_reason == back.undefined_reason
    assert there.value is None or abs(there.value) <= 1
    assert there.value is None or back.value == pytest.approx(there.value)


@given(
    st.lists(st.floats(-1e3, 1e3).map(lambda value: round(value, 3)), min_size=3, max_size=20),
    st.floats(0.01, 100),
    st.floats(-1e6, 1e6),
)
def test_pearson_does_not_feel_scale_or_shift(x: list[float], scale: float, shift: float) -> None:
    y = [index % 3 + value / 7 for index, value in enumerate(x)]
    before, after = pearson(x, y), pearson([scale * value + shift for value in x], y)
    if before.value is not None and np.ptp(x) * scale > 1e-3 * max(1, abs(shift) * 1e-3):
        assert after.value == pytest.approx(before.value, abs=1e-4)
