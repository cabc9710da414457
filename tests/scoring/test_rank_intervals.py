"""Ranks and who is level with the best, and rank correlation of systems between two judges."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.scoring.intervals import Batch
from benchmarks.scoring.ranking import kendall_figure, rank_agreement, rank_intervals
from benchmarks.scoring.sums import BadShape, Resampling

BOARD = np.array(
    [
        [0.52, 0.61, 0.47, 0.58, 0.66, 0.55],
        [0.50, 0.57, 0.49, 0.51, 0.63, 0.56],
        [0.41, 0.50, 0.36, 0.44, 0.52, 0.41],
        [0.40, 0.44, 0.38, 0.47, 0.50, 0.43],
        [0.18, 0.30, 0.15, 0.20, 0.33, 0.22],
    ]
)


def test_the_worked_example() -> None:
    found = rank_intervals(BOARD)
    assert found.threshold == pytest.approx(3.2410, abs=5e-5)
    assert [(one.rank, one.low, one.high) for one in found.systems] == [
        (1, 1, 2),
        (2, 1, 2),
        (3, 3, 4),
        (4, 3, 4),
        (5, 5, 5),
    ]
    assert [one.is_level for one in found.systems] == [True, True, False, False, False]
    assert found.n_subtopics == 6


def test_the_distances_of_the_worked_example_lean_on_the_mean_variance_of_pairs() -> None:
    n = BOARD.shape[1]
    differences = [BOARD[0] - BOARD[1], BOARD[0] - BOARD[2]]
    mean = np.mean([(BOARD[i] - BOARD[j]).var(ddof=1) for i in range(5) for j in range(i)])
    own = [(20 * mean + (n - 1) * one.var(ddof=1)) / (19 + n) for one in differences]
    by_hand = [abs(one.mean()) / (variance / n) ** 0.5 for one, variance in zip(differences, own, strict=True)]
    assert by_hand == pytest.approx([1.6899, 10.6864], abs=5e-5)
    found = rank_intervals(BOARD)
    assert by_hand[0] < found.threshold < by_hand[1]
    assert [one.is_level for one in found.systems[1:3]] == [True, False]


def test_the_detectable_gap_is_made_of_the_mean_variance_of_pairs() -> None:
    pairs = [BOARD[i] - BOARD[j] for i in range(5) for j in range(i)]
    variance = np.mean([pair.var(ddof=1) for pair in pairs])
    found = rank_intervals(BOARD)
    assert found.detectable == pytest.approx((found.threshold + 0.84) * (variance / 6) ** 0.5)


def test_the_order_of_systems_and_subtopics_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(0.4, 0.1, (9, 15)) + np.linspace(0, 0.3, 9)[:, None]
    systems, subtopics = rng.permutation(9), rng.permutation(15)
    found, turned = rank_intervals(scores), rank_intervals(scores[systems][:, subtopics])
    assert turned.threshold == pytest.approx(found.threshold)
    assert [found.systems[at] for at in systems] == list(turned.systems)


def test_few_subtopics_or_a_single_system_have_ranks_without_a_comparison() -> None:
    few = rank_intervals(BOARD[:, :4])
    assert (few.threshold, few.detectable) == (None, None)
    assert few.reason == "no ranks under 5 subtopics"
    assert {(one.low, one.high, one.is_level) for one in few.systems} == {(None, None, None)}
    assert rank_intervals(BOARD[:1]).reason == "a single system"
    same = rank_intervals(np.tile(BOARD[0], (3, 1)))
    assert [(one.rank, one.low, one.high) for one in same.systems] == [(1, 1, 3)] * 3
    with pytest.raises(BadShape):
        rank_intervals(np.array([[0.1, np.nan], [0.2, 0.3]]))


def boards(n: int, lead: float, *, systems: int = 20, subtopics: int = 12) -> tuple[float, float, float]:
    """Shares of boards with a false difference of two, and with the first level with the best or alone on top.

    All systems are equal but for the first, which leads by `lead`.
    """
    rng = np.random.default_rng(7)
    wrong = found = gaps = 0.0
    for _board in range(n):
        scores = 0.4 + rng.normal(0, 0.15, subtopics) + rng.normal(0, 0.1, (systems, subtopics))
        scores[0] += lead
        made = rank_intervals(scores, seed=int(rng.integers(1 << 30)))
        assert made.detectable is not None
        wrong += any(not one.is_level for one in made.systems[1:])
        found += not made.systems[1].is_level
        gaps += made.detectable
    return wrong / n, found / n, gaps / n


@pytest.mark.nightly
def test_equal_systems_are_rarely_called_worse_and_a_detectable_gap_is_mostly_found() -> None:
    """300 boards each; `manage.py simulate coverage --worlds ranks` draws 1,000 of 78 systems."""
    wrong, _found, gap = boards(300, 0.0)
    assert wrong <= 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5
    _wrong, found, _gap = boards(300, gap)
    assert 0.8 - 3 * (0.16 / 300) ** 0.5 <= found <= 0.8 + 3 * (0.16 / 300) ** 0.5


def test_a_large_board_takes_well_under_a_second() -> None:
    scores = np.random.default_rng(3).normal(0.4, 0.2, (78, 33))
    taken = []
    for _try in range(3):
        start = time.process_time()
        rank_intervals(scores)
        taken.append(time.process_time() - start)
    assert min(taken) < 1


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
    found = rank_agreement(first, np.tile([0.6, 0.8, 0.4, 0.2], (8, 1)), systems=SYSTEMS[:4])
    assert found.kendall.value == pytest.approx((5 - 1) / 6)
    assert found.spearman.value == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert found.swapped == (("gannet", "heron"),)
    assert found.kendall.interval_reason == "the same in every resample"


def test_one_order_in_every_resample_has_an_interval_of_some_width() -> None:
    values = np.tile([0.8, 0.6, 0.4, 0.2], (8, 1))
    found = rank_agreement(values, values, systems=SYSTEMS[:4])
    assert found.kendall.value == 1
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
    plain = batch.estimate(replace(kendall_figure("", 5), is_attenuated=False), [block]).stat(n_items=5)
    found = rank_agreement(first, second, systems=SYSTEMS).kendall
    assert found.low == pytest.approx(min(plain.low, 2 * found.value - plain.high))
    assert found.high == pytest.approx(min(1.0, max(plain.high, 2 * found.value - plain.low)))
