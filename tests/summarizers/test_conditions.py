"""What documents of a question are made into, without a database: names, cuts, and what counts as a note."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.summarizers import conditions
from benchmarks.summarizers.conditions import (
    Condition,
    UnknownCondition,
    column_order,
    named_system,
    read_note,
    read_response,
)
from benchmarks.summarizers.config import SummarizerConfig, note_prompt

DOCUMENT = "The ferry leaves at six.\nIt costs 4 euros, or 3 for children. The pier was rebuilt in 2019."
BY_NAME = st.one_of(
    st.builds(Condition, st.just("cut"), tokens=st.integers(1, 9_999_999)),
    st.builds(Condition, st.sampled_from(["full", "closed-book", "snippets", "summaries"])),
    st.builds(
        Condition,
        st.sampled_from(["snippets", "summaries"]),
        by=st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1),
    ),
)


@given(BY_NAME)
def test_a_condition_is_read_from_its_name(condition: Condition) -> None:
    assert Condition.named(condition.name) == condition


@pytest.mark.parametrize(
    "name", ["", "cut", "cut-0", "cut-x", "cut-5 ", "Full", "full@heron", "snippets@", "none"]
)
def test_other_names_are_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UnknownCondition, match="closed-book"):
        Condition.named(name)


def test_each_document_is_cut_by_itself_and_a_closed_book_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "counted_by", lambda: "words")
    documents = [(1, "one two three four"), (2, "five six seven eight"), (3, "nine")]
    assert Condition("cut", tokens=3).applied(documents) == [(1, "one two"), (2, "five six"), (3, "nine")]
    assert Condition("full").applied(documents) == documents
    assert Condition("closed-book").applied(documents) == []


def test_columns_stand_as_in_the_paper_and_other_settings_come_last() -> None:
    names = ["full", "vector", "summaries", "cut-2048", "snippets@heron", "closed-book", "snippets", "cut-512"]
    assert sorted(names, key=column_order) == [
        "cut-512", "cut-2048", "snippets", "snippets@heron", "summaries", "closed-book", "full", "vector",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("cut-512_heron_7b", ("cut-512", "heron_7b")),
        ("snippets@heron_7b_gull", ("snippets@heron_7b", "gull")),
        ("closed-book_heron", ("closed-book", "heron")),
        ("full-ctxt_heron", ("", "heron")),
        ("full_heron", ("", "full_heron")),
        ("heron_7b", ("", "heron_7b")),
        ("snippets", ("", "snippets")),
        ("snippets_", ("", "snippets_")),
        ("heron@home_7b", ("", "heron@home_7b")),
    ],
)
def test_names_in_files_say_the_condition(key: str, said: tuple[str, str]) -> None:
    assert named_system(key) == said


@pytest.mark.parametrize(
    ("reply", "text", "remarks"),
    [
        ("- The ferry leaves at six.\n- it costs  4 euros", "- The ferry leaves at six.\n- it costs  4 euros", 0),
        ("- The ferry leaves at six. It costs 4 euros", "- The ferry leaves at six. It costs 4 euros", 0),
        (
            "- The ferry leaves at seven.\n- It costs 4 euros.",
            "- The ferry leaves at seven.\n- It costs 4 euros.",
            1,
        ),
        ("- It costs 4 euro", "- It costs 4 euro", 1),
        ("Nothing.", "", 0),
        (" - nothing", "", 0),
    ],
)
def test_snippets_are_the_words_of_the_document(reply: str, text: str, remarks: int) -> None:
    found = read_note(reply, kind="snippets", document=DOCUMENT, is_cut_off=False)
    assert (found.text, len(found.remarks), found.problems) == (text, remarks, ())


def test_a_summary_may_use_other_words_and_an_empty_or_cut_text_is_a_problem() -> None:
    assert read_note("A boat.", kind="summaries", document=DOCUMENT, is_cut_off=False).remarks == ()
    assert read_note("A b", kind="summaries", document=DOCUMENT, is_cut_off=True).problems
    found = read_response("\n\nOne.\n\nTwo.\n", n_shown=7, is_cut_off=False)
    assert (found.text, found.problems, found.n_shown) == ("One.\n\nTwo.", (), 7)
    assert len(read_response(" ", n_shown=0, is_cut_off=True).problems) == 2


def test_a_summarizer_has_a_prompt_for_responses_and_keeps_one_that_was_pasted() -> None:
    server = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
    config = SummarizerConfig.from_mapping({**server, "response_prompt": "Say {bullets}.", "focus": "Mind it."})
    assert config.focused(config.response_prompt) == "Say {bullets}.\n\nMind it."
    assert SummarizerConfig.from_mapping(config.as_mapping()) == config
    assert "question" in SummarizerConfig.from_mapping(server).response_prompt
    assert "150 words" in note_prompt("snippets", words_to=150)
