"""Feedback on a practice text, against worked examples and for any verdict."""

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring.sessions import feedback_on
from benchmarks.scoring.summhay import Coverage, Probabilities
from benchmarks.scoring.text import lines_from_list

LINES = lines_from_list(["- Boats leave at six. [1, 4]", "- The pier opens in 2031. [2]"])
NUMBERS = st.frozensets(st.integers(1, 9))


def test_citations_of_the_covering_line_are_right_wrong_or_missing() -> None:
    one = feedback_on(
        text="The ferry leaves at six.",
        gold={1, 2, 3, 9},
        shown={1, 2, 3, 4},
        lines=LINES,
        coverage=Coverage.FULL,
        covering={1},
        probabilities=Probabilities(0.05, 0.1, 0.85),
    )
    assert (one.line, one.is_found, one.is_sure) == ("Boats leave at six.", True, True)
    assert (one.right, one.wrong, one.missing) == ((1,), (4,), (2, 3))


def test_what_is_missed_cites_nothing_and_is_said_to_be_unsure_where_the_judge_is() -> None:
    for probabilities, is_sure in (
        (Probabilities(0.7, 0.2, 0.1), False),
        (None, False),
        (Probabilities(1, 0, 0), True),
    ):
        one = feedback_on(
            text="Fog.",
            gold={1, 2},
            shown={2, 4},
            lines=LINES,
            coverage=Coverage.NONE,
            covering=(),
            probabilities=probabilities,
        )
        assert (one.is_found, one.is_sure, one.line) == (False, is_sure, "")
        assert (one.right, one.wrong, one.missing) == ((), (), (2,))


@given(gold=NUMBERS, shown=NUMBERS, covering=st.frozensets(st.integers(0, 3)))
def test_every_citation_is_right_or_wrong_and_what_is_missing_was_shown_and_not_cited(
    gold: frozenset[int], shown: frozenset[int], covering: frozenset[int]
) -> None:
    one = feedback_on(
        text="",
        gold=gold,
        shown=shown,
        lines=LINES,
        coverage=Coverage.PARTIAL,
        covering=covering,
        probabilities=None,
    )
    cited = {number for line in LINES if line.number in covering for number in line.mentions}
    assert {*one.right, *one.wrong} == cited
    assert not set(one.right) & set(one.wrong)
    assert set(one.missing) == (gold & shown) - cited
