"""A judge's mean corrected by labels of a random part: worked by hand, refused where it would mislead."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.scoring.correction import ALL_LABELLED, NOT_JUDGED, NOT_LABELLED, NOT_RANDOM, Judged, correct

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
        assert corrected.low is not None
        assert corrected.high is not None
        held += corrected.low <= human.mean() <= corrected.high
    assert held / repetitions >= least
