"""The plan of insights and documents keeps its bounds, whatever is asked of it."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.synthesis.settings import ImpossiblePlan, plan


@st.composite
def wishes(draw: st.DrawFn) -> tuple[int, int, tuple[int, int], int, int]:
    """Insights, documents, bounds of a document, least documents of an insight, seed."""
    low = draw(st.integers(1, 6))
    bounds = (low, draw(st.integers(low, 9)))
    return (
        draw(st.integers(1, 30)),
        draw(st.integers(1, 40)),
        bounds,
        draw(st.integers(1, 6)),
        draw(st.integers(0)),
    )


@given(wishes())
def test_every_insight_has_its_least_and_no_document_is_above_its_length(
    wish: tuple[int, int, tuple[int, int], int, int],
) -> None:
    n, n_documents, (low, high), at_least, seed = wish

    def make() -> list[tuple[int, ...]]:
        return plan(range(n), n_documents=n_documents, per_document=(low, high), at_least=at_least, seed=seed)

    if at_least > n_documents or n * at_least > n_documents * min(high, n):
        with pytest.raises(ImpossiblePlan):
            make()
        return
    planned = make()
    assert planned == make()
    assert len(planned) == n_documents
    assert all(min(low, n) <= len(held) <= high and len(set(held)) == len(held) for held in planned)
    counts = Counter(insight for held in planned for insight in held)
    assert all(counts[insight] >= at_least for insight in range(n))


def test_another_seed_is_another_plan_and_insights_spread_over_subtopics() -> None:
    insights = [(subtopic, n) for subtopic in range(9) for n in range(7)]
    one, other = (plan(insights, n_documents=100, per_document=(3, 8), at_least=5, seed=seed) for seed in (1, 2))
    assert one != other
    subtopics = [len({subtopic for subtopic, _n in held}) / len(held) for held in one]
    assert sum(subtopics) / len(subtopics) > 0.6


def test_an_impossible_plan_says_how_many_places_there_are() -> None:
    with pytest.raises(ImpossiblePlan, match="need 50 places; 5 documents of at most 8 insights have 40"):
        plan(range(10), n_documents=5, per_document=(3, 8), at_least=5, seed=1)
