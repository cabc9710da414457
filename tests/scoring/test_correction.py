"""Means of labels with the help of a judge, and a judge corrected by labels of a random part: worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring.comparison import (
    ALL_LABELLED,
    NOT_JUDGED,
    NOT_LABELLED,
    NOT_RANDOM,
    Judged,
    Text,
    correct,
    powered_mean,
)

BY_HAND = [
    # a: judge .5 on average, .1 kinder than people on the two labelled ones: .4
    Judged("a", 1, 0.4, 0.2),
    Judged("a", 2, 0.6, 0.0),
    Judged("a", 3, 0.5, None),
    Judged("a", 4, 0.5, None),
    # b: judge .3, .1 stricter on the one labelled: .4
    Judged("b", 1, 0.2, -0.1),
    Judged("b", 2, 0.4, None),
]


def test_each_system_is_corrected_by_its_own_difference_and_weighs_by_its_summaries() -> None:
    overall, by_system = correct(BY_HAND, is_random=True, resampling=None)
    assert by_system["a"].raw.value == pytest.approx(0.5)
    assert by_system["a"].corrected.value == pytest.approx(0.4)
    assert by_system["b"].corrected.value == pytest.approx(0.4)
    assert overall.raw.value == pytest.approx(2.6 / 6)
    assert overall.corrected.value == pytest.approx(2.6 / 6 - (4 * 0.1 + 2 * -0.1) / 6)
    assert (overall.n_labelled, overall.raw.n_items) == (3, 6)
    # people's means are .4 and .3; the judge's mean of all is that of the labelled ones, or .1 above it
    assert by_system["a"].powered.value == pytest.approx(0.4)
    assert by_system["b"].powered.value == pytest.approx(0.3 + 0.1 * (by_system["b"].weight or 0))


def test_without_a_random_draw_there_is_no_corrected_score() -> None:
    overall, by_system = correct(BY_HAND, is_random=False)
    assert {one.corrected.undefined_reason for one in (overall, *by_system.values())} == {NOT_RANDOM}
    assert overall.raw.value is not None


def test_a_system_without_a_label_has_none_and_neither_has_the_whole() -> None:
    rows = [*BY_HAND, Judged("c", 1, 0.5, None)]
    overall, by_system = correct(rows, is_random=True)
    assert by_system["c"].corrected.undefined_reason == NOT_LABELLED
    assert overall.corrected.undefined_reason == "1 of 3 systems have no labelled summary"
    assert by_system["a"].corrected.value == pytest.approx(0.4)


def test_nothing_is_corrected_where_all_is_labelled_or_nothing_was_judged() -> None:
    overall, _ = correct([Judged("a", at, 0.5, 0.1) for at in range(9)], is_random=True)
    assert overall.corrected.undefined_reason == ALL_LABELLED
    nothing, none = correct([], is_random=True)
    assert (nothing.corrected.undefined_reason, dict(none)) == (NOT_JUDGED, {})


def test_an_interval_needs_enough_labelled_clusters_whatever_else_was_judged() -> None:
    rng = np.random.default_rng(1)
    rows = [Judged("a", at, float(rng.random()), 0.1 if at < 4 else None) for at in range(600)]
    overall, _ = correct(rows, is_random=True)
    assert overall.raw.low is not None
    assert overall.corrected.low is None
    assert overall.corrected.interval_reason == "no interval under 5 clusters"
    assert overall.corrected.n_clusters == 4


@pytest.mark.nightly
@pytest.mark.parametrize(("n_labelled", "least"), [(8, 0.88), (30, 0.91)])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(n_labelled: int, least: float) -> None:
    """Judges kinder to one system than to the other; people label a draw of subtopics of each."""
    rng = np.random.default_rng(n_labelled)
    held, repetitions = 0, 200
    for _ in range(repetitions):
        human = np.clip(rng.normal(0.5, 0.2, (2, 80)) + rng.normal(0, 0.1, 80), 0, 1)
        judge = np.clip(human + np.array([[0.15], [-0.05]]) + rng.normal(0, 0.15, (2, 80)), 0, 1)
        drawn = [set(rng.choice(80, n_labelled, replace=False).tolist()) for _ in range(2)]
        rows = [
            Judged(str(of), at, judge[of, at], judge[of, at] - human[of, at] if at in drawn[of] else None)
            for of in range(2)
            for at in range(80)
        ]
        corrected = correct(rows, is_random=True)[0].corrected
        held += corrected.low <= human.mean() <= corrected.high
    assert held / repetitions >= least


HUMAN = (0.4, 0.5, 0.2, 0.3, 0.7, 0.6, 0.5, 0.4, 0.3, 0.5, 0.6, 0.8)
JUDGE = (0.3, 0.6, 0.1, 0.4, 0.8, 0.9, 0.5, 0.2, 0.4, 0.7, 0.5, 0.9, 0.4, 0.5, 0.7, 0.8, 0.2, 0.4, 0.5, 0.6)
EXAMPLE = [Text("one", at // 2, judge, HUMAN[at] if at < len(HUMAN) else None) for at, judge in enumerate(JUDGE)]
SHARES = st.floats(0, 1, width=32)


def test_the_worked_example() -> None:
    found = powered_mean(EXAMPLE)
    assert found.weight == pytest.approx(0.8290, abs=5e-5)
    assert found.mean.value == pytest.approx(0.4792, abs=5e-5)
    assert found.se == pytest.approx(0.0593, abs=5e-5)
    assert (found.mean.low, found.mean.high) == (
        pytest.approx(0.3145, abs=5e-5),
        pytest.approx(0.6439, abs=5e-5),
    )
    assert (found.mean.n_items, found.mean.n_clusters) == (12, 6)


@pytest.mark.parametrize(
    ("weight", "value", "low", "high"), [(0, 0.4833, 0.3088, 0.6579), (1, 0.4783, 0.3401, 0.6166)]
)
def test_a_weight_of_0_is_the_labels_alone_and_1_the_difference(
    weight: float, value: float, low: float, high: float
) -> None:
    found = powered_mean(EXAMPLE, weight=weight).mean
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), abs=5e-5)


def test_there_is_no_interval_of_few_clusters_and_no_mean_of_a_stratum_without_labels() -> None:
    few = powered_mean(EXAMPLE[:8])
    assert few.mean.value is not None
    assert (few.mean.low, few.mean.interval_reason) == (None, "no interval under 5 clusters")
    assert (
        powered_mean([*EXAMPLE, Text("two", 99, 0.5, None)]).mean.undefined_reason
        == "a stratum has no labelled text"
    )
    assert powered_mean([]).mean.undefined_reason == "no texts"
    strata = [Text(number, number, 0.1 * number, 0.5) for number in range(6)]
    assert powered_mean(strata).mean.interval_reason == "no interval: as many strata as labelled clusters"


def test_a_judge_that_says_the_same_of_all_texts_adds_nothing() -> None:
    same = [Text(text.stratum, text.cluster, 0.5, text.human) for text in EXAMPLE]
    assert (powered_mean(same).weight, powered_mean(same).mean.value) == (
        0,
        powered_mean(EXAMPLE, weight=0).mean.value,
    )


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 9), SHARES, SHARES, st.booleans()), min_size=1, max_size=40
    )
)
def test_neither_the_order_of_texts_nor_the_names_of_clusters_matter_and_all_labels_give_their_mean(
    rows: list[tuple[str, int, float, float, bool]],
) -> None:
    texts = [
        Text(stratum, cluster, judge, human if is_labelled else None)
        for stratum, cluster, judge, human, is_labelled in rows
    ]
    found = powered_mean(texts)
    turned = powered_mean([Text(one.stratum, f"c{one.cluster}", one.judge, one.human) for one in reversed(texts)])
    assert (found.mean.value is None) == (turned.mean.value is None)
    if found.mean.value is not None and turned.mean.value is not None:
        assert found.mean.value == pytest.approx(turned.mean.value, abs=1e-6)
        assert 0 <= (found.weight or 0) <= 1
    labelled = [Text(one.stratum, one.cluster, one.judge, row[3]) for one, row in zip(texts, rows, strict=True)]
    assert powered_mean(labelled).mean.value == pytest.approx(np.mean([row[3] for row in rows]), abs=1e-6)
