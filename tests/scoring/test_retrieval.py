"""Retrieval quality against figures computed by hand and by scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from benchmarks.scoring.retrieval import NO_GOLD, Retrieved, ndcg, qualities, retrieved
from benchmarks.scoring.summhay import select_by_scores

DOCUMENTS = [(1, 400), (2, 400), (3, 400), (4, 400), (5, 400)]
GOLDS = (frozenset({1, 2, 5}), frozenset({2}), frozenset({3}))
SCORES = {1: 0.2, 2: 0.9, 3: 0.1, 4: 0.5, 5: 0.2}


def example(**changes: Any) -> Retrieved:
    given: dict[str, Any] = {"documents": DOCUMENTS, "scores": SCORES, "golds": GOLDS, "token_budget": 1_200}
    return retrieved(subtopic=1, **{**given, **changes})


def test_the_worked_example_of_the_docs() -> None:
    # 500 tokens each: 2, 4 and then 1 (before 5, its equal) reach 1,500 and cross the budget
    found = example()
    assert found.n_documents == 3
    assert found.recall_documents == 2 / 4
    assert found.recall_insights == 2 / 3
    dcg, best = 2 + 0 + 1 / math.log2(4), 2 + 1 / math.log2(3) + 1 / math.log2(4)
    assert found.ndcg == pytest.approx(dcg / best) == pytest.approx(0.7985, abs=5e-5)


def test_the_oracle_reaches_the_most_that_fits() -> None:
    found = example(scores={number: sum(number in gold for gold in GOLDS) for number, _words in DOCUMENTS})
    assert (found.ndcg, found.recall_documents, found.recall_insights) == (1.0, 3 / 4, 1.0)


def test_documents_without_a_score_are_not_found() -> None:
    found = example(scores={2: 0.1}, token_budget=10**6)
    assert (found.n_documents, found.recall_documents, found.recall_insights) == (1, 1 / 4, 2 / 3)
    assert example(scores={}).ndcg == 0.0


def test_a_subtopic_without_gold_documents_has_no_figure() -> None:
    found = example(golds=(frozenset(), frozenset({99})))
    assert (found.ndcg, found.recall_documents, found.recall_insights) == (None, None, None)
    quality = qualities({"x": [found]})["x"]
    assert (quality.ndcg.value, quality.ndcg.undefined_reason, quality.n_without_gold) == (None, NO_GOLD, 1)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=12), st.integers(1, 12), st.randoms())
def test_ndcg_is_that_of_scikit_learn(gains: list[int], k: int, lot: Any) -> None:
    order = list(range(len(gains)))
    lot.shuffle(order)
    ours = ndcg([float(gains[at]) for at in order[:k]], gains)
    if not any(gains):
        assert ours is None
        return
    scores = np.zeros(len(gains))
    scores[order] = np.arange(len(gains), 0, -1)
    assert ours == pytest.approx(ndcg_score([gains], [scores], k=min(k, len(gains))))


@given(st.dictionaries(st.integers(1, 9), st.floats(-5, 5), min_size=1), st.integers(1, 9000))
def test_documents_are_taken_by_score_until_the_budget_is_crossed(scores: dict[int, float], budget: int) -> None:
    documents = [(number, 100 * number) for number in range(1, 10)]
    taken = select_by_scores(documents, scores, token_budget=budget).numbers
    assert list(taken) == sorted(scores, key=lambda number: (-scores[number], number))[: len(taken)]
    used = sum(125 * number for number in taken)
    assert used >= budget or len(taken) == len(scores)
    assert used - 125 * taken[-1] < budget


def test_means_are_over_subtopics_and_all_draw_the_same_ones() -> None:
    good = [Retrieved(at, 3, 4, at % 4, 3, 1, at / 8) for at in range(8)]
    found = qualities({"a": good, "b": good[:3]})
    assert found["a"].recall_documents.value == (0 + 1 + 2 + 3) / 4 / 4
    assert found["a"].recall_documents.low is not None
    assert found["a"].n_subtopics == 8
    assert found["b"].recall_documents.low is None
    assert qualities({"a": good}, resampling=None)["a"].ndcg.low is None
