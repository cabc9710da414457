"""The order of review: flagged first, a seeded sample of the clear ones, some verdicts hidden."""

from hypothesis import given
from hypothesis import strategies as st

from extensions.synthesis.models import PartState, SynthesisPart
from extensions.synthesis.overview import is_blind, queue, shared_words


def part(n: int, state: str, *, is_flagged: bool) -> SynthesisPart:
    return SynthesisPart(kind="document", number=n, state=state, data={"flags": ["leaks"] * is_flagged})


places = st.lists(st.tuples(st.sampled_from(PartState.values), st.booleans()), max_size=60).map(
    lambda rows: [part(n, state, is_flagged=flag) for n, (state, flag) in enumerate(rows)]
)


@given(places, st.integers(0, 9), st.integers(0, 30))
def test_each_part_that_is_there_has_one_place(found: list[SynthesisPart], seed: int, n: int) -> None:
    made = queue(found, seed=seed, n_sample=n)
    alive = [place for place in found if place.state not in {PartState.REGENERATED, PartState.PROPOSED}]
    assert sorted(place.uid for place in made.order) == sorted(place.uid for place in alive)
    assert all(place.data["flags"] or place.state == PartState.STALE for place in made.first)
    assert not any(place.data["flags"] for place in made.rest)
    assert made == queue(found, seed=seed, n_sample=n)


def test_about_one_verdict_in_ten_is_hidden_and_does_not_show_by_its_place() -> None:
    found = [part(n, PartState.FLAGGED, is_flagged=True) for n in range(1000)]
    made = queue(found, seed=4)
    assert 60 < len(made.sample) < 140
    assert all(is_blind(4, place) for place in made.sample)
    assert not any(is_blind(4, place) for place in made.first)


def test_shared_words_are_marked_and_the_text_stays_whole() -> None:
    pieces = list(shared_words("The bell rang 77 times, a bell.", "Bell no. 77"))
    assert "".join(piece for piece, _ in pieces) == "The bell rang 77 times, a bell."
    assert [piece for piece, is_shared in pieces if is_shared] == ["bell", "77", "bell"]
