"""Systems rated by unlike people on unlike subtopics, compared like with like."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.scoring.likert import NOT_LINKED, balanced
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import BadShape, Floats

BOUNDS = (1.0, 5.0)
Compared = tuple[dict[str, Stat], dict[tuple[str, str], Stat], dict[tuple[str, str], int]]


def compared(rows: list[tuple[str, int, list[float]]], **more: object) -> Compared:
    """Rows of (system, subtopic, ratings with NaN where somebody did not rate)."""
    values = np.array([ratings for *_, ratings in rows], dtype=float)
    return balanced(
        values, systems=[row[0] for row in rows], clusters=[row[1] for row in rows], bounds=BOUNDS, **more
    )


def test_a_strict_rater_and_an_easy_subtopic_make_no_system_better() -> None:
    """Two systems are equal; the strict person rates most of one, the other wrote on the easy subtopic."""
    none = float("nan")
    rows = [
        ("a", 1, [4, none]),
        ("b", 1, [none, 2]),
        ("a", 2, [3, 1]),
        ("b", 2, [3, 1]),
        ("b", 3, [5, 3]),
    ]
    means, differences, n_common = compared(rows)
    assert n_common == {("a", "b"): 2}
    assert differences["a", "b"].value == pytest.approx(0)
    plain = [np.mean([np.nanmean(ratings) for name, _at, ratings in rows if name == one]) for one in "ab"]
    assert plain[0] - plain[1] > 0.2, "which plain means would say"
    assert means["a"].value == pytest.approx(means["b"].value)


@given(st.integers(0, 10_000))
def test_where_everybody_rated_everything_it_is_the_plain_mean_and_the_paired_t(seed: int) -> None:
    table: Floats = np.random.default_rng(seed).integers(1, 6, (3, 8, 2)).astype(float)
    rows = [(f"s{one}", at, table[one, at].tolist()) for one, at in product(range(3), range(8))]
    means, differences, _n_common = compared(rows)
    by_subtopic = table.mean(axis=2)
    for one in range(3):
        assert means[f"s{one}"].value == pytest.approx(by_subtopic[one].mean())
    for (first, second), difference in differences.items():
        apart = by_subtopic[int(first[1])] - by_subtopic[int(second[1])]
        assert difference.value == pytest.approx(apart.mean(), abs=1e-9)
        if difference.low is not None:
            low, high = stats.t.interval(0.95, 7, apart.mean(), stats.sem(apart))
            assert difference.low == pytest.approx(max(low, -4))
            assert difference.high == pytest.approx(min(high, 4))


@given(st.integers(0, 10_000), st.floats(-1, 1))
def test_a_stricter_rater_changes_no_difference(seed: int, strictness: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.uniform(2, 4, (24, 3))
    values[rng.random((24, 3)) < 0.4] = np.nan
    how = {
        "systems": [f"s{at % 4}" for at in range(24)],
        "clusters": [at // 4 for at in range(24)],
        "bounds": BOUNDS,
    }
    _means, before, _n_common = balanced(values, **how)
    _means, after, _n_common = balanced(values + np.array([0, strictness, 0]), **how)
    assert before.keys() == after.keys()
    for pair, one in before.items():
        other = after[pair].value
        assert one.value == (None if other is None else pytest.approx(other, abs=1e-9))


def test_systems_that_nothing_links_are_not_compared() -> None:
    none = float("nan")
    rows = [("a", 1, [4, none]), ("a", 2, [3, none]), ("b", 3, [none, 2]), ("b", 4, [none, 5])]
    means, differences, _n_common = compared(rows)
    assert differences["a", "b"].undefined_reason == NOT_LINKED
    assert means["a"].undefined_reason == NOT_LINKED
    means, differences, _n_common = compared(rows[:2])
    assert (means["a"].value, differences) == (3.5, {})
    assert means["a"].interval_reason == "no interval under 4 summaries"


def test_intervals_hold_with_unlike_raters_and_subtopics() -> None:
    """300 worlds of 4 systems on 9 subtopics, of which each has 3, rated by 2 of 4 people."""
    rng = np.random.default_rng(3)
    held = drawn = 0
    for _world in range(300):
        system, subtopic, rater = (rng.normal(0, sd, n) for sd, n in ((0.3, 4), (0.3, 9), (0.4, 4)))
        both = rng.normal(0, 0.25, (4, 9))
        rows = []
        for at in range(9):
            for one in rng.permutation(4)[:3]:
                ratings = 3 + system[one] + subtopic[at] + rater + both[one, at] + rng.normal(0, 0.4, 4)
                ratings[rng.permutation(4)[:2]] = np.nan
                rows.append((f"s{one}", at, ratings.tolist()))
        for (first, second), difference in compared(rows)[1].items():
            if difference.low is not None and difference.high is not None:
                truth = system[int(first[1])] - system[int(second[1])]
                held += difference.low <= truth <= difference.high
                drawn += 1
    assert drawn > 1_700
    assert 0.93 <= held / drawn <= 0.98


def test_shapes_have_to_fit() -> None:
    with pytest.raises(BadShape):
        balanced(np.zeros((2, 1)), systems=["a"], clusters=[1, 2], bounds=BOUNDS)
    assert balanced(np.zeros((0, 0)), systems=[], clusters=[], bounds=BOUNDS) == ({}, {}, {})
