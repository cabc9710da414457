"""Lines, kinds and citations of a summary, and how texts are compared."""

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.corpora.searching import pattern_of
from benchmarks.scoring.text import (
    MAX_RANGE,
    LineKind,
    bullets,
    fold,
    lines_from_list,
    lines_from_text,
    split_text,
    visible,
    without_citations,
    without_emphasis,
    words_by_spaces,
    words_per_bullet,
    words_with_citations,
)


def cited(text: str) -> tuple[int, ...]:
    """What a line cites, each number once."""
    [line] = lines_from_list([text])
    return line.citations


CITED = [
    ("[3, 7]", (3, 7)),
    ("[3][7]", (3, 7)),
    ("[7][3][7]", (7, 3)),
    ("[1-3]", (1, 2, 3)),
    ("[1–3; 9]", (1, 2, 3, 9)),
    ("[1 — 3]", (1, 2, 3)),
    ("[3; 7]", (3, 7)),
    ("[1 2]", (1, 2)),
    ("[ 4 ]", (4,)),
    ("[4,]", (4,)),
    ("[[5]]", (5,)),
    ("[3-1]", (3, 1)),
    ("[1-100000]", (1, 100000)),
    ("[Word count: 37]", ()),
    ("[80 words]", ()),
    ("[References: 3, 8]", ()),
    ("[1.5]", ()),
    ("[]", ()),
    ("(3, 7)", ()),
    ("3, 7", ()),
    ("[8] of 170 engines [9]", (8, 9)),
]


@pytest.mark.parametrize(("text", "numbers"), CITED)
def test_brackets_of_numbers_and_separators_cite(text: str, numbers: tuple[int, ...]) -> None:
    assert cited(f"The engine runs on ethanol {text}.") == numbers


@given(st.lists(st.integers(0, 999_999_999), unique=True, max_size=30))
def test_what_the_app_writes_it_reads_back(numbers: list[int]) -> None:
    assert cited(f"a claim {numbers or ''}") == tuple(numbers)


def test_the_longest_range_that_is_written_out() -> None:
    assert cited(f"[1-{MAX_RANGE}]") == tuple(range(1, MAX_RANGE + 1))
    assert cited(f"[1-{MAX_RANGE + 1}]") == (1, MAX_RANGE + 1)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_range_never_cites_more_than_the_limit(first: int, last: int) -> None:
    numbers = cited(f"[{first}-{last}]")
    assert len(numbers) <= MAX_RANGE
    assert {first, last} == {numbers[0], numbers[-1]}


def test_citations_and_the_space_before_them_leave_the_plain_text() -> None:
    assert without_citations("Tea [3, 7], then coffee [1-2].") == "Tea, then coffee."
    assert without_citations("Tea  then [80 words]") == "Tea then [80 words]"


@pytest.mark.parametrize(
    "text",
    [
        "- Tea helps",
        "* Tea helps",
        "• Tea helps",
        "•Tea helps",
        "*   Tea helps",
        "– Tea helps",
        "-Tea helps",
        "1. Tea helps",
        "12) Tea helps",
        "(3) Tea helps",
        "a) Tea helps",
        "  - Tea helps",
        "- **Tea** helps",
        "10.Tea helps",
        "1.**Tea** helps",
    ],
)
def test_every_common_marker_makes_a_bullet_and_leaves_the_plain_text(text: str) -> None:
    line = lines_from_list(["An opening", text])[1]
    assert (line.kind, line.bullet, line.plain, line.n_words) == (LineKind.BULLET, 1, "Tea helps", 2)


@pytest.mark.parametrize(
    "text", ["1.5 million people", "2023. A year", "-5 degrees", "*Tea* helps", "A. Smith said"]
)
def test_numbers_and_emphasis_at_the_start_are_no_marker(text: str) -> None:
    line = lines_from_list(["- A bullet", text])[1]
    assert line.kind is LineKind.OTHER
    assert line.plain == text


def test_kinds_of_a_marked_summary() -> None:
    lines = lines_from_list(
        [
            "## Findings",
            "Here is what repeats:",
            "**Health**",
            "- Tea helps [3]",
            "",
            "[3][4]",
            "* Coffee does not [4]",
            "In short, drink tea.",
            "[Word count: 12]",
            "---",
        ]
    )
    assert [line.kind.value for line in lines] == [
        "header",
        "preamble",
        "header",
        "bullet",
        "other",
        "other",
        "bullet",
        "other",
        "other",
        "other",
    ]
    assert [line.number for line in lines] == list(range(1, 11))
    assert [line.bullet for line in bullets(lines)] == [1, 2]
    assert lines[5].citations == (3, 4)


def test_without_any_marker_the_lines_are_the_bullets() -> None:
    lines = lines_from_text("My findings:\n\nTea helps [3]\r\nCoffee does not [4]\n**Rest**\nword count: 7")
    assert [line.kind.value for line in lines] == ["preamble", "bullet", "bullet", "header", "other"]
    assert [line.number for line in lines] == [1, 2, 3, 4, 5]


def test_a_single_line_that_ends_in_a_colon_is_still_a_bullet() -> None:
    assert lines_from_text("Tea helps:")[0].is_bullet


def test_typed_text_drops_blank_lines_and_a_published_list_keeps_them() -> None:
    assert [line.text for line in lines_from_text("a\n\n \t\nb\n")] == ["a", "b"]
    assert [line.text for line in lines_from_list(["a", "", "b"])] == ["a", "", "b"]
    assert lines_from_text("") == ()
    assert lines_from_list([]) == ()


