"""Ranks and who is level with the best: the worked example, and boards whose truth is known."""

from __future__ import annotations

import time

import numpy as np
import pytest

from benchmarks.scoring.ranking import rank_intervals
from benchmarks.scoring.sums import BadShape

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
    assert found.threshold is not None
    assert by_hand[0] < found.threshold < by_hand[1]
    assert [one.is_level for one in found.systems[1:3]] == [True, False]


def test_the_detectable_gap_is_made_of_the_mean_variance_of_pairs() -> None:
    pairs = [BOARD[i] - BOARD[j] for i in range(5) for j in range(i)]
    variance = np.mean([pair.var(ddof=1) for pair in pairs])
    found = rank_intervals(BOARD)
    assert found.threshold is not None
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
        hard = rng.normal(0, 0.15, subtopics)
        scores = 0.4 + hard + rng.normal(0, 0.1, (systems, subtopics))
        scores[0] += lead
        made = rank_intervals(scores, seed=int(rng.integers(1 << 30)))
        assert made.detectable is not None
        others = made.systems[1:]
        wrong += any(not one.is_level for one in others)
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
