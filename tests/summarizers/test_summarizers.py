"""Summarizers without a database: orders, blocks, truncation, what counts as a summary, the offline baseline."""

import pytest

from benchmarks.judges.questions import BadConfiguration
from benchmarks.summarizers.conditions import read_summary
from benchmarks.summarizers.config import (
    ExtractiveConfig,
    SummarizerConfig,
    facts,
    fields_in,
    filled,
    has_documents,
    length_in_words,
    worded_documents,
)
from benchmarks.summarizers.documents import blocks, in_order, truncated
from benchmarks.summarizers.extractive import summarize

SERVER = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}


def test_orders_move_the_documents_of_the_subtopic_and_keep_the_rest_as_drawn() -> None:
    held = {3: 2, 7: 1}
    drawn = in_order(range(1, 21), "random", n_insights=held, seed="a")
    assert sorted(drawn) == list(range(1, 21))
    assert drawn != list(range(1, 21))
    assert drawn == in_order(range(1, 21), "random", n_insights={}, seed="a")
    golds = [number for number in drawn if number in held]
    rest = [number for number in drawn if number not in held]
    assert in_order(range(1, 21), "top", n_insights=held, seed="a") == golds + rest
    assert in_order(range(1, 21), "bottom", n_insights=held, seed="a") == rest + golds
    assert in_order(range(1, 21), "middle", n_insights=held, seed="a") == rest[:9] + golds + rest[9:]


def test_without_a_seed_documents_stand_as_in_the_file_and_golds_by_what_they_hold() -> None:
    held = {2: 1, 4: 3, 5: 1}
    assert in_order([6, 2, 5, 1, 4, 3], "random", n_insights=held, seed=None) == [1, 2, 3, 4, 5, 6]
    assert in_order(range(1, 7), "top", n_insights=held, seed=None) == [4, 2, 5, 1, 3, 6]
    assert in_order(range(1, 7), "bottom", n_insights=held, seed=None) == [1, 3, 6, 2, 5, 4]
    assert in_order(range(1, 7), "middle", n_insights=held, seed=None) == [1, 4, 2, 5, 3, 6]


def test_documents_are_cut_after_so_many_tokens() -> None:
    passages = [(4, "one two three four"), (9, "five six seven eight"), (1, "nine")]
    assert truncated(passages, None) == passages
    assert truncated(passages, 5) == passages[:1]
    assert truncated(passages, 8) == [passages[0], (9, "five six")]


def test_blocks_end_at_the_first_sentence_end_after_their_words_across_documents() -> None:
    passages = [(2, "A b c. D e f. G h i."), (5, "J k l. M n o.")]
    assert blocks(passages, words=4) == [
        [(2, "A b c. D e f.")],
        [(2, "G h i."), (5, "J k l.")],
        [(5, "M n o.")],
    ]
    assert blocks([], words=4) == []


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("- It rains [1].\n\n- It pours [2, 3].", ""),
        ("", "It is empty."),
        ("I cannot help with that.", "Without a citation: bullet 1."),
        ("## Nothing", "It has no bullets."),
        ("- It rains [1].\n- It pours.", "Without a citation: bullet 2."),
        ("- It rains [1, 8].\n- It pours [2].", "It cites what was not shown: 8."),
    ],
)
def test_what_is_no_bullets_with_citations_says_why(reply: str, problem: str) -> None:
    assert " ".join(read_summary(reply, shown={1, 2, 3}, n_bullets=2, is_cut_off=False).problems) == problem


def test_another_number_of_bullets_is_remarked_and_a_cut_is_a_problem() -> None:
    found = read_summary("- It rains [1].", shown={1}, n_bullets=2, is_cut_off=True)
    assert found.remarks == ("It has 1 bullets; 2 were asked for.",)
    assert found.problems == ("It was cut off at the limit of its length.",)
    assert read_summary("- It rains [1].", shown={1}, n_bullets=None, is_cut_off=False).remarks == ()


def test_a_configuration_is_checked_and_comes_back_as_it_was_stored() -> None:
    config = SummarizerConfig.from_mapping({**SERVER, "method": "hierarchical", "top_k": 50, "temperature": 0.3})
    assert SummarizerConfig.from_mapping(config.as_mapping()) == config
    assert config.decoding == {"top_k": 50}
    assert config.block_prompt
    assert SummarizerConfig.from_mapping({**SERVER, "words_from": None}).words_from is None
    for wrong in (
        {"method": "by hand"},
        {"words_from": 400},
        {"protocol": "one"},
        {"model": ""},
        {"bullets": "3"},
        {"budget_rule": "half"},
        {"shuffle": "often"},
        {"bullets": "free", "prompt": "The [N_insights] main points of {documents}"},
    ):
        with pytest.raises(BadConfiguration):
            SummarizerConfig.from_mapping({**SERVER, **wrong})


def test_the_offline_baseline_says_what_repeats_and_cites_where_it_stands() -> None:
    ferry = "The electric ferry halved the noise at Mill Point harbour."
    passages = [
        (1, f"{ferry} Somebody sold apples at the market on a Sunday."),
        (2, "A band played on the green until nine in the evening. " + ferry),
        (3, "The library opens at ten and closes at six. Who says what the electric ferry may change next year?"),
    ]
    config = ExtractiveConfig()
    said = summarize(passages, "What did the electric ferry change?", language="en", n_bullets=2, config=config)
    assert said.split("\n")[0] == f"- {ferry} [1, 2]"
    assert len(said.split("\n")) == 2
    assert said.count(ferry) == 1
    assert "Who" not in said
    again = summarize(passages, "What did the electric ferry change?", language="en", n_bullets=2, config=config)
    assert said == again
    assert summarize([], "Anything?", language="en", n_bullets=2, config=config) == ""


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
