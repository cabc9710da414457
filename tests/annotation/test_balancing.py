"""The dealing of subtopics to people, without a database."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from annotation.balancing import Opening, deal


@st.composite
def settings(draw: st.DrawFn) -> tuple[list[int], list[Opening], bool]:
    people = list(range(draw(st.integers(1, 6))))
    n_haystacks = draw(st.integers(1, 4))
    openings = [
        Opening(haystack * 10 + subtopic, haystack, draw(st.integers(0, 4)))
        for haystack in range(n_haystacks)
        for subtopic in range(draw(st.integers(1, 4)))
    ]
    return people, openings, draw(st.booleans())


@given(settings())
def test_loads_differ_by_at_most_one_when_everybody_may_do_everything(
    case: tuple[list[int], list[Opening], bool],
) -> None:
    people, openings, one_per_haystack = case
    allowed = {(person, opening.subtopic_id) for person in people for opening in openings}
    pairs = deal(people, openings, allowed=allowed, one_per_haystack=one_per_haystack)
    load = Counter(person for person, _ in pairs)
    counts = [load[person] for person in people]
    assert max(counts) - min(counts) <= 1


@given(settings(), st.data())
def test_only_allowed_pairs_are_dealt_and_nobody_gets_too_much(
    case: tuple[list[int], list[Opening], bool], data: st.DataObject
) -> None:
    people, openings, one_per_haystack = case
    every = [(person, opening.subtopic_id) for person in people for opening in openings]
    allowed = data.draw(st.sets(st.sampled_from(every)))
    max_tasks = data.draw(st.none() | st.integers(0, 3))
    pairs = deal(people, openings, allowed=allowed, one_per_haystack=one_per_haystack, max_tasks=max_tasks)
    assert set(pairs) <= allowed
    assert len(set(pairs)) == len(pairs)
    per_subtopic = Counter(subtopic for _, subtopic in pairs)
    assert all(per_subtopic[opening.subtopic_id] <= opening.wanted for opening in openings)
    if one_per_haystack:
        assert max(Counter((person, subtopic // 10) for person, subtopic in pairs).values(), default=0) <= 1
    if max_tasks is not None:
        assert max(Counter(person for person, _ in pairs).values(), default=0) <= max_tasks


def test_every_opening_is_filled_when_enough_people_may() -> None:
    openings = [Opening(1, 1, 2), Opening(2, 1, 2), Opening(3, 2, 3)]
    allowed = {(person, subtopic) for person in (1, 2, 3, 4) for subtopic in (1, 2, 3)}
    pairs = deal([1, 2, 3, 4], openings, allowed=allowed)
    assert Counter(subtopic for _, subtopic in pairs) == {1: 2, 2: 2, 3: 3}


def test_few_people_cover_many_subtopics_before_any_gets_a_second_writer() -> None:
    openings = [Opening(1, 1, 2), Opening(2, 1, 2), Opening(3, 1, 2)]
    allowed = {(person, subtopic) for person in (1, 2) for subtopic in (1, 2, 3)}
    assert sorted(subtopic for _, subtopic in deal([1, 2], openings, allowed=allowed)) == [1, 2]


def test_a_subtopic_that_has_a_writer_waits_behind_one_that_has_none() -> None:
    openings = [Opening(1, 1, 1, n_have=1), Opening(2, 1, 2)]
    assert deal([5], openings, allowed={(5, 1), (5, 2)}) == [(5, 2)]


def test_the_person_with_less_to_do_comes_first() -> None:
    assert deal([1, 2], [Opening(9, 1, 1)], allowed={(1, 9), (2, 9)}, load={1: 3, 2: 1}) == [(2, 9)]
