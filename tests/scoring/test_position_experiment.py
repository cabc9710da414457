"""Scores of experiments of position, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring.position import Written, mean_scores, relative, scored, shuffled
from benchmarks.scoring.stat import Stat


def text(item: int, said: str, reference: str, **scores: float) -> Written:
    return Written(item, [said], [reference], scores)


def test_means_are_over_the_texts_that_have_the_score() -> None:
    texts = [text(1, "a b", "a b", bertscore=0.8), text(2, "a b", "a c"), text(3, "x", "a c")]
    assert scored(texts[1]) == {"rouge1": 0.5, "rouge2": 0.0, "rougeL": 0.5}
    means = mean_scores(texts, ("rouge1", "rouge2", "bertscore", "other"))
    assert {name: stat.value for name, stat in means.items()} == {
        "rouge1": pytest.approx(0.5), "rouge2": pytest.approx(1 / 3), "bertscore": 0.8, "other": None
    }  # fmt: skip
    assert {name: stat.n_items for name, stat in means.items()} == {
        "rouge1": 3, "rouge2": 3, "bertscore": 1, "other": 0
    }  # fmt: skip


@given(st.integers(2, 30), st.integers(0, 5))
def test_no_text_keeps_its_own_reference_and_every_reference_is_used_once(n: int, seed: int) -> None:
    texts = [text(item, "a", f"reference {item}", bertscore=1.0) for item in range(n)]
    found = shuffled(texts, seed=seed)
    assert [one.item for one in found] == list(range(n))
    assert all(one.reference != before.reference for one, before in zip(found, texts, strict=True))
    assert sorted(one.reference for one in found) == sorted(one.reference for one in texts)
    assert all(not one.scores for one in found)


def test_one_source_cannot_be_shuffled() -> None:
    assert shuffled([text(1, "a", "b"), text(1, "c", "b")]) == []


def test_relative_performance_is_the_mean_over_scores() -> None:
    whole = {"a": Stat(0.5), "b": Stat(20.0), "c": Stat(0.0), "d": Stat.undefined("none")}
    means = {"a": Stat(0.4), "b": Stat(10.0), "c": Stat(0.0), "d": Stat(1.0)}
    assert relative(means, whole) == pytest.approx((0.8 + 0.5) / 2)
    assert relative({"c": Stat(0.1)}, whole) is None
