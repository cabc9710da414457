"""Fields of prompts under our names and under those of published prompts."""

from __future__ import annotations

import pytest

from benchmarks.summarizers.prompt_fields import (
    facts,
    fields_in,
    filled,
    has_documents,
    length_in_words,
    worded_documents,
)

PASSAGES = [(7, "The pier [QUERY] is {topic}."), (2, "Seals.")]


def nothing(number: int) -> str:
    return ""


def test_fields_are_filled_in_at_once_so_that_documents_are_never_read_as_prompts() -> None:
    values = {"topic": lambda: "a {query}", "query": lambda: "Why?"}
    documents = worded_documents(PASSAGES, (), of_source=False, mark=nothing)
    text = filled("{topic}: {documents} – [QUERY] {unknown} [Format]", {**values, **documents})
    assert text == "a {query}: [7] The pier [QUERY] is {topic}.\n\n[2] Seals. – Why? {unknown} [Format]"


@pytest.mark.parametrize(("field", "head"), [("[ARTICLES]", "Article"), ("[CONVERSATIONS]", "Conversation")])
def test_published_prompts_head_documents_as_their_code_does(field: str, head: str) -> None:
    assert has_documents(f"x {field}")
    documents = worded_documents([(7, "A b."), (2, "C.")], (), of_source=False, mark=nothing)
    assert filled(field, documents) == f"{head} 7:\nA b.\n\n{head} 2:\nC.\n\n"


def test_fields_of_the_two_papers_do_not_mix() -> None:
    assert fields_in("[n] points of [text], [N_insights]") == {"n_insights"}
    assert fields_in("[n] points of [text], [N_insights]", of_source=True) == {"n_sentences", "documents"}
    assert not has_documents("[text]")


def test_documents_of_a_source_have_no_numbers_but_marks_where_one_is_meant() -> None:
    plain = worded_documents([(1, "A."), (2, "B.")], (), of_source=True, mark=nothing)
    assert filled("{documents}", plain) == "A.\n\nB."
    marked = worded_documents([(1, "A."), (2, "B.")], (), of_source=True, mark=lambda n: f" ({n == 2})")
    assert filled("{documents}", marked) == "(False)\nA.\n\n(True)\nB."
    noted = worded_documents([], ("One.", "Two."), of_source=True, mark=nothing)
    assert filled("[text]", noted, of_source=True) == "One.\n\nTwo."


def test_what_is_not_known_has_no_line_and_no_length_from_means_at_most() -> None:
    assert facts(topic="Ferries", participants="", subtopic="noise") == "Topic: Ferries\nSubtopic: noise"
    assert (length_in_words(200, 300), length_in_words(None, 300)) == ("200 to 300 words", "at most 300 words")
