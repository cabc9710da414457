"""Draws: samples keep their shares, control groups are stratified, everyone has an order of their own."""

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.studies.dealing import (
    Item,
    ShareOutOfRange,
    control_group,
    in_blocks,
    largest_remainder,
    narrowing_first,
    sample,
)
from benchmarks.scoring.agreement import randolph_error, randolph_kappa
from benchmarks.scoring.ratings import Ratings

GRIDS = st.tuples(st.integers(1, 6), st.integers(1, 8))
SEEDS = st.integers(0, 2**63 - 1)
QUESTIONS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=40).map(
    lambda rows: [Item(pk, strata) for pk, strata in enumerate(rows, 1)]
)


def grid(systems: int, subtopics: int) -> list[Item]:
    return [Item(100 * a + b, (f"system {a}", b)) for a in range(systems) for b in range(subtopics)]


@given(GRIDS, st.integers(0, 60), SEEDS)
def test_a_sample_has_its_size_and_nothing_twice(shape: tuple[int, int], n: int, seed: int) -> None:
    items = grid(*shape)
    drawn = sample(items, n, seed=seed)
    assert len(drawn) == min(n, len(items))
    assert len(set(drawn)) == len(drawn)
    assert set(drawn) <= set(items)
    assert drawn == sample(list(reversed(items)), n, seed=seed)


@given(GRIDS, st.integers(1, 60), SEEDS)
def test_a_sample_takes_as_much_of_each_system(shape: tuple[int, int], n: int, seed: int) -> None:
    systems, subtopics = shape
    drawn = sample(grid(*shape), n, seed=seed)
    by_system = Counter({f"system {a}": 0 for a in range(systems)})
    by_system.update(item.strata[0] for item in drawn)
    by_subtopic = Counter(dict.fromkeys(range(subtopics), 0))
    by_subtopic.update(item.strata[1] for item in drawn)
    assert max(by_system.values()) - min(by_system.values()) <= 1
    assert max(by_subtopic.values()) - min(by_subtopic.values()) <= 2


def paper() -> list[Item]:
    """560 questions, 7 for each of 8 categories and 10 domains."""
    return [Item(pk, (f"category {pk % 8}", f"domain {pk // 8 % 10}")) for pk in range(560)]


def test_a_tenth_of_the_paper_has_seven_of_each_category_and_five_or_six_of_each_domain() -> None:
    questions = paper()
    for seed in range(10):
        drawn = set(control_group(questions, seed=seed))
        members = [question for question in questions if question.pk in drawn]
        assert len(members) == 56
        assert set(Counter(question.strata[0] for question in members).values()) == {7}
        assert set(Counter(question.strata[1] for question in members).values()) == {5, 6}
    assert control_group(questions, seed=1) != control_group(questions, seed=2)


@given(QUESTIONS, SEEDS, st.fractions(0, 1, max_denominator=50))
def test_the_control_group_has_its_size_and_each_category_its_share(
    questions: list[Item], seed: int, share: Fraction
) -> None:
    drawn = control_group(questions, seed=seed, share=share)
    assert drawn == control_group(questions[::-1], seed=seed, share=share)
    assert len(set(drawn)) == len(drawn)
    n = max(1, math.floor(len(questions) * share + Fraction(1, 2))) if share else 0
    assert len(drawn) == n
    sizes = Counter(question.strata[0] for question in questions)
    found = Counter(question.strata[0] for question in questions if question.pk in drawn)
    for category, size in sizes.items():
        assert abs(found[category] - Fraction(size * n, len(questions))) < 1


def test_every_question_may_be_drawn() -> None:
    questions = [Item(pk, ("a", "x")) for pk in range(20)]
    assert {pk for seed in range(200) for pk in control_group(questions, seed=seed)} == set(range(20))


def test_a_share_beyond_everything_is_refused_and_of_nothing_is_nothing() -> None:
    with pytest.raises(ShareOutOfRange):
        control_group([Item(1, ("", ""))], seed=1, share=1.5)
    assert control_group([Item(1, ("", ""))], seed=1, share=0) == ()
    assert control_group([], seed=1) == ()


def test_seats_go_by_largest_remainder() -> None:
    assert largest_remainder({"a": 47, "b": 16, "c": 37}, 10) == {"a": 5, "b": 1, "c": 4}
    assert largest_remainder({"a": 1, "b": 1, "c": 1}, 2) == {"a": 1, "b": 1, "c": 0}


