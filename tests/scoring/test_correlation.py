"""Correlation of columns and of every two annotators."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.scoring.correlation import coverage_correlation, kendall_tau_b, pearson, spearman
from benchmarks.scoring.intervals import BadShape, Resampling
from benchmarks.scoring.ratings import Ratings

FIGURES = [pearson, spearman, kendall_tau_b]
WORTH = {"N": 0.0, "P": 0.5, "F": 1.0}


def test_known_values() -> None:
    x, y = [0, 0.5, 1, 1, 0], [0, 1, 1, 0.5, 0.5]
    assert pearson(x, y).value == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert spearman([1, 2, 3, 4], [1, 4, 9, 16]).value == pytest.approx(1)
    assert kendall_tau_b([1, 2, 3], [3, 2, 1]).value == pytest.approx(-1)


@pytest.mark.parametrize("figure", FIGURES)
def test_too_few_points_or_a_constant_side_is_undefined(figure: type) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert figure([0, 1], [0, 1]).undefined_reason == "under 3 items"
        assert figure([], []).undefined_reason == "under 3 items"
        assert figure([0.1] * 9, range(9)).undefined_reason == "one side is constant"
        assert figure(range(9), [1] * 9).undefined_reason == "one side is constant"


@pytest.mark.parametrize("figure", FIGURES)
def test_three_points_have_a_value_and_no_interval(figure: type) -> None:
    stat = figure([0, 0.5, 1], [0, 1, 1], resampling=Resampling(n_resamples=50))
    assert stat.value is not None
    assert stat.interval_reason == "no interval under 4 items"


@pytest.mark.parametrize("figure", FIGURES)
def test_intervals_resample_clusters(figure: type) -> None:
    rng = np.random.default_rng(0)
    x = rng.choice([0, 0.5, 1], 90)
    y = np.where(rng.random(90) < 0.7, x, rng.choice([0, 0.5, 1], 90))
    stat = figure(x, y, clusters=[index // 5 for index in range(90)], resampling=Resampling(n_resamples=200))
    assert stat.low < stat.value < stat.high
    assert stat.n_clusters == 18


def test_columns_must_run_in_parallel() -> None:
    with pytest.raises(BadShape):
        pearson([1, 2, 3], [1, 2])


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 0.5, 1])), min_size=3, max_size=30))
def test_correlations_are_bounded_and_symmetric(points: list[tuple[float, float]]) -> None:
    x, y = zip(*points, strict=True)
    for figure in FIGURES:
        there, back = figure(x, y), figure(y, x)
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


def test_coverage_correlation_is_the_mean_over_pairs_of_annotators() -> None:
    ratings = Ratings.from_strings(["NNN", "PNP", "FFF", "FPN", "NP.", "P.F"], categories="NPF")
    columns = [
        [WORTH.get(mark) for mark in rater] for rater in zip("NNN", "PNP", "FFF", "FPN", "NP.", "P.F", strict=True)
    ]
    expected = []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        both = [(a, b) for a, b in zip(columns[first], columns[second], strict=True) if None not in (a, b)]
        expected.append(pearson(*zip(*both, strict=True)).value)
    figure = coverage_correlation(ratings, values=WORTH)
    assert figure.value == pytest.approx(np.mean(expected))
    assert (figure.n_items, figure.n_pairs) == (6, 3)


def test_a_pair_without_a_correlation_is_left_out_and_not_counted() -> None:
    ratings = Ratings.from_strings(["NNN", "PNP", "FNF", "NNP"], categories="NPF")
    figure = coverage_correlation(ratings, values=WORTH)
    assert figure.n_pairs == 1
    assert figure.value == pytest.approx(pearson([0, 0.5, 1, 0], [0, 0.5, 1, 0.5]).value)
    short = Ratings.from_strings(["NN", "PF", "F.", ".N"], categories="NPF")
    assert coverage_correlation(short, values=WORTH).value is None
    constant = Ratings.from_strings(["NN", "NN", "NP"], categories="NPF")
    assert coverage_correlation(constant, values=WORTH).value is None
    single = Ratings.from_strings(["N.", ".N"], categories="NPF")
    assert coverage_correlation(single, values=WORTH).undefined_reason == "no item was rated by two"


def test_the_interval_of_the_coverage_correlation_holds_its_value() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 100)
    codes = np.stack([np.where(rng.random(100) < 0.75, truth, rng.integers(0, 3, 100)) for _ in range(3)], axis=1)
    ratings = Ratings(codes, ("N", "P", "F"), ("1", "2", "3"), tuple(index // 5 for index in range(100)))
    figure = coverage_correlation(ratings, values=WORTH, resampling=Resampling(n_resamples=400))
    assert figure.value is not None
    assert figure.low is not None
    assert figure.high is not None
    assert figure.low < figure.value < figure.high
    assert figure.n_clusters == 20
