"""The documents an oracle shows."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scoring.summhay import attainable_ceiling, reading_minutes, select_documents
from benchmarks.scoring.text import lines_from_list


def test_most_insights_first_and_ties_to_the_lower_number() -> None:
    documents = [(4, 10), (3, 10), (2, 10), (1, 10)]
    chosen = select_documents(documents, {1: 1, 2: 3, 3: 3, 4: 2})
    assert chosen.numbers == (2, 3, 4, 1)
    assert (chosen.n_words, chosen.tokens) == (40, 50.0)


def test_the_document_that_crosses_the_budget_is_the_last() -> None:
    documents = [(number, 100) for number in range(1, 6)]
    counts = dict.fromkeys(range(1, 6), 1)
    assert select_documents(documents, counts, token_budget=250).numbers == (1, 2)
    assert select_documents(documents, counts, token_budget=251).numbers == (1, 2, 3)
    assert select_documents(documents, counts, token_budget=0).numbers == ()


def test_documents_without_an_insight_come_only_when_asked_for() -> None:
    documents = [(1, 100), (2, 100), (3, 100)]
    assert select_documents(documents, {2: 1}).numbers == (2,)
    everything = select_documents(documents, {2: 1}, include_zero=True)
    assert everything.numbers == (2, 1, 3)
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
                lines = lines_from_list(summary)
                mentions.update({number for line in lines for number in line.citations})
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
