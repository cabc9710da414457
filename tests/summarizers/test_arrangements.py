"""Arrangements of documents in experiments of position."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.summarizers.arrangements import (
    EXPERIMENTS,
    INFILLING,
    POSITION,
    Arrangement,
    arrangements,
    drawn_others,
    in_turn,
)

OTHERS = [11, 12, 13, 14]


def test_a_relevant_document_at_each_place() -> None:
    found = {one.name: one.shown([1, 2], OTHERS, relevant=2) for one in arrangements(POSITION, 5)}
    assert found == {
        "at-1-of-5": [2, 11, 12, 13, 14],
        "at-2-of-5": [11, 2, 12, 13, 14],
        "at-3-of-5": [11, 12, 2, 13, 14],
        "at-4-of-5": [11, 12, 13, 2, 14],
        "at-5-of-5": [11, 12, 13, 14, 2],
    }


def test_first_and_last_with_and_without_others_between() -> None:
    found = {one.name: one.shown([1, 2, 3, 4, 5], OTHERS, relevant=1) for one in arrangements(INFILLING, 5)}
    assert found == {"all-of-5": [1, 2, 3, 4, 5], "ends-of-5": [1, 5], "filled-of-5": [1, 11, 12, 13, 5]}
    assert [one.fits(5) and not one.fits(4) for one in arrangements(INFILLING, 5)] == [True] * 3
    assert [one.fits(1) and one.fits(9) for one in arrangements(POSITION, 5)] == [True] * 5


@given(st.integers(3, 50))
def test_names_are_read_back(size: int) -> None:
    several = (arrangements(name, size) for name in EXPERIMENTS)
    for one in (*arrangements(POSITION, size, "rougeL"), *(one for own in several for one in own)):
        assert Arrangement.named(one.name) == one


@pytest.mark.parametrize(
    "name",
    [
        "",
        "sort",
        "rev-sort",
        "at-0-of-5",
        "at-6-of-5",
        "at-1-of-1",
        "all-of-99",
        "at--1-of-5",
        "ends-of-2",
        "first-6-of-5",
        "upto-0",
        "all-of-5-by-rouge2",
        "at-1-of-5-by-taste",
        "at-1-of-5-by-rouge1",
    ],
)
def test_other_names_are_no_arrangements(name: str) -> None:
    assert Arrangement.named(name) is None


def test_experiments_by_name() -> None:
    assert in_turn("position-of-5") == arrangements(POSITION, 5)
    assert in_turn("infilling-of-7") == arrangements(INFILLING, 7)
    assert [in_turn(name) for name in ("random", "at-1-of-5", "position-of-1", "position-of-x", "position")] == [
        []
    ] * 5


def test_the_first_documents_and_so_many_tokens() -> None:
    first = {one.name: one.shown([1, 2, 3], [], relevant=1) for one in in_turn("documents-of-3")}
    assert first == {"first-1-of-3": [1], "first-2-of-3": [1, 2], "first-3-of-3": [1, 2, 3]}
    assert [one.fits(3) and not one.fits(4) for one in in_turn("documents-of-3")] == [True] * 3
    lengths = in_turn("truncation-of-6")
    assert [one.tokens for one in lengths] == [2048, 4096, 6144, 8192, 10240, 12288]
    assert lengths[1].name == "upto-4096"
    assert lengths[0].shown([4, 5], [], relevant=4) == [4, 5]
    assert [one.by for one in in_turn("position-of-2-by-rouge2")] == ["rouge2"] * 2
    assert in_turn("infilling-of-5-by-rouge2") == []


def test_an_unknown_experiment_or_size_is_refused() -> None:
    for experiment, size in (("other", 5), (POSITION, 1), (INFILLING, 2), (INFILLING, 51)):
        with pytest.raises(ValueError, match="an experiment is one of position, infilling"):
            arrangements(experiment, size)


def test_others_come_from_as_few_other_sources_as_it_takes_and_by_seed_only() -> None:
    pool = {1: [101, 102], 2: [201, 202, 203], 3: [301]}
    found = drawn_others(4, pool, but=1, seed="a")
    assert found == drawn_others(4, pool, but=1, seed="a")
    assert sorted(found) == [201, 202, 203, 301]
    assert drawn_others(9, pool, but=1, seed="a") == found
    assert len({tuple(drawn_others(1, pool, but=9, seed=str(seed))) for seed in range(20)}) == 3
