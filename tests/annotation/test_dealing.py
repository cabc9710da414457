"""Dealing label work: samples keep their shares, loads are even, everyone gets the overlap, seeds decide."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from annotation.labelling.activity import worked_ms
from annotation.labelling.dealing import Item, deal_items, in_blocks, sample

GRIDS = st.tuples(st.integers(1, 6), st.integers(1, 8))
SEEDS = st.integers(0, 2**63 - 1)
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


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


@given(st.integers(0, 40), st.integers(1, 6), st.integers(1, 6), st.sets(st.integers(0, 39)), SEEDS)
def test_everyone_has_the_overlap_and_the_rest_is_even(
    n_items: int, n_people: int, per_item: int, marked: set[int], seed: int
) -> None:
    items, people = list(range(n_items)), list(range(1000, 1000 + n_people))
    overlap = marked & set(items)
    pairs = deal_items(items, people, overlap=overlap, per_item=per_item, seed=seed)
    assert len(set(pairs)) == len(pairs)
    holders = Counter(item for _person, item in pairs)
    assert all(holders[item] == n_people for item in overlap)
    assert all(holders[item] == min(per_item, n_people) for item in set(items) - overlap)
    loads = Counter(dict.fromkeys(people, 0))
    loads.update(person for person, _item in pairs)
    assert max(loads.values()) - min(loads.values()) <= 1
    assert pairs == deal_items(items, people, overlap=overlap, per_item=per_item, seed=seed)


@given(
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 20))),
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 20))),
    SEEDS,
)
def test_nobody_gets_what_is_barred_or_held_already(
    barred: set[tuple[int, int]], held: set[tuple[int, int]], seed: int
) -> None:
    items = list(range(21))
    pairs = deal_items(items, list(range(5)), overlap={0, 7}, per_item=2, seed=seed, barred=barred, held=held)
    assert not set(pairs) & (barred | held)
    holders = Counter(item for _person, item in set(pairs) | held)
    for item in items:
        free = {person for person in range(5) if (person, item) not in barred | held}
        wanted = 5 if item in {0, 7} else 2
        n_held = sum(thing == item for _person, thing in held)
        assert holders[item] == min(max(wanted, n_held), n_held + len(free))


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


@given(st.lists(st.integers(1, 400_000), max_size=30))
def test_time_is_the_sum_of_gaps_of_at_most_two_minutes(gaps: list[int]) -> None:
    at, total = NOW, 0
    for gap in gaps:
        then = at + timedelta(milliseconds=gap)
        total += worked_ms(since=at, now=then)
        at = then
    assert total == sum(gap for gap in gaps if gap <= 120_000)


def test_a_clock_that_steps_back_counts_nothing() -> None:
    assert worked_ms(since=NOW, now=NOW - timedelta(seconds=5)) == 0
    assert worked_ms(since=None, now=NOW) == 0
