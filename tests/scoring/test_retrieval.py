"""Retrieval quality by hand and by scikit-learn, and the documents that an oracle shows."""

import json
import math
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from benchmarks.scoring.retrieval import NO_GOLD, Retrieved, ndcg, qualities, retrieved
from benchmarks.scoring.summhay import attainable_ceiling, reading_minutes, select_by_scores, select_documents
from benchmarks.scoring.text import lines_from_list

DOCUMENTS = [(1, 400), (2, 400), (3, 400), (4, 400), (5, 400)]
GOLDS = (frozenset({1, 2, 5}), frozenset({2}), frozenset({3}))
SCORES = {1: 0.2, 2: 0.9, 3: 0.1, 4: 0.5, 5: 0.2}


def example(**changes) -> Retrieved:
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
def test_ndcg_is_that_of_scikit_learn(gains: list[int], k: int, lot) -> None:
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


def test_most_insights_first_and_ties_to_the_lower_number() -> None:
    documents = [(4, 10), (3, 10), (2, 10), (1, 10)]
    chosen = select_documents(documents, {1: 1, 2: 3, 3: 3, 4: 2})
    assert chosen.numbers == (2, 3, 4, 1)
    assert chosen.n_words == 40


def test_the_document_that_crosses_the_budget_is_the_last() -> None:
    documents = [(number, 100) for number in range(1, 6)]
    counts = dict.fromkeys(range(1, 6), 1)
    assert select_documents(documents, counts, token_budget=250).numbers == (1, 2)
    assert select_documents(documents, counts, token_budget=251).numbers == (1, 2, 3)
    assert select_documents(documents, counts, token_budget=0).numbers == ()


def test_documents_without_an_insight_come_only_when_asked_for() -> None:
    documents = [(1, 100), (2, 100), (3, 100)]
    assert select_documents(documents, {2: 1}).numbers == (2,)
    assert select_documents(documents, {2: 1}, include_zero=True).numbers == (2, 1, 3)
    assert select_documents([], {}).numbers == ()


def test_twelve_thousand_words_are_an_hour() -> None:
    assert reading_minutes(12_000) == 60


@given(
    st.dictionaries(st.integers(1, 30), st.tuples(st.integers(0, 400), st.integers(0, 4)), max_size=20),
    st.integers(0, 3000),
    st.booleans(),
    st.randoms(),
)
def test_without_its_last_document_a_selection_is_under_budget(
    rows: dict[int, tuple[int, int]], budget: int, include_zero: bool, random: Random
) -> None:
    documents = [(number, words) for number, (words, _) in rows.items()]
    counts = {number: count for number, (_, count) in rows.items()}
    chosen = select_documents(documents, counts, token_budget=budget, include_zero=include_zero)
    random.shuffle(documents)
    assert select_documents(documents, counts, token_budget=budget, include_zero=include_zero) == chosen
    words = [rows[number][0] for number in chosen.numbers]
    assert chosen.n_words == sum(words)
    assert not words or sum(words[:-1]) * 1.25 < budget
    assert include_zero or all(counts[number] for number in chosen.numbers)


def test_the_published_oracle_summaries_cite_what_the_rule_selects(published: Path) -> None:
    topic = json.loads((published / "topic_news1.json").read_text())
    documents = [(number, len(row["document_text"].split())) for number, row in enumerate(topic["documents"], 1)]
    cited_and_selected = cited = 0
    ceilings = []
    for subtopic in topic["subtopics"]:
        keys = {row["insight_id"] for row in subtopic["insights"]}
        counts = {
            number: sum(key in keys for key in row["insights_included"])
            for number, row in enumerate(topic["documents"], 1)
        }
        chosen = select_documents(documents, counts, include_zero=True)
        mentions: Counter[int] = Counter()
        for key, summary in subtopic["summaries"].items():
            if "_oracle_" in key:
                mentions.update({number for line in lines_from_list(summary) for number in line.citations})
        known = {number for number, times in mentions.items() if times >= 2 and 1 <= number <= 100}
        cited += len(known)
        cited_and_selected += len(known & set(chosen.numbers))
        golds = [
            frozenset(n for n, row in enumerate(topic["documents"], 1) if key in row["insights_included"])
            for key in keys
        ]
        ceilings.append(attainable_ceiling(golds, select_documents(documents, counts).numbers))
    assert (cited, cited_and_selected) == (137, 136)
    assert all(ceiling.n_without_gold == 0 for ceiling in ceilings)
    recalls = [ceiling.recall.value for ceiling in ceilings]
    assert recalls.count(1.0) == 2
    assert all(recall is not None and 0.59 < recall <= 1 for recall in recalls)
