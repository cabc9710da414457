"""The difference of parallel forms against examples by hand and what must hold of any."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from benchmarks.scoring.sessions import NO_SPREAD, ONE_ORDER, THREE_NEEDED, TOO_FEW, Both, crossover

SCORES = st.floats(0, 1)
TENTHS = st.integers(0, 10).map(lambda n: n / 10)


def test_an_example_by_hand() -> None:
    """d is .1, .3, .2 of those who began with A (mean .2) and 0, .1 of the others (mean .05).

    The forms differ by (.2 + .05) / 2 = .125, the texts by (.2 - .05) / 2 = .075. Squares: .02 + .005 = .025 over
    3 degrees of freedom, s = .0912871; the standard error is s / 2 * sqrt(1/3 + 1/2) = .0416667; t(3) = 3.182446.
    """
    a_first = [Both(0.2, 0.3, True), Both(0.1, 0.4, True), Both(0.5, 0.7, True)]
    b_first = [Both(0.4, 0.4, False), Both(0.3, 0.4, False)]
    forms, order = crossover([*a_first, *b_first])
    assert forms.value == pytest.approx(0.125)
    assert order.value == pytest.approx(0.075)
    half = 3.182446 * 0.0416667
    assert (forms.low, forms.high) == pytest.approx((0.125 - half, 0.125 + half), abs=1e-6)
    assert (order.low, order.high) == pytest.approx((0.075 - half, 0.075 + half), abs=1e-6)
    assert (forms.n_items, forms.n_pairs) == (5, 5)


@pytest.mark.parametrize(
    ("people", "reason"),
    [
        ([], TOO_FEW),
        ([Both(0.1, 0.2, True)], TOO_FEW),
        ([Both(0.1, 0.2, True), Both(0.1, 0.3, True), Both(0.1, 0.4, True)], ONE_ORDER),
    ],
)
def test_without_two_people_and_both_orders_there_is_no_difference_and_it_says_why(
    people: list[Both], reason: str
) -> None:
    for stat in crossover(people):
        assert (stat.value, stat.undefined_reason) == (None, reason)


def test_two_people_have_a_difference_without_an_interval() -> None:
    forms, order = crossover([Both(0.2, 0.5, True), Both(0.2, 0.3, False)])
    assert (forms.value, order.value) == (pytest.approx(0.2), pytest.approx(0.1))
    assert (forms.low, forms.interval_reason) == (None, THREE_NEEDED)


def test_equal_differences_give_no_interval_of_width_zero() -> None:
    forms, _order = crossover([Both(0.25, 0.5, True), Both(0.25, 0.5, True), Both(0.25, 0.5, False)])
    assert (forms.value, forms.low, forms.interval_reason) == (0.25, None, NO_SPREAD)


@given(
    st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=8),
    st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=8),
    st.floats(-0.5, 0.5),
    st.floats(-0.5, 0.5),
)
def test_a_harder_form_and_practice_are_told_apart_however_many_have_each_order(
    a_first: list[tuple[float, float]], b_first: list[tuple[float, float]], harder: float, practice: float
) -> None:
    plain = [*(Both(a, b, True) for a, b in a_first), *(Both(a, b, False) for a, b in b_first)]
    shifted = [*(Both(a, b + harder + practice, True) for a, b in a_first)]
    shifted += [Both(a + practice, b + harder, False) for a, b in b_first]
    (forms, order), (forms_2, order_2) = crossover(plain), crossover(shifted)
    assert forms_2.value == pytest.approx(forms.value + harder, abs=1e-9)
    assert order_2.value == pytest.approx(order.value + practice, abs=1e-9)


@given(st.lists(TENTHS, min_size=2, max_size=8), st.lists(TENTHS, min_size=2, max_size=8))
def test_the_effect_of_the_order_is_half_of_what_a_t_test_compares(ab: list[float], ba: list[float]) -> None:
    assume(len({*ab}) > 1 and len({*ba}) > 1)
    _forms, order = crossover([*(Both(0, d, True) for d in ab), *(Both(0, d, False) for d in ba)])
    interval = ttest_ind(ab, ba, equal_var=True).confidence_interval(0.95)
    assert (order.low, order.high) == pytest.approx((interval.low / 2, interval.high / 2), rel=1e-6, abs=1e-9)
