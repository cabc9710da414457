"""Rank correlation of systems between two judges, beside scipy, and worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.scoring.formulas import COEFFICIENT, Figure
from benchmarks.scoring.intervals import Batch
from benchmarks.scoring.ranking import rank_agreement, tau_b_of_means
from benchmarks.scoring.sums import BadShape, Resampling

FEW = Resampling(n_resamples=50)
SYSTEMS = ("gannet", "heron", "jay", "owl", "wren")


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=5, max_size=5), min_size=1, max_size=6
    )
)
def test_both_correlations_are_those_of_scipy(rows: list[list[tuple[int, int]]]) -> None:
    from scipy.stats import kendalltau, spearmanr

    values = np.array(rows, dtype=float) / 4
    first, second = values[:, :, 0], values[:, :, 1]
    means = [side.sum(axis=0) for side in (first, second)]
    assume(all(np.ptp(side) for side in means))
    found = rank_agreement(first, second, systems=SYSTEMS, resampling=FEW)
    assert found.kendall.value == pytest.approx(float(kendalltau(*means).statistic), abs=1e-9)
    assert found.spearman.value == pytest.approx(float(spearmanr(*means).statistic), abs=1e-9)
    for system, (one, other, n) in found.means.items():
        at = SYSTEMS.index(system)
        assert (one, other, n) == (
            pytest.approx(first[:, at].mean()),
            pytest.approx(second[:, at].mean()),
            len(rows),
        )


def test_two_systems_that_swap_places_cost_two_pairs_of_six() -> None:
    first = np.tile([0.8, 0.6, 0.4, 0.2], (8, 1))
    second = np.tile([0.6, 0.8, 0.4, 0.2], (8, 1))
    found = rank_agreement(first, second, systems=SYSTEMS[:4])
    assert found.kendall.value == pytest.approx((5 - 1) / 6)
    assert found.spearman.value == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert found.swapped == (("gannet", "heron"),)
    assert found.kendall.interval_reason == "the same in every resample"


def test_one_order_in_every_resample_has_an_interval_of_some_width() -> None:
    values = np.tile([0.8, 0.6, 0.4, 0.2], (8, 1))
    found = rank_agreement(values, values, systems=SYSTEMS[:4])
    assert found.kendall.value == 1
    assert found.kendall.low is not None
    assert found.kendall.low < 0.9
    assert found.swapped == ()


def test_a_mean_takes_what_both_judged_and_a_system_that_one_did_not_judge_is_out() -> None:
    gap = math.nan
    first = [[1.0, 0.5, 0.0, 0.3], [0.0, 0.5, gap, 0.3]]
    second = [[1.0, gap, 0.5, gap], [0.5, 0.5, 0.5, gap]]
    found = rank_agreement(first, second, systems=SYSTEMS[:4], resampling=FEW)
    assert found.means == {"gannet": (0.5, 0.75, 2), "heron": (0.5, 0.5, 1), "jay": (0.0, 0.5, 1)}
    assert found.kendall.n_items == 3
    assert found.kendall.interval_reason == "no interval under 4 items"


def test_two_systems_level_sides_and_nothing_at_all_have_reasons() -> None:
    two = rank_agreement([[0.1, 0.2]], [[0.1, 0.2]], systems=SYSTEMS[:2], resampling=FEW)
    assert "under 3 systems" in two.kendall.undefined_reason
    level = rank_agreement([[0.5] * 3], [[0.1, 0.2, 0.3]], systems=SYSTEMS[:3], resampling=FEW)
    assert "level on one side" in level.spearman.undefined_reason
    none = rank_agreement(np.empty((0, 3)), np.empty((0, 3)), systems=SYSTEMS[:3], resampling=FEW)
    assert (none.means, none.swapped, none.kendall.value) == ({}, (), None)
    with pytest.raises(BadShape):
        rank_agreement([[0.1, 0.2]], [[0.1]], systems=SYSTEMS[:2])


def test_no_interval_where_resampling_turns_the_systems_over() -> None:
    rng = np.random.default_rng(3)
    close = rng.random((10, 6)) + np.linspace(0, 0.05, 6)
    found = rank_agreement(close, close + rng.normal(0, 0.1, (10, 6)), systems=[*SYSTEMS, "crow"])
    assert (found.kendall.low, found.spearman.low) == (None, None)
    assert "too few clusters to tell these systems apart" in found.kendall.interval_reason


def test_an_interval_takes_in_the_percentiles_and_their_mirror_image_within_bounds() -> None:
    rng = np.random.default_rng(4)
    first = rng.random((12, 5)) * 0.6 + np.linspace(0, 1.2, 5)
    second = first + rng.normal(0, 0.1, (12, 5))
    batch = Batch(12)
    block = batch.add(np.hstack([first, second, np.ones((12, 5))]))
    plain = batch.estimate(Figure("", tau_b_of_means(5), "", COEFFICIENT), [block]).stat(n_items=5)
    found = rank_agreement(first, second, systems=SYSTEMS).kendall
    assert plain.low is not None
    assert plain.high is not None
    assert found.value is not None
    assert found.low == pytest.approx(min(plain.low, 2 * found.value - plain.high))
    assert found.high == pytest.approx(min(1.0, max(plain.high, 2 * found.value - plain.low)))
