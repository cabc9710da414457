"""Planned widths: the worked examples, and the widths that simulated studies have."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring.agreement import randolph_error, randolph_kappa
from benchmarks.scoring.components import Components, components
from benchmarks.scoring.formulas import Error, Rate
from benchmarks.scoring.intervals import Batch
from benchmarks.scoring.planning import (
    Variances,
    effective_votes,
    expected_width,
    items_for,
    variances_of_error,
    variances_of_mean,
    variances_of_share,
    widths,
)
from benchmarks.scoring.ratings import Ratings
from benchmarks.scoring.sums import DEFAULT, BadShape, t_quantile

KNOWN = Variances(people=0.0064, items=0.01, rest=0.0144, n_people=10, n_items=30)


def grid(rng: np.random.Generator, n_people: int, n_items: int) -> np.ndarray:
    people, items, rest = (rng.normal(0, sd, shape) for sd, shape in (
        (0.08, (n_people, 1)), (0.1, (1, n_items)), (0.12, (n_people, n_items))
    ))  # fmt: skip
    return np.asarray(people + items + rest)


def width_of(values: np.ndarray) -> float:
    people, items = np.indices(values.shape)
    found = components(values.ravel(), writers=people.ravel(), subtopics=items.ravel())
    assert found.df is not None
    return 2 * t_quantile(found.df) * found.se


def test_the_worked_examples() -> None:
    assert expected_width(KNOWN, n_people=6, n_items=40) == pytest.approx(0.1678, abs=5e-5)
    assert effective_votes(6, 0.589) == pytest.approx(1.52, abs=5e-3)


@pytest.mark.parametrize(("n_people", "n_items"), [(6, 40), (5, 10), (12, 20)])
def test_planned_widths_are_those_of_simulated_studies(n_people: int, n_items: int) -> None:
    rng = np.random.default_rng(4)
    simulated = np.mean([width_of(grid(rng, n_people, n_items)) for _ in range(800)])
    assert expected_width(KNOWN, n_people=n_people, n_items=n_items) == pytest.approx(simulated, rel=0.05)


@pytest.mark.nightly
def test_the_range_that_a_pilot_leaves_open_holds_the_truth_in_about_80_of_100() -> None:
    rng = np.random.default_rng(5)
    truth = expected_width(KNOWN, n_people=6, n_items=40)
    inside = 0
    for _ in range(100):
        values = grid(rng, 6, 20)
        people, items = np.indices(values.shape)
        found = components(values.ravel(), writers=people.ravel(), subtopics=items.ravel())
        width = widths(variances_of_mean(found), [(6, 40)])[0]
        inside += width.low <= truth <= width.high
    assert 0.7 <= inside / 100 <= 0.95


def test_more_people_and_more_items_never_widen_an_interval() -> None:
    for n_people, n_items in [(5, 10), (8, 30)]:
        width = expected_width(KNOWN, n_people=n_people, n_items=n_items)
        assert expected_width(KNOWN, n_people=n_people + 3, n_items=n_items) < width
        assert expected_width(KNOWN, n_people=n_people, n_items=2 * n_items) < width


def test_given_people_add_no_width_of_their_own() -> None:
    given_people = Variances(None, 0.04, 0.0, 3, 20)
    width = expected_width(given_people, n_people=3, n_items=80)
    assert width == expected_width(given_people, n_people=30, n_items=80)
    assert width == pytest.approx(expected_width(given_people, n_people=3, n_items=20) / 2, rel=0.05)
    found = widths(given_people, [(3, 80)])[0]
    assert found.low < found.expected < found.high


@given(st.floats(0.02, 0.5))
def test_as_many_items_as_asked_for_are_enough_and_fewer_are_not(width: float) -> None:
    n = items_for(Variances(None, 0.04, 0.0, 3, 20), width=width, n_people=3)
    narrow = Variances(None, 0.04, 0.0, 3, 20)
    assert expected_width(narrow, n_people=3, n_items=n) <= width
    if n > 2:
        assert expected_width(narrow, n_people=3, n_items=n - 1) > width


def test_no_number_of_items_makes_up_for_few_people() -> None:
    assert items_for(KNOWN, width=0.05, n_people=5) is None


def test_the_variances_of_a_double_jackknife_give_its_error_back() -> None:
    found = variances_of_error(Error(0.141, 7, 0.0156, 0.0399, 0.0121), n_people=5, n_clusters=8)
    v = found.people / 5 + found.items / 8 + found.rest / 40
    assert v == pytest.approx(0.0399 + 0.0156 - 0.0121)


def test_a_jury_of_independent_judges_counts_in_full_and_never_more() -> None:
    assert effective_votes(3, 0) == effective_votes(3, -0.4) == 3
    assert effective_votes(4, 1) == 1
    with pytest.raises(BadShape):
        effective_votes(0, 0.5)


def test_a_design_with_nothing_to_compare_is_refused() -> None:
    with pytest.raises(BadShape):
        expected_width(KNOWN, n_people=1, n_items=30)
    with pytest.raises(BadShape):
        expected_width(KNOWN, n_people=5, n_items=1)


def kappa_world(rng: np.random.Generator, *, n_people: int, n_clusters: int, size: int = 4) -> Ratings:
    """People who err more or less often, in clusters that are harder or easier."""
    ease = np.repeat(rng.beta(6, 3, n_clusters), size)[:, None] * rng.beta(20, 3, n_people)
    truth = rng.integers(0, 3, (n_clusters * size, 1))
    codes = np.where(rng.random(ease.shape) < ease, truth, rng.integers(0, 3, ease.shape))
    clusters = tuple(np.repeat(np.arange(n_clusters), size).tolist())
    return Ratings(codes, ("0", "1", "2"), tuple(f"p{at}" for at in range(n_people)), clusters)


def mean_width(worlds: Iterable[Ratings]) -> float:
    """Of the intervals that agreement pages give κ."""
    stats = [randolph_kappa(world, resampling=DEFAULT) for world in worlds]
    return float(
        np.mean([stat.high - stat.low for stat in stats if stat.high is not None and stat.low is not None])
    )


@pytest.mark.parametrize(("n_people", "n_clusters"), [(8, 40), (6, 20)])
def test_planned_widths_of_kappa_are_those_of_simulated_studies(n_people: int, n_clusters: int) -> None:
    """Known variances are means over many studies of another shape; intervals are over people and clusters."""
    rng = np.random.default_rng(6)
    errors = [randolph_error(kappa_world(rng, n_people=10, n_clusters=30)) for _ in range(120)]
    each = [variances_of_error(one, n_people=10, n_clusters=30) for one in errors if one is not None]
    known = Variances(
        *(float(np.mean([getattr(one, name) for one in each])) for name in ("people", "items", "rest")), 10, 30
    )
    found = [randolph_error(kappa_world(rng, n_people=n_people, n_clusters=n_clusters)) for _ in range(300)]
    simulated = np.mean([2 * t_quantile(one.df) * one.se for one in found if one is not None])
    planned = expected_width(known, n_people=n_people, n_items=n_clusters)
    assert planned == pytest.approx(simulated, rel=0.05)


@pytest.mark.parametrize("n_people", [2, 3])
def test_planned_widths_of_kappa_of_given_people_are_those_of_simulated_studies(n_people: int) -> None:
    rng = np.random.default_rng(7)
    errors = [randolph_error(kappa_world(rng, n_people=n_people, n_clusters=30)) for _ in range(120)]
    v = np.mean([one.of_clusters for one in errors if one is not None])
    known = Variances(None, float(v) * 30, 0.0, n_people, 30)
    simulated = mean_width(kappa_world(rng, n_people=n_people, n_clusters=60) for _ in range(150))
    assert expected_width(known, n_people=n_people, n_items=60) == pytest.approx(simulated, rel=0.05)


@pytest.mark.parametrize(("p", "n_clusters"), [(0.87, 60), (0.6, 40)])
def test_planned_widths_of_shares_are_those_of_simulated_studies(p: float, n_clusters: int) -> None:
    """Shares of hits in clusters, as the accuracy of a judge and the linking of people."""
    rng = np.random.default_rng(8)

    def world(n: int) -> tuple[np.ndarray, np.ndarray]:
        counts = rng.integers(2, 9, n).astype(float)
        return rng.binomial(counts.astype(int), rng.beta(8 * p, 8 * (1 - p), n)).astype(float), counts

    pilots = [variances_of_share(*world(30)) for _ in range(200)]
    known = Variances(None, float(np.mean([one.items for one in pilots if one is not None])), 0.0, 2, 30)
    widths_seen = []
    for _ in range(200):
        hits, counts = world(n_clusters)
        batch = Batch(n_clusters, DEFAULT)
        stat = batch.estimate(Rate.of("share", ""), [batch.add(np.stack([hits, counts], axis=1))]).stat()
        if stat.low is not None and stat.high is not None:
            widths_seen.append(stat.high - stat.low)
    assert len(widths_seen) > 150
    planned = expected_width(known, n_people=2, n_items=n_clusters)
    assert planned == pytest.approx(np.mean(widths_seen), rel=0.05)


def test_a_share_that_is_counted_in_one_cluster_cannot_be_planned() -> None:
    assert variances_of_share(np.array([3.0, 0.0]), np.array([4.0, 0.0])) is None


def test_planned_widths_of_sparse_designs_are_those_of_simulated_studies() -> None:
    """As in a writing study: twelve people with two of the eight subtopics each, then twice as many of both."""
    rng = np.random.default_rng(9)

    def found_in(n_people: int, n_items: int) -> Components:
        values = grid(rng, n_people, n_items)
        people = np.repeat(np.arange(n_people), 2)
        items = (people * 2 + np.tile([0, 1], n_people) + people // 4) % n_items
        return components(values[people, items], writers=people, subtopics=items)

    assert variances_of_mean(found_in(12, 8)).filled == pytest.approx(24 / 96)
    truth = replace(KNOWN, n_people=12, n_items=8, n_cells=24)
    seen = [found_in(24, 16) for _ in range(1_500)]
    simulated = np.mean(
        [2 * t_quantile(one.df) * one.se for one in seen if one.se is not None and one.df is not None]
    )
    assert expected_width(truth, n_people=24, n_items=16) > expected_width(KNOWN, n_people=24, n_items=16)
    assert expected_width(truth, n_people=24, n_items=16, n_each=3) == pytest.approx(simulated, rel=0.05)
