"""The approval of a judge: the worked example, gaps in the table, and worlds in which the truth is known."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scoring.approval import Approval, Compared, Thresholds, Verdict, approval
from benchmarks.scoring.sums import Resampling

DIFFERENCES = np.array(
    [
        [0.02, 0.05, -0.01, 0.03, 0.04, 0.0],
        [0.0, 0.03, 0.01, -0.02, 0.03, 0.02],
        [0.05, 0.06, 0.02, 0.04, 0.07, 0.03],
        [-0.01, 0.02, -0.03, 0.0, 0.01, -0.02],
    ]
)
FEW_DRAWS = Resampling(n_resamples=500)


def rows_of(judge: np.ndarray, people: np.ndarray) -> list[Compared]:
    """Shape (systems, subtopics), NaN where there is none."""
    return [
        Compared(f"system {k}", s, float(judge[k, s]), float(people[k, s]))
        for k, s in np.argwhere(np.isfinite(people)).tolist()
    ]


def test_the_worked_example_of_absolute_scores() -> None:
    people = np.array([0.52, 0.45, 0.41, 0.30])[:, None] * np.ones((4, 6))
    found = approval(rows_of(people + DIFFERENCES, people))
    assert (found.bias.value, found.bias.high, found.bias_p) == pytest.approx((0.0183, 0.0323, 0.0030), abs=5e-5)
    assert (found.spread.value, found.spread.high) == pytest.approx((0.0203, 0.0608), abs=5e-5)
    assert found.absolute.verdict is Verdict.NOT_SAFE
    assert dict(found.by_system)["system 2"] == pytest.approx(DIFFERENCES[2].mean())


def test_the_worked_example_of_ranking() -> None:
    people, judge = (
        np.array(means)[:, None] * np.ones((4, 6))
        for means in ([0.52, 0.45, 0.41, 0.30], [0.55, 0.40, 0.44, 0.35])
    )
    found = approval(rows_of(judge, people))
    assert found.concordance.value == pytest.approx(0.9429, abs=5e-5)
    assert found.concordance.low == pytest.approx(found.concordance.value)
    assert found.ranking.verdict is Verdict.SAFE
    strict = approval(rows_of(judge, people), thresholds=Thresholds(concordance=0.95))
    assert strict.ranking.verdict is Verdict.NOT_SAFE


def test_a_system_without_some_subtopics_is_compared_on_the_others() -> None:
    rng = np.random.default_rng(3)
    people = np.linspace(0.3, 0.7, 5)[:, None] + rng.normal(0, 0.2, 8)
    judge = people + 0.02
    people[0, :5] = people[3, 6:] = np.nan
    found = approval(rows_of(judge, people))
    assert found.bias.value == pytest.approx(0.02)
    assert found.spread.value == pytest.approx(0, abs=1e-9)
    assert found.concordance.value == pytest.approx(1)
    assert {round(bias, 9) for _system, bias in found.by_system} == {0.02}


def test_gaps_do_not_change_a_table_that_is_complete() -> None:
    """The path through the normal equations gives what plain means give."""
    rng = np.random.default_rng(8)
    people = rng.random((4, 9))
    judge = people + rng.normal(0, 0.1, (4, 9))
    complete = approval(rows_of(judge, people), resampling=FEW_DRAWS)
    only_a_fifth_system = np.vstack([people, np.full(9, np.nan)]), np.vstack([judge, np.full(9, np.nan)])
    only_a_fifth_system[0][4, 0] = only_a_fifth_system[1][4, 0] = 0.5
    with_gaps = approval(rows_of(only_a_fifth_system[1], only_a_fifth_system[0]), resampling=FEW_DRAWS)
    for system, bias in complete.by_system:
        assert dict(with_gaps.by_system)[system] == pytest.approx(bias, abs=0.05)
    again = approval([*rows_of(judge, people), *rows_of(judge, people)][::-1], resampling=FEW_DRAWS)
    assert again.concordance == complete.concordance
    assert again.spread.high == pytest.approx(complete.spread.high)


@pytest.mark.parametrize("shape", [(0, 0), (1, 9), (2, 9), (5, 4)])
def test_too_little_to_compare_is_not_enough_data_and_no_figure(shape: tuple[int, int]) -> None:
    people = np.full(shape, 0.5)
    found = approval(rows_of(people, people))
    assert {found.absolute.verdict, found.ranking.verdict} == {Verdict.NOT_ENOUGH}
    assert not found.bias.is_defined
    assert not found.spread.is_defined


def test_systems_that_share_nothing_cannot_be_compared() -> None:
    people = np.full((4, 10), np.nan)
    people[:2, :5], people[2:, 5:] = 0.4, 0.6
    assert not approval(rows_of(people, people)).concordance.is_defined


@pytest.mark.parametrize("n_more", [0, 1])
def test_systems_that_hang_together_by_single_subtopics_give_no_approval(n_more: int) -> None:
    """Three systems, of which two subtopics link neighbours; the others have one summary each, or two."""
    rng = np.random.default_rng(5)
    people = np.full((3, 9), np.nan)
    for system, subtopics in enumerate(([0, 2, 5, 7], [0, 1, 3], [1, 4, 6, 8])):
        people[system, subtopics] = rng.uniform(0.3, 0.7, len(subtopics))
    people[1, 7 : 7 + n_more] = 0.5
    found = approval(rows_of(people, people))
    assert found.ranking.verdict is Verdict.NOT_ENOUGH
    assert found.concordance.is_defined is bool(n_more)
    if not n_more:
        assert found.absolute.verdict is Verdict.NOT_ENOUGH


def test_a_judge_that_says_what_people_say_is_safe_and_where_people_see_no_gap_there_is_no_ranking() -> None:
    people = np.linspace(0.2, 0.8, 4)[:, None] * np.ones((4, 9))
    found = approval(rows_of(people, people))
    assert {found.absolute.verdict, found.ranking.verdict} == {Verdict.SAFE}
    level = approval(rows_of(np.full((4, 9), 0.5), np.full((4, 9), 0.5)))
    assert (level.absolute.verdict, level.ranking.verdict) == (Verdict.SAFE, Verdict.NOT_ENOUGH)
    assert not level.concordance.is_defined


def world(
    rng: np.random.Generator, *, n: int, gap: float, spread: float = 0.0, bias: float = 0.0, systems: int = 9
) -> tuple[Approval, float]:
    """A judge's approval, and the concordance that it has in truth."""
    means = gap * np.arange(systems)
    biases = rng.normal(0, spread, systems)
    people = means[:, None] + rng.normal(0, 0.12, n) + rng.normal(0, 0.08, (systems, n))
    judge = people + (bias + biases)[:, None] + rng.normal(0, 0.03, n) + rng.normal(0, 0.1, (systems, n))
    first, second = np.triu_indices(systems, 1)
    gaps = np.abs(means[first] - means[second])
    alike = (means + biases)[first] < (means + biases)[second]
    return approval(rows_of(judge, people), resampling=FEW_DRAWS), float((gaps * alike).sum() / gaps.sum())


