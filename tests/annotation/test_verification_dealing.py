"""Dealing questions: a stratified control group, even loads of whole questions, joiners and leavers."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.labelling.dealing_groups import (
    Asked,
    Pair,
    ShareOutOfRange,
    control_group,
    deal_questions,
    largest_remainder,
    order_for,
)

SEEDS = st.integers(0, 2**63 - 1)
QUESTIONS = st.lists(
    st.tuples(st.integers(1, 30), st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=40
).map(lambda rows: [Asked(pk, *row) for pk, row in enumerate(rows, 1)])
PEOPLE = st.integers(1, 5).map(lambda n: list(range(100, 100 + n)))


def paper() -> list[Asked]:
    """560 questions, 7 for each of 8 categories and 10 domains, with 8,457 key points."""
    rows = [Asked(pk, 15, f"category {pk % 8}", f"domain {pk // 8 % 10}") for pk in range(560)]
    return [Asked(row.pk, 15 + (row.pk < 57), row.category, row.domain) for row in rows]


def loads(pairs: set[Pair], questions: list[Asked], people: list[int], control: tuple[int, ...]) -> list[int]:
    points = {question.pk: question.n_points for question in questions}
    return [sum(points[pk] for who, pk in pairs if who == person and pk not in control) for person in people]


def test_a_tenth_of_the_paper_has_seven_of_each_category_and_five_or_six_of_each_domain() -> None:
    questions = paper()
    assert sum(question.n_points for question in questions) == 8457
    for seed in range(10):
        drawn = set(control_group(questions, seed=seed))
        members = [question for question in questions if question.pk in drawn]
        assert len(members) == 56
        assert set(Counter(question.category for question in members).values()) == {7}
        assert set(Counter(question.domain for question in members).values()) == {5, 6}
    assert control_group(questions, seed=1) != control_group(questions, seed=2)


@given(QUESTIONS, SEEDS, st.fractions(0, 1, max_denominator=50))
def test_the_control_group_has_its_size_and_each_category_its_share(
    questions: list[Asked], seed: int, share: Fraction
) -> None:
    drawn = control_group(questions, seed=seed, share=share)
    assert drawn == control_group(questions[::-1], seed=seed, share=share)
    assert len(set(drawn)) == len(drawn)
    n = max(1, math.floor(len(questions) * share + Fraction(1, 2))) if share else 0
    assert len(drawn) == n
    sizes = Counter(question.category for question in questions)
    found = Counter(question.category for question in questions if question.pk in drawn)
    for category, size in sizes.items():
        assert abs(found[category] - Fraction(size * n, len(questions))) < 1


def test_every_question_may_be_drawn() -> None:
    questions = [Asked(pk, 1, "a", "x") for pk in range(20)]
    assert {pk for seed in range(200) for pk in control_group(questions, seed=seed)} == set(range(20))


def test_a_share_beyond_everything_is_refused_and_of_nothing_is_nothing() -> None:
    with pytest.raises(ShareOutOfRange):
        control_group([Asked(1, 1)], seed=1, share=1.5)
    assert control_group([Asked(1, 1)], seed=1, share=0) == ()
    assert control_group([], seed=1) == ()


def test_seats_go_by_largest_remainder() -> None:
    assert largest_remainder({"a": 47, "b": 16, "c": 37}, 10) == {"a": 5, "b": 1, "c": 4}
    assert largest_remainder({"a": 1, "b": 1, "c": 1}, 2) == {"a": 1, "b": 1, "c": 0}


@given(QUESTIONS, PEOPLE, SEEDS, st.integers(1, 3))
def test_everyone_gets_the_control_group_and_the_rest_is_dealt_once_and_evenly(
    questions: list[Asked], people: list[int], seed: int, per_question: int
) -> None:
    control = control_group(questions, seed=seed)
    deal = deal_questions(questions, people, control=control, seed=seed, per_question=per_question)
    pairs = set(deal.given)
    assert deal.taken == ()
    assert all((person, pk) in pairs for person in people for pk in control)
    holders = Counter(pk for _, pk in pairs if pk not in control)
    wanted = min(per_question, len(people))
    assert all(holders[question.pk] == wanted for question in questions if question.pk not in control)
    largest = max(question.n_points for question in questions)
    if per_question == 1:
        work = loads(pairs, questions, people, control)
        assert max(work) - min(work) <= largest
    assert deal == deal_questions(
        questions[::-1], people[::-1], control=control, seed=seed, per_question=per_question
    )


@given(QUESTIONS, PEOPLE, SEEDS, st.data())
def test_dealing_again_changes_nothing(
    questions: list[Asked], people: list[int], seed: int, data: st.DataObject
) -> None:
    control = control_group(questions, seed=seed)
    first = deal_questions(questions, people, control=control, seed=seed)
    begun = data.draw(st.sets(st.sampled_from(first.given)))
    again = deal_questions(
        questions, people, control=control, seed=seed, fixed=begun, movable=set(first.given) - begun
    )
    assert (again.given, again.taken) == ((), ())


@given(QUESTIONS, PEOPLE, SEEDS, st.data())
def test_a_late_joiner_gets_the_control_group_and_takes_over_what_nobody_began(
    questions: list[Asked], people: list[int], seed: int, data: st.DataObject
) -> None:
    control = control_group(questions, seed=seed)
    first = deal_questions(questions, people, control=control, seed=seed)
    begun = data.draw(st.sets(st.sampled_from(first.given)))
    movable = set(first.given) - begun
    later = deal_questions(questions, [*people, 999], control=control, seed=seed, fixed=begun, movable=movable)
    assert all((999, pk) in later.given for pk in control)
    assert set(later.taken) <= movable
    after = begun | (movable - set(later.taken)) | set(later.given)
    assert Counter(pk for _, pk in after if pk not in control) == Counter(
        question.pk for question in questions if question.pk not in control
    )
    if not begun:
        work = loads(after, questions, [*people, 999], control)
        assert max(work) - min(work) <= max(question.n_points for question in questions)


@given(QUESTIONS, st.integers(2, 5), SEEDS, st.data())
def test_what_a_leaver_did_counts_and_the_rest_goes_to_the_others(
    questions: list[Asked], n: int, seed: int, data: st.DataObject
) -> None:
    people = list(range(n))
    control = control_group(questions, seed=seed)
    first = deal_questions(questions, people, control=control, seed=seed)
    done = data.draw(st.sets(st.sampled_from(first.given)))
    movable = set(first.given) - done
    later = deal_questions(questions, people[1:], control=control, seed=seed, fixed=done, movable=movable)
    after = done | (movable - set(later.taken)) | set(later.given)
    assert {pair for pair in after if pair[0] == 0} == {pair for pair in done if pair[0] == 0}
    holders = Counter(pk for _, pk in after if pk not in control)
    assert all(holders[question.pk] == 1 for question in questions if question.pk not in control)


def test_a_joiner_ends_with_a_fair_share_when_little_was_begun() -> None:
    questions, people = paper(), [1, 2, 3]
    control = control_group(questions, seed=4)
    first = set(deal_questions(questions, people, control=control, seed=4).given)
    later = deal_questions(questions, [*people, 4], control=control, seed=4, movable=first)
    after = (first - set(later.taken)) | set(later.given)
    work = loads(after, questions, [*people, 4], control)
    assert max(work) - min(work) <= 16


def test_the_control_group_is_scattered_over_everyones_own_order() -> None:
    questions = paper()
    control = control_group(questions, seed=1)
    pairs = deal_questions(questions, [1, 2, 3, 4], control=control, seed=1).given
    mine = [pk for person, pk in pairs if person == 1]
    order = order_for(mine, seed=1, person="1")
    places = [order.index(pk) for pk in control]
    assert sorted(order) == sorted(mine)
    assert sum(place < len(order) / 2 for place in places) == pytest.approx(28, abs=12)
    assert order != order_for(mine, seed=1, person="2")


def test_four_people_get_as_many_key_points_of_the_paper() -> None:
    questions = paper()
    control = control_group(questions, seed=1)
    deal = deal_questions(questions, [1, 2, 3, 4], control=control, seed=1)
    work = loads(set(deal.given), questions, [1, 2, 3, 4], control)
    assert max(work) - min(work) <= 1
