"""The AutoDS score with answers missing, and what a threshold lets through: worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring.retention import at_threshold, cumulative, histogram, mean_of, score
from benchmarks.scoring.sums import BadShape


def test_spellings_of_an_answer_add_up() -> None:
    found = score([math.log(0.5), math.log(0.1)], [math.log(0.2)])
    assert found.value == pytest.approx(0.75)
    assert found.passes(0.7) is True


def test_a_missing_answer_leaves_a_bound_and_two_leave_nothing() -> None:
    without_no = score([math.log(0.9)], [], least_listed=math.log(0.01))
    assert (without_no.value, without_no.high) == (None, 1.0)
    assert without_no.low == pytest.approx(0.9 / 0.91)
    assert without_no.passes(0.7) is True
    assert score([math.log(0.3)], []).passes(0.7) is None, "no may be as likely as all the rest"
    without_yes = score([], [math.log(0.8)])
    assert (without_yes.low, without_yes.high) == (0.0, pytest.approx(0.2))
    assert without_yes.passes(0.7) is False
    neither = score([], [])
    assert (neither.value, neither.passes(0.0)) == (None, None)
    assert neither.reason


LOGS = st.lists(st.floats(-2000, 0), min_size=1, max_size=4)


@given(LOGS, LOGS)
def test_the_score_is_a_share_and_swaps_with_the_answers(yes: list[float], no: list[float]) -> None:
    there, back = score(yes, no).value, score(no, yes).value
    assert there is not None
    assert back is not None
    assert 0 <= there <= 1
    assert there + back == pytest.approx(1)


@given(st.floats(0.001, 1), st.floats(0.0001, 0.9))
def test_the_bound_holds_for_any_unlisted_answer(p_yes: float, least: float) -> None:
    p_no = min(least, 1 - p_yes)
    bound = score([math.log(p_yes)], [], least_listed=math.log(least))
    assert bound.low is not None
    assert bound.low <= p_yes / (p_yes + p_no) + 1e-9


def test_histogram_and_cumulative_shares() -> None:
    scores = [0.0, 0.04, 0.05, 0.7, 1.0]
    bins = histogram(scores)
    assert [(bin_.low, bin_.count) for bin_ in bins if bin_.count] == [(0.0, 2), (0.05, 1), (0.7, 1), (0.95, 1)]
    assert cumulative([0.2, 0.2, 0.5, 0.9]) == ((0.2, 0.5), (0.5, 0.75), (0.9, 1.0))
    assert cumulative([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1))
def test_every_score_is_in_one_bin_and_the_last_share_is_1(scores: list[float]) -> None:
    assert sum(bin_.count for bin_ in histogram(scores)) == len(scores)
    shares = [share for _, share in cumulative(scores)]
    assert shares[-1] == 1
    assert shares == sorted(shares)


# Ten points, six pass 0.7. Labelled: of the passing 3 key, 2 not, 1 nobody; of the others 1 key, 3 not.
SCORES = [0.9, 0.8, 0.7, 0.95, 0.75, 0.99, 0.1, 0.2, 0.3, 0.69]
KEY = [True, True, True, False, False, None, True, False, False, False]


def test_rates_at_a_threshold_worked_by_hand() -> None:
    found = at_threshold(SCORES, KEY, threshold=0.7)
    assert found.retention.value == pytest.approx(6 / 10)
    assert found.false_positive_rate.value == pytest.approx(2 / 5)
    assert found.false_discovery_rate.value == pytest.approx(2 / 5)
    assert found.false_omission_rate.value == pytest.approx(1 / 4)
    assert found.n_unlabelled == 1


def test_rates_without_anything_to_count_are_undefined() -> None:
    found = at_threshold([0.9], [True], threshold=0.5)
    assert (found.false_positive_rate.value, found.false_omission_rate.value) == (None, None)
    assert at_threshold([], [], threshold=0.5).retention.undefined_reason == "no scores"
    with pytest.raises(BadShape):
        at_threshold([0.5], [], threshold=0.5)


def test_people_are_averaged_where_they_have_a_rate() -> None:
    people = [at_threshold([0.9, 0.8], key, threshold=0.5) for key in ([True, True], [False, True])]
    means = mean_of(people)
    assert means["false_discovery_rate"].value == pytest.approx(0.25)
    assert means["false_positive_rate"].value == 1.0, "the first has no point that is not key"
    assert means["false_omission_rate"].value is None


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_a_higher_threshold_never_keeps_more(rows: list[tuple[float, bool]]) -> None:
    scores, key = [row[0] for row in rows], [row[1] for row in rows]
    kept = [at_threshold(scores, key, threshold=at / 10).retention.value for at in range(11)]
    assert kept[0] == 1
    assert kept == sorted(kept, key=lambda value: -(value or 0))
