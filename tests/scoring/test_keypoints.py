"""Key point recall, precision and F: worked by hand, and what holds for any counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring.keypoints import (
    Answer,
    BadCounts,
    KeyPointScores,
    SupportedBy,
    band,
    best_and_second,
    scores,
)
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Resampling

FEW = Resampling(n_resamples=50)
DOCUMENTS, KEY_POINTS = SupportedBy.DOCUMENTS, SupportedBy.KEY_POINTS

# Four questions: 3 of 4 key points and 5 of 6 points; 0 of 2 and 0 of 3; no key points; 1 of 1, nothing extracted.
HAND = [
    Answer("a", 4, 3, n_points=6, supported={DOCUMENTS: 5, KEY_POINTS: 3}),
    Answer("b", 2, 0, n_unjudged=1, n_points=3, supported={DOCUMENTS: 0, KEY_POINTS: 0}),
    Answer("c", 0, 0, n_points=2, supported={DOCUMENTS: 2, KEY_POINTS: 0}),
    Answer("d", 1, 1),
]


def test_four_questions_worked_by_hand() -> None:
    found = scores(HAND, resampling=FEW)
    assert found.kpr_macro.value == pytest.approx((3 / 4 + 0 + 1) / 3)
    assert found.kpr_micro.value == pytest.approx(4 / 7)
    assert found.kpp[DOCUMENTS].value == pytest.approx((5 / 6 + 0 + 1) / 3)
    assert found.kpp[KEY_POINTS].value == pytest.approx((3 / 6 + 0 + 0) / 3)
    assert found.kpf[DOCUMENTS].value == pytest.approx((2 * 0.75 * (5 / 6) / (0.75 + 5 / 6) + 0) / 2)
    assert found.kpf[KEY_POINTS].value == pytest.approx((2 * 0.75 * 0.5 / 1.25 + 0) / 2)
    assert (found.n_questions, found.n_key_points, found.n_unjudged) == (4, 7, 1)
    assert (found.n_without_key_points, found.n_not_extracted, found.n_without_points) == (1, 1, 0)
    assert (found.kpr_macro.n_items, found.kpr_micro.n_items) == (3, 7)


def test_the_mean_of_f_is_not_the_f_of_means() -> None:
    rows = [
        Answer("a", 2, 2, n_points=2, supported={DOCUMENTS: 0}),
        Answer("b", 2, 0, n_points=2, supported={DOCUMENTS: 2}),
    ]
    found = scores(rows, resampling=FEW)
    assert (found.kpr_macro.value, found.kpp[DOCUMENTS].value, found.kpf[DOCUMENTS].value) == (0.5, 0.5, 0.0)


def test_silence_has_recall_0_and_f_0_and_no_precision() -> None:
    silent = Answer("a", 3, 0, n_points=0, supported={DOCUMENTS: 0})
    assert (silent.recall, silent.precision(DOCUMENTS), silent.f_score(DOCUMENTS)) == (0.0, None, 0.0)
    assert Answer("a", 3, 0).f_score(DOCUMENTS) is None, "points were never extracted"
    found = scores([silent, Answer("b", 3, 0)], resampling=FEW)
    assert (found.n_not_extracted, found.n_without_points) == (1, 1)


def test_figures_of_nothing_are_undefined_and_say_why() -> None:
    found = scores([Answer("a", 0, 0)], resampling=FEW)
    assert (found.kpr_macro.value, found.kpr_micro.value, found.kpp[DOCUMENTS].value) == (None, None, None)
    assert found.kpr_macro.undefined_reason == "no question has judged key points"
    assert scores([], resampling=FEW).n_answers == 0


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(BadCounts):
        Answer("a", 2, 3)
    with pytest.raises(BadCounts):
        Answer("a", 2, 1, n_points=1, supported={DOCUMENTS: 2})
    with pytest.raises(BadCounts):
        Answer("a", 2, 1, supported={DOCUMENTS: 0})


def test_several_systems_on_a_question_are_one_cluster() -> None:
    rows = [Answer(question, 4, hits) for question in range(6) for hits in (1, 3)]
    assert scores(rows, resampling=FEW).kpr_macro.n_clusters == 6
    assert scores(rows, resampling=FEW).n_questions == 6


def test_lengths_fall_into_bands() -> None:
    edges = (4000, 8000, 16000)
    assert [band(n, edges) for n in (3999, 4000, 7999, 8000, 16000)] == [
        "under 4,000",
        "4,000–7,999",
        "4,000–7,999",
        "8,000–15,999",
        "16,000 and more",
    ]


def test_equals_share_the_best_place_and_undefined_have_none() -> None:
    column = {"m": Stat(0.6), "n": Stat(0.6), "o": Stat(0.5), "p": Stat(0.1), "q": Stat.undefined("none")}
    assert best_and_second(column) == ({"m", "n"}, {"o"})
    assert best_and_second({"q": Stat.undefined("none")}) == (frozenset(), frozenset())


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    n, points = draw(st.integers(0, 6)), draw(st.none() | st.integers(0, 6))
    supported = None if points is None else {by: draw(st.integers(0, points)) for by in SupportedBy}
    return Answer(draw(st.integers(0, 5)), n, draw(st.integers(0, n)), n_points=points, supported=supported)


def values(found: KeyPointScores) -> list[float]:
    stats = [found.kpr_macro, found.kpr_micro, *found.kpp.values(), *found.kpf.values()]
    return [stat.value for stat in stats if stat.value is not None]


@given(st.lists(answers(), max_size=8))
def test_figures_are_shares_and_no_order_of_answers_matters(rows: list[Answer]) -> None:
    forward, backward = scores(rows, resampling=FEW), scores(rows[::-1], resampling=FEW)
    assert all(-1e-12 <= value <= 1 + 1e-12 for value in values(forward))
    assert values(forward) == pytest.approx(values(backward))


@given(answers(), st.sampled_from(list(SupportedBy)))
def test_f_lies_between_recall_and_precision(row: Answer, by: SupportedBy) -> None:
    recall, precision, f_score = row.recall, row.precision(by), row.f_score(by)
    if recall is not None and precision is not None:
        assert f_score <= (recall + precision) / 2 + 1e-12
        assert min(recall, precision) - 1e-12 <= f_score <= max(recall, precision) + 1e-12