def test_no_more_than_five_of_a_hundred_approvals_are_false() -> None:
    rng = np.random.default_rng(11)
    worlds = [world(rng, n=33, gap=0.05, spread=0.05)[0] for _ in range(200)]
    assert sum(found.absolute.verdict is Verdict.SAFE for found in worlds) <= 0.05 * 200 + 6
    biased = [world(rng, n=33, gap=0.05, bias=0.05)[0] for _ in range(200)]
    assert sum(found.absolute.verdict is Verdict.SAFE for found in biased) <= 0.05 * 200 + 6


def test_a_judge_that_orders_systems_wrongly_seldom_gets_the_approval_for_ranking() -> None:
    rng = np.random.default_rng(12)
    worlds = [world(rng, n=33, gap=0.03, spread=0.09) for _ in range(200)]
    wrong = [found for found, truth in worlds if truth < 0.9]
    assert len(wrong) > 60
    assert sum(found.ranking.verdict is Verdict.SAFE for found in wrong) <= 0.12 * len(wrong)


def test_a_deserving_judge_gets_both_approvals_with_33_subtopics_and_not_enough_data_with_few() -> None:
    rng = np.random.default_rng(13)
    many = [world(rng, n=33, gap=0.05)[0] for _ in range(100)]
    assert sum(found.absolute.verdict is Verdict.SAFE for found in many) >= 90
    assert sum(found.ranking.verdict is Verdict.SAFE for found in many) >= 90
    few = Counter(world(rng, n=9, gap=0.02, systems=5)[0].ranking.verdict for _ in range(100))
    assert few[Verdict.NOT_ENOUGH] >= 70
    assert few[Verdict.NOT_SAFE] <= 10


def test_what_would_be_enough_is_more_than_there_is_and_enough() -> None:
    rng = np.random.default_rng(16)
    found = world(rng, n=9, gap=0.05, systems=5)[0]
    assert found.absolute.verdict is Verdict.NOT_ENOUGH
    assert 9 < found.absolute.needed <= 200
    with_so_many = [world(rng, n=found.absolute.needed, gap=0.05, systems=5)[0] for _ in range(60)]
    assert sum(one.absolute.verdict is Verdict.SAFE for one in with_so_many) >= 40


def test_a_judge_far_off_is_not_safe_however_little_data_there_is() -> None:
    rng = np.random.default_rng(17)
    people = np.linspace(0.2, 0.6, 6)[:, None] + rng.normal(0, 0.05, (6, 6))
    kind = approval(rows_of(people + 0.3 + rng.normal(0, 0.1, people.shape), people))
    assert kind.absolute.verdict is Verdict.NOT_SAFE
    upside_down = approval(rows_of(0.8 - people + rng.normal(0, 0.02, people.shape), people))
    assert upside_down.ranking.verdict is Verdict.NOT_SAFE


def test_wider_thresholds_never_take_an_approval_away() -> None:
    rng = np.random.default_rng(15)
    order = [Verdict.NOT_ENOUGH, Verdict.NOT_SAFE, Verdict.SAFE]
    for _ in range(20):
        people = rng.random((5, 12))
        rows = rows_of(np.clip(people + rng.normal(0, 0.1, people.shape), 0, 1), people)
        at = [
            approval(
                rows, thresholds=replace(Thresholds(), bias=limit, spread=limit), resampling=FEW_DRAWS
            ).absolute
            for limit in (0.02, 0.05, 0.2)
        ]
        safe = [order.index(one.verdict) == 2 for one in at]
        assert safe == sorted(safe)