def test_length_counts_words_of_bullets_or_of_all_lines() -> None:
    lines = lines_from_list(["Here it is:", "- Tea helps a lot [3, 4]", "- **Coffee** – no [5]"])
    assert words_per_bullet(lines).value == 3
    assert words_per_bullet(lines).n_items == 2
    assert words_per_bullet(lines, all_lines=True).value == 3
    assert words_per_bullet(lines, all_lines=True).n_items == 3
    assert words_with_citations(lines_from_text("- Six [1, 2] words, two of them citations.\n- One.")).value == 5.5
    by_spaces = words_by_spaces(lines_from_list(["Here  it is:", "- Tea helps [3, 4]", "", "- Coffee"]))
    assert by_spaces.value == 9 / 4  # a lone line break joins two words, two of them part words
    assert words_by_spaces(()).undefined_reason == "no lines"
    nothing = words_per_bullet(lines_from_text("# Title"))
    assert nothing.value is None
    assert nothing.undefined_reason == "no bullets"


@given(st.lists(st.text(max_size=80), max_size=12))
def test_any_list_gives_one_line_per_element_and_bullets_count_up(texts: list[str]) -> None:
    lines = lines_from_list(texts)
    assert [line.text for line in lines] == texts
    assert [line.number for line in lines] == list(range(1, len(texts) + 1))
    numbered = [line.bullet for line in lines if line.bullet is not None]
    assert numbered == list(range(1, len(numbered) + 1))
    for line in lines:
        assert (line.bullet is not None) == line.is_bullet
        assert cited(line.plain) == () or "[" in line.plain
        assert line.n_words <= len(line.text.split()) + line.text.count("]") + 1


@given(st.text(alphabet="ab [3]-*.\n\r\u2028", max_size=80))
def test_a_typed_text_reads_the_same_in_its_stored_form(text: str) -> None:
    stored = "\n".join(split_text(text))
    assert lines_from_text(stored) == lines_from_text(text)
    assert lines_from_list(stored.split("\n") if stored else []) == lines_from_text(text)


def test_every_published_summary_has_bullets_and_its_shape_is_seen(published: Path) -> None:
    topic = json.loads((published / "topic_news1.json").read_text())
    summaries = [lines for subtopic in topic["subtopics"] for lines in subtopic["summaries"].values()]
    assert len(summaries) == 702
    parsed = [lines_from_list(summary) for summary in summaries]
    assert all(bullets(lines) for lines in parsed)
    kinds = [line.kind for lines in parsed for line in lines]
    counts = {kind: kinds.count(kind) for kind in LineKind}
    assert counts == {LineKind.BULLET: 5065, LineKind.HEADER: 13, LineKind.PREAMBLE: 353, LineKind.OTHER: 60}
    opening = [line for lines in parsed for line in lines if line.kind is LineKind.PREAMBLE]
    assert all(line.number == 1 for line in opening)
    notes = [line for lines in parsed for line in lines if line.text.lower().lstrip("[").startswith("word count")]
    assert notes
    assert all(line.kind is LineKind.OTHER and line.citations == () for line in notes)


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("**The harbour**: a *short* history", "The harbour: a short history"),
        ("## The harbour", "The harbour"),
        ("__The__ `harbour` _now_", "The harbour now"),
        ("***All of it***", "All of it"),
        ("**The harbour", "The harbour"),
        ("2*3*4 and snake_case_name", "2*3*4 and snake_case_name"),
        ("C# and F#, 5 * 3 * 2", "C# and F#, 5 * 3 * 2"),
        ("#1 of the list", "#1 of the list"),
        ("**", "**"),
        ("", ""),
    ],
)
def test_a_title_loses_the_marks_of_markdown_and_no_others(title: str, plain: str) -> None:
    assert without_emphasis(title) == plain


CASES = json.loads((Path(__file__).resolve().parents[1] / "texts.json").read_text(encoding="utf-8"))
FOUND = [(*case, exact) for name, exact in (("found", False), ("found_in_its_case", True)) for case in CASES[name]]
WHOLE = [case[1:] for case in CASES["found"] if case[0] != "part of a ligature"]
"""A pattern finds ligatures as a whole."""


@pytest.mark.parametrize(("text", "query", "found", "exact"), [case[1:] for case in FOUND], ids=lambda value: None)
def test_what_is_searched_for_is_found_as_it_stands(text: str, query: str, found: str | None, exact: bool) -> None:
    wanted, (signs, starts, ends) = fold(query, exact=exact).text, fold(text, exact=exact)
    at = signs.find(wanted)
    assert (text[starts[at] : ends[at + len(wanted) - 1]] if at >= 0 else None) == found


@pytest.mark.parametrize(("text", "query", "found"), WHOLE)
def test_the_search_of_corpora_finds_the_same(text: str, query: str, found: str | None) -> None:
    match = re.search(pattern_of(query), text)
    assert (match and match[0]) == found


@pytest.mark.parametrize(("text", "numbers"), CASES["cited"])
def test_what_cites(text: str, numbers: list[int]) -> None:
    [line] = lines_from_text(text)
    assert list(line.citations) == numbers


@pytest.mark.parametrize(("text", "kind"), CASES["kinds"])
def test_what_a_line_is(text: str, kind: str) -> None:
    """Below a bullet, so that what has no mark is no bullet."""
    assert lines_from_text(f"- first\n{text}")[-1].kind == kind


def test_signs_of_format_are_those_that_nobody_sees() -> None:
    formats = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"]
    assert [sign for sign in formats if visible(f"a{sign}") != "a"] == []
