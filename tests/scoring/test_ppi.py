"""Means of people's labels with the help of a judge: the worked example, and what has to hold of any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring.correction import Text, powered_mean

HUMAN = (0.4, 0.5, 0.2, 0.3, 0.7, 0.6, 0.5, 0.4, 0.3, 0.5, 0.6, 0.8)
JUDGE = (0.3, 0.6, 0.1, 0.4, 0.8, 0.9, 0.5, 0.2, 0.4, 0.7, 0.5, 0.9, 0.4, 0.5, 0.7, 0.8, 0.2, 0.4, 0.5, 0.6)
EXAMPLE = [Text("one", at // 2, judge, HUMAN[at] if at < len(HUMAN) else None) for at, judge in enumerate(JUDGE)]


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


SHARES = st.floats(0, 1, width=32)


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
