"""Documents by score until a budget of tokens is reached, the last one cut exactly there."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.summarizers.documents import CL100K, WORDS, Cut, beginning, filled, size_of

RANKED = [(4, "one two three four"), (9, "five six seven eight"), (1, "nine ten")]


def test_the_document_that_reaches_the_budget_is_cut_there() -> None:
    assert filled(RANKED, 8, tokens=WORDS) == ([4, 9], Cut(WORDS, len("five six"), 6))
    assert filled(RANKED, 5, tokens=WORDS) == ([4], Cut(WORDS, len(RANKED[0][1]), 4))
    assert filled(RANKED, 100, tokens=WORDS) == ([4, 9, 1], None)
    assert filled([], 5, tokens=WORDS) == ([], None)


def test_tokens_of_cl100k_are_counted_and_a_character_is_never_cut_in_two() -> None:
    pytest.importorskip("bpe_openai")
    text = "Hello wörld <|endoftext|> 👩‍🚀 done"
    assert size_of("Hello wörld", CL100K) == 4
    kept = [text[: beginning(text, n, CL100K)] for n in range(int(size_of(text, CL100K)) + 1)]
    assert kept[:5] == ["", "Hello", "Hello w", "Hello wör", "Hello wörld"]
    assert kept[-1] == text
    assert all(text.startswith(part) for part in kept)


@given(st.lists(st.text(max_size=60), max_size=5), st.integers(1, 40))
def test_what_is_shown_never_has_more_tokens_than_the_budget(texts: list[str], budget: int) -> None:
    pytest.importorskip("bpe_openai")
    ranked: list[Any] = list(enumerate(texts))
    numbers, cut = filled(ranked, budget, tokens=CL100K)
    shown = [texts[number] for number in numbers]
    if cut is not None:
        shown[-1] = shown[-1][: cut.characters]
        assert cut.words == sum(len(text.split()) for text in shown)
        assert sum(size_of(text, CL100K) for text in shown[:-1]) < budget
    else:
        assert numbers == list(range(len(texts)))
        assert sum(size_of(text, CL100K) for text in shown) < budget


def test_what_every_published_retriever_chose_is_exactly_15_000_tokens(published: Path) -> None:
    encoding = pytest.importorskip("bpe_openai").get_encoding("cl100k_base")
    topic = json.loads((published / "topic_news1.json").read_text())
    tokens = {row["document_id"]: encoding.encode_ordinary(row["document_text"]) for row in topic["documents"]}
    ids = list(tokens)
    texts = {at: row["document_text"] for at, row in enumerate(topic["documents"])}
    n = 0
    for subtopic in topic["subtopics"]:
        for scores in subtopic["retriever"].values():
            ranked = sorted(texts, key=lambda at: -scores[ids[at]])
            numbers, cut = filled(((at, texts[at]) for at in ranked), 15_000, tokens=CL100K)
            assert numbers == ranked[: len(numbers)]
            *whole, last = numbers
            left = 15_000 - sum(len(tokens[ids[at]]) for at in whole)
            assert 0 < left <= len(tokens[ids[last]])
            assert texts[last][: cut.characters] == encoding.decode(tokens[ids[last]][:left])
            n += 1
    assert n == 9 * 6
