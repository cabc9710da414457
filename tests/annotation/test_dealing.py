"""Dealing, without a database: even work, whole groups, what is held or barred, joiners and leavers."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from annotation.studies.dealing import Deal, Group, Item, Pair, control_group, deal

SEEDS = st.integers(0, 2**63 - 1)
QUESTIONS = st.lists(
    st.tuples(st.integers(1, 30), st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=40
)
PEOPLE = st.integers(1, 5).map(lambda n: list(range(100, 100 + n)))
Questions = list[tuple[int, str, str]]


@st.composite
def topics(draw: st.DrawFn) -> tuple[list[int], list[Group], bool]:
    people = list(range(draw(st.integers(1, 6))))
    n_haystacks = draw(st.integers(1, 4))
    one_per_haystack = draw(st.booleans())
    groups = [
        Group(
            haystack * 10 + subtopic,
            wanted=draw(st.integers(0, 4)),
            cluster=haystack if one_per_haystack else None,
        )
        for haystack in range(n_haystacks)
        for subtopic in range(draw(st.integers(1, 4)))
    ]
    return people, groups, one_per_haystack


@given(topics())
def test_loads_differ_by_at_most_one_when_everybody_may_do_everything(
    case: tuple[list[int], list[Group], bool],
) -> None:
    people, groups, _one_per_haystack = case
    load = Counter(person for person, _ in deal(groups, people, seed="1").given)
    counts = [load[person] for person in people]
    assert max(counts) - min(counts) <= 1


@given(topics(), st.data())
def test_only_allowed_pairs_are_dealt_and_nobody_gets_too_much(
    case: tuple[list[int], list[Group], bool], data: st.DataObject
) -> None:
    people, groups, one_per_haystack = case
    every = {(person, group.pk) for person in people for group in groups}
    allowed = data.draw(st.sets(st.sampled_from(sorted(every))))
    cap = data.draw(st.none() | st.integers(0, 3))
    caps = {} if cap is None else dict.fromkeys(people, cap)
    pairs = deal(groups, people, seed="1", barred=every - allowed, caps=caps).given
    assert set(pairs) <= allowed
    assert len(set(pairs)) == len(pairs)
    per_subtopic = Counter(subtopic for _, subtopic in pairs)
    assert all(per_subtopic[group.pk] <= group.wanted for group in groups)
    if one_per_haystack:
        assert max(Counter((person, subtopic // 10) for person, subtopic in pairs).values(), default=0) <= 1
    if cap is not None:
        assert max(Counter(person for person, _ in pairs).values(), default=0) <= cap


def test_every_opening_is_filled_when_enough_people_may() -> None:
    groups = [Group(1, wanted=2, cluster=1), Group(2, wanted=2, cluster=1), Group(3, wanted=3, cluster=2)]
    pairs = deal(groups, [1, 2, 3, 4], seed="1").given
    assert Counter(subtopic for _, subtopic in pairs) == {1: 2, 2: 2, 3: 3}


def test_few_people_cover_many_subtopics_before_any_gets_a_second_writer() -> None:
    groups = [Group(pk, wanted=2, cluster=1) for pk in (1, 2, 3)]
    for seed in "abcdefgh":
        covered = [subtopic for _, subtopic in deal(groups, [1, 2], seed=seed).given]
        assert len(covered) == len(set(covered)) == 2


def test_a_subtopic_that_has_a_writer_waits_behind_one_that_has_none() -> None:
    groups = [Group(1, wanted=2, cluster=1), Group(2, wanted=2, cluster=1)]
    assert deal(groups, [5], seed="1", fixed={(7, 1)}).given == ((5, 2),)


def test_the_person_with_less_to_do_comes_first() -> None:
    groups = [Group(9), *(Group(pk, wanted=0) for pk in (1, 2, 3, 4))]
    held = {(1, 1), (1, 2), (1, 3), (2, 4)}
    for seed in "abcdefgh":
        assert deal(groups, [1, 2], seed=seed, fixed=held).given == ((2, 9),)


@given(st.integers(0, 40), st.integers(1, 6), st.integers(1, 6), st.sets(st.integers(0, 39)), SEEDS)
def test_everyone_has_the_overlap_and_the_rest_is_even(
    n_items: int, n_people: int, per_item: int, marked: set[int], seed: int
) -> None:
    items, people = list(range(n_items)), list(range(1000, 1000 + n_people))
    overlap = marked & set(items)
    groups = [Group(item, wanted=per_item, is_for_everyone=item in overlap) for item in items]
    pairs = deal(groups, people, seed=str(seed)).given
    assert len(set(pairs)) == len(pairs)
    holders = Counter(item for _person, item in pairs)
    assert all(holders[item] == n_people for item in overlap)
    assert all(holders[item] == min(per_item, n_people) for item in set(items) - overlap)
    loads = Counter(dict.fromkeys(people, 0))
    loads.update(person for person, _item in pairs)
    assert max(loads.values()) - min(loads.values()) <= 1
    assert pairs == deal(groups[::-1], people[::-1], seed=str(seed)).given


@given(
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 20))),
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 20))),
    SEEDS,
)
def test_nobody_gets_what_is_barred_or_held_already(
    barred: set[tuple[int, int]], held: set[tuple[int, int]], seed: int
) -> None:
    items = list(range(21))
    groups = [Group(item, wanted=2, is_for_everyone=item in {0, 7}) for item in items]
    pairs = deal(groups, range(5), seed=str(seed), barred=barred, fixed=held).given
    assert not set(pairs) & (barred | held)
    holders = Counter(item for _person, item in set(pairs) | held)
    for item in items:
        free = {person for person in range(5) if (person, item) not in barred | held}
        wanted = 5 if item in {0, 7} else 2
        n_held = sum(thing == item for _person, thing in held)
        assert holders[item] == min(max(wanted, n_held), n_held + len(free))


def paper() -> Questions:
    """560 questions, 7 for each of 8 categories and 10 domains, with 8,457 key points."""
    return [(15 + (pk < 57), f"category {pk % 8}", f"domain {pk // 8 % 10}") for pk in range(560)]


def asked(questions: Questions, *, seed: int, wanted: int = 1) -> list[Group]:
    """The questions as groups, those of the control group for everyone."""
    items = [Item(pk, (category, domain)) for pk, (_n, category, domain) in enumerate(questions, 1)]
    control = set(control_group(items, seed=seed))
    return [Group(pk, n, wanted, pk in control) for pk, (n, *_strata) in enumerate(questions, 1)]


def control_of(groups: Iterable[Group]) -> list[int]:
    return [group.pk for group in groups if group.is_for_everyone]


def dealt(
    groups: Sequence[Group],
    people: Iterable[int],
    *,
    seed: int,
    fixed: Collection[Pair] = (),
    movable: Collection[Pair] = (),
) -> Deal:
    return deal(groups, people, seed=str(seed), fixed=fixed, movable=movable)


def loads(pairs: Collection[Pair], groups: Iterable[Group], people: Iterable[int]) -> list[int]:
    points = {group.pk: group.size for group in groups if not group.is_for_everyone}
    return [sum(points.get(pk, 0) for who, pk in pairs if who == person) for person in people]


def test_the_paper_has_its_key_points() -> None:
    assert sum(n for n, *_strata in paper()) == 8457


@given(QUESTIONS, PEOPLE, SEEDS, st.integers(1, 3))
def test_everyone_gets_the_control_group_and_the_rest_is_dealt_once_and_evenly(
    questions: Questions, people: list[int], seed: int, per_question: int
) -> None:
    groups = asked(questions, seed=seed, wanted=per_question)
    control, found = control_of(groups), dealt(groups, people, seed=seed)
    pairs = set(found.given)
    assert found.taken == ()
    assert all((person, pk) in pairs for person in people for pk in control)
    holders = Counter(pk for _, pk in pairs if pk not in control)
    wanted = min(per_question, len(people))
    assert all(holders[group.pk] == wanted for group in groups if group.pk not in control)
    largest = max(group.size for group in groups)
    if per_question == 1:
        work = loads(pairs, groups, people)
        assert max(work) - min(work) <= largest
    assert found == dealt(groups[::-1], people[::-1], seed=seed)


@given(QUESTIONS, PEOPLE, SEEDS, st.data())
def test_dealing_again_changes_nothing(
    questions: Questions, people: list[int], seed: int, data: st.DataObject
) -> None:
    groups = asked(questions, seed=seed)
    first = dealt(groups, people, seed=seed)
    begun = data.draw(st.sets(st.sampled_from(first.given)))
    again = dealt(groups, people, seed=seed, fixed=begun, movable=set(first.given) - begun)
    assert (again.given, again.taken) == ((), ())


@given(QUESTIONS, PEOPLE, SEEDS, st.data())
def test_a_late_joiner_gets_the_control_group_and_takes_over_what_nobody_began(
    questions: Questions, people: list[int], seed: int, data: st.DataObject
) -> None:
    groups = asked(questions, seed=seed)
    control = control_of(groups)
    first = dealt(groups, people, seed=seed)
    begun = data.draw(st.sets(st.sampled_from(first.given)))
    movable = set(first.given) - begun
    later = dealt(groups, [*people, 999], seed=seed, fixed=begun, movable=movable)
    assert all((999, pk) in later.given for pk in control)
    assert set(later.taken) <= movable
    after = begun | (movable - set(later.taken)) | set(later.given)
    assert Counter(pk for _, pk in after if pk not in control) == Counter(
        group.pk for group in groups if group.pk not in control
    )
    if not begun:
        work = loads(after, groups, [*people, 999])
        assert max(work) - min(work) <= max(group.size for group in groups)


@given(QUESTIONS, st.integers(2, 5), SEEDS, st.data())
def test_what_a_leaver_did_counts_and_the_rest_goes_to_the_others(
    questions: Questions, n: int, seed: int, data: st.DataObject
) -> None:
    people = list(range(n))
    groups = asked(questions, seed=seed)
    control = control_of(groups)
    first = dealt(groups, people, seed=seed)
    done = data.draw(st.sets(st.sampled_from(first.given)))
    movable = set(first.given) - done
    later = dealt(groups, people[1:], seed=seed, fixed=done, movable=movable)
    after = done | (movable - set(later.taken)) | set(later.given)
    assert {pair for pair in after if pair[0] == 0} == {pair for pair in done if pair[0] == 0}
    holders = Counter(pk for _, pk in after if pk not in control)
    assert all(holders[group.pk] == 1 for group in groups if group.pk not in control)


def test_a_joiner_ends_with_a_fair_share_when_little_was_begun() -> None:
    questions, people = paper(), [1, 2, 3]
    groups = asked(questions, seed=4)
    first = set(dealt(groups, people, seed=4).given)
    later = dealt(groups, [*people, 4], seed=4, movable=first)
    work = loads((first - set(later.taken)) | set(later.given), groups, [*people, 4])
    assert max(work) - min(work) <= 16


def test_four_people_get_as_many_key_points_of_the_paper() -> None:
    groups = asked(paper(), seed=1)
    work = loads(set(dealt(groups, [1, 2, 3, 4], seed=1).given), groups, [1, 2, 3, 4])
    assert max(work) - min(work) <= 1