@given(st.dictionaries(st.integers(0, 50), st.sampled_from("abcd")), SEEDS, st.text(max_size=5))
def test_an_order_keeps_blocks_together(block_of: dict[int, str], seed: int, person: str) -> None:
    order = in_blocks(block_of, block_of=block_of, seed=seed, person=person)
    assert sorted(order) == sorted(block_of)
    changes = sum(block_of[a] != block_of[b] for a, b in pairwise(order))
    assert changes == max(0, len(set(block_of.values())) - 1)


def test_two_people_get_different_orders() -> None:
    block_of = {item: "abcd"[item % 4] for item in range(40)}
    orders = {tuple(in_blocks(block_of, block_of=block_of, seed=1, person=name)) for name in ("ben", "cleo")}
    assert len(orders) == 2


def test_the_control_group_is_scattered_over_everyones_own_order() -> None:
    questions = paper()
    control = control_group(questions, seed=1)
    mine = [question.pk for question in questions if question.pk in control or question.pk % 4 == 1]
    blocks = {pk: f"question-{pk}" for pk in mine}
    order = in_blocks(mine, block_of=blocks, seed=1, person="1")
    places = [order.index(pk) for pk in control]
    assert sorted(order) == sorted(mine)
    assert sum(place < len(order) / 2 for place in places) == pytest.approx(28, abs=12)
    assert order != in_blocks(mine, block_of=blocks, seed=1, person="2")


@given(
    st.dictionaries(st.integers(0, 50), st.tuples(st.sampled_from("abcd"), st.integers(1, 4))),
    SEEDS,
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 5)),
)
def test_what_narrows_first_takes_blocks_in_turn_and_shared_items_before_others(
    items: dict[int, tuple[str, int]], seed: int, before: dict[str, int]
) -> None:
    block_of = {item: block for item, (block, _n) in items.items()}
    people_of = {item: n for item, (_block, n) in items.items()}
    order = narrowing_first(items, block_of=block_of, people_of=people_of, seed=seed, before=before)
    assert sorted(order) == sorted(items)
    again = narrowing_first(reversed(order), block_of=block_of, people_of=people_of, seed=seed, before=before)
    assert order == again
    assert all(people_of[item] >= people_of[after] for item, after in pairwise(order))
    taken = Counter(before)
    for at, item in enumerate(order):
        level = [later for later in order[at:] if people_of[later] == people_of[item]]
        assert taken[block_of[item]] == min(taken[block_of[later]] for later in level)
        taken[block_of[item]] += 1


def world(seed: int, *, n_blocks: int = 12, n_each: int = 6, n_people: int = 3) -> np.ndarray:
    """What people say of items, shape (items, people): in some blocks they agree more often than in others."""
    rng = np.random.default_rng(seed)
    agrees = np.repeat(rng.beta(4, 2, n_blocks), n_each)
    truth = rng.integers(0, 2, len(agrees))
    strays = rng.random((len(agrees), n_people)) > agrees[:, None]
    return np.where(strays, rng.integers(0, 2, strays.shape), truth[:, None])


def test_half_done_work_is_narrower_and_as_right_where_what_narrows_comes_first() -> None:
    blocks = {item: f"block {item // 6}" for item in range(72)}
    everybody = dict.fromkeys(blocks, 3)
    found: dict[str, list[tuple[float, float]]] = {"usual": [], "first": []}
    for seed in range(60):
        codes = world(seed)
        first = narrowing_first(blocks, block_of=blocks, people_of=everybody, seed=seed)
        usual = [in_blocks(blocks, block_of=blocks, seed=seed, person=str(person)) for person in range(3)]
        for name, orders in {"usual": usual, "first": [first] * 3}.items():
            so_far = np.full_like(codes, -1)
            for person, order in enumerate(orders):
                so_far[order[:24], person] = codes[order[:24], person]
            ratings = Ratings(so_far, ("no", "yes"), ("a", "b", "c"), tuple(blocks[item] for item in range(72)))
            error, kappa = randolph_error(ratings), randolph_kappa(ratings).value
            if error is not None and kappa is not None:
                found[name].append((error.se, kappa))
    assert len(found["first"]) == 60
    widths = {name: np.mean([se for se, _kappa in rows]) for name, rows in found.items()}
    assert widths["first"] < 0.8 * widths["usual"]
    every = [
        randolph_kappa(Ratings(world(seed), ("no", "yes"), ("a", "b", "c"), tuple(range(72)))).value
        for seed in range(60)
    ]
    assert np.mean([kappa for _se, kappa in found["first"]]) == pytest.approx(np.mean(every), abs=0.02)
