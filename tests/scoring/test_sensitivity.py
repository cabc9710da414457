"""Sensitivity to position: signed differences with intervals, and a test that holds its size."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from benchmarks.scoring.leaderboard import EXACT, order_difference, permutation_p, sensitivity
from benchmarks.scoring.summhay import Average
from tests.scoring.test_leaderboard import scored

INSIGHTS = [5.0, 7, 4, 8, 6]
SUMS = {
    "random": [1.8, 2.4, 1.2, 3.0, 2.1],
    "top": [2.6, 3.1, 1.5, 3.9, 2.4],
    "bottom": [1.5, 2.5, 1.0, 2.8, 2.2],
}
CELLS = {order: np.column_stack([sums, INSIGHTS]) for order, sums in SUMS.items()}


def test_the_worked_example() -> None:
    top, bottom = order_difference(CELLS, "top"), order_difference(CELLS, "bottom")
    assert (top.value, top.low, top.high) == pytest.approx((0.1, 0.0537, 0.1463), abs=5e-5)
    assert (bottom.value, bottom.low, bottom.high) == pytest.approx((-0.0167, -0.0576, 0.0242), abs=1e-4)
    assert permutation_p(CELLS) == pytest.approx(262 / 7776)


def test_the_p_value_counts_every_way_to_permute_the_orders() -> None:
    table = np.array([SUMS[order] for order in ("random", "top", "bottom")])
    ways = list(permutations(range(3)))
    distances = []
    for chosen in product(ways, repeat=5):
        totals = np.array([[table[way[order], at] for at, way in enumerate(chosen)] for order in range(3)]).sum(1)
        distances.append(np.abs(totals[1:] - totals[0]).max())
    observed = np.abs(table.sum(axis=1)[1:] - table.sum(axis=1)[0]).max()
    assert permutation_p(CELLS) == np.mean(np.array(distances) >= observed - 1e-9)


def test_with_equal_insights_it_is_the_paired_t_interval() -> None:
    rng = np.random.default_rng(1)
    cells = {order: np.column_stack([rng.random(12) * 4, np.full(12, 4.0)]) for order in ("random", "top")}
    found = order_difference(cells, "top")
    paired = stats.ttest_rel(cells["top"][:, 0] / 4, cells["random"][:, 0] / 4).confidence_interval()
    assert (found.low, found.high) == pytest.approx((paired.low, paired.high))


def test_many_subtopics_are_permuted_by_lot_and_alike_in_any_order_of_rows() -> None:
    rng = np.random.default_rng(2)
    cells = {order: np.column_stack([rng.random(20), np.ones(20)]) for order in SUMS}
    p = permutation_p(cells)
    assert p >= 1 / (1 + EXACT)
    turned = {order: rows[::-1] for order, rows in cells.items()}
    assert permutation_p(turned) == p
    stronger = {order: rows + np.array([order == "top", 0]) for order, rows in cells.items()}
    assert permutation_p(stronger) == pytest.approx(1 / (1 + EXACT), abs=2e-4)


@pytest.mark.nightly
@pytest.mark.parametrize("n", [6, 20])
def test_where_order_is_nothing_differences_hold_0_and_p_is_right(n: int) -> None:
    """400 worlds: coverage of .95 within three standard errors, and p under .05 in at most .083."""
    rng = np.random.default_rng(3)
    held, rejected = [], 0
    for _world in range(400):
        sizes = rng.integers(4, 10, n).astype(float)
        hard = rng.normal(0, 0.1, n)
        cells = {
            order: np.column_stack([(0.4 + hard + rng.normal(0, 0.1, n)) * sizes, sizes])
            for order in ("random", "top", "bottom")
        }
        found = order_difference(cells, "top")
        held.append(found.low <= 0 <= found.high)
        rejected += permutation_p(cells) <= 0.05
    assert 0.917 <= np.mean(held) <= 0.983
    assert rejected / 400 <= 0.083


def test_too_little_for_an_interval_is_said() -> None:
    few = {order: rows[:4] for order, rows in CELLS.items()}
    assert order_difference(few, "top").interval_reason == "no interval under 5 clusters"
    moved = CELLS | {"top": CELLS["random"] + np.column_stack([np.array(INSIGHTS) * 0.1, np.zeros(5)])}
    assert order_difference(moved, "top").interval_reason == "the same in every subtopic"
    assert order_difference({"random": CELLS["random"]}, "top").undefined_reason == "no score in an ordered run"
    assert order_difference({"top": CELLS["top"]}, "top").undefined_reason == "no score in random order"


def test_a_system_has_differences_with_their_signs_and_no_interval_of_the_larger_one() -> None:
    rng = np.random.default_rng(5)
    orders = {
        order: [scored("x", at, int(rng.integers(least, least + 2))) for at in range(8)]
        for order, least in (("random", 2), ("top", 3), ("bottom", 0))
    }
    found = sensitivity(orders, average=Average.OVER_INSIGHTS)
    assert found.top_minus_random.value > 0 > found.bottom_minus_random.value
    assert found.sensitivity.value == pytest.approx(-found.bottom_minus_random.value)
    assert found.sensitivity.low is None
    assert found.sensitivity.reason.startswith("no interval: the larger of two distances")
    assert found.p < 0.05
    only = sensitivity({"random": orders["random"]}, average=Average.OVER_INSIGHTS)
    assert (only.p, only.sensitivity.value) == (None, None)
