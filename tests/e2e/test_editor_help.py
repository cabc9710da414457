"""The small rules of the editor on many texts, asked of the very modules that the page runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from benchmarks.scoring.text import lines_from_text
from tests.e2e.conftest import begin

pytestmark = pytest.mark.browser

# A text with the caret at |, the number clicked, and the text after it.
CITED = [
    ("- Fact|", 3, "- Fact [3]|"),
    ("- Fact |", 3, "- Fact [3]|"),
    ("|", 3, "[3]|"),
    ("- Fact [3]|", 7, "- Fact [3, 7]|"),
    ("- Fact [3].|", 7, "- Fact [3, 7].|"),
    ("- Fact [|]", 7, "- Fact [7|]"),
    ("- Fact [3|, 4]", 7, "- Fact [3, 4, 7|]"),
    ("- Fact [3, |]", 7, "- Fact [3, 7|]"),
    ("- Fact [3,|", 7, "- Fact [3, 7]|"),
    ("- Fact [|", 7, "- Fact [7]|"),
    ("- Fact| [3]", 7, "- Fact [3, 7|]"),
    ("- Fact [3] more|", 7, "- Fact [3] more [7]|"),
    ("- Fact [3]\n- Next|", 7, "- Fact [3]\n- Next [7]|"),
    ("- Fact [3]\n|", 7, "- Fact [3]\n[7]|"),
    ("- Fact [3, 7]|", 7, None),
    ("- Fact [1-9]|", 7, None),
    ("- See [the list]|", 7, "- See [the list] [7]|"),
]
SUMMARIES = [
    "",
    "One line",
    "Intro:\n- a b [1]\nplain c [2]\n# Head\n\n- d [2; 3]",
    "1. First [1]\n2) Second\n• Third [4-6]",
    "First fact [1].\nSecond fact.",
    "-\n- [3]\n- word",
    "Summary:\nFirst\nSecond [9]",
]
PASTES = [
    ("my own words", ["these are my   own\nwords indeed"], "own"),
    ("one two three four five six seven eight", [], "document"),
    ("One, two: three - four (five) six seven EIGHT!", [], "document"),
    ("one two three four five six seven", [], "other"),
    ("entirely different text that nobody has ever written down in here", [], "other"),
]
FOLDED = [("ABC “x” it’s", 'abc "x" it\'s'), ("İSTANBUL", "İstanbul"), ("ΟΔΟΣ", "οδοσ"), ("a\u00a0b\tc", "a b c")]


def with_caret(text: str) -> tuple[str, int]:
    return text.replace("|", ""), text.index("|")


def test_the_editor_helps_as_the_scoring_reads(desk: Callable[[str], Page]) -> None:
    page = desk("helps")
    begin(page)

    def ask(module: str, expression: str, argument: Any) -> Any:
        script = f"async (given) => {{ const my = await import('/static/js/{module}.js'); {expression} }}"
        return page.evaluate(script, argument)

    insert = """return given.map(([value, caret, number]) => {
        const change = my.citeAt(value, caret, number);
        if (!change) return null;
        const after = value.slice(0, change.start) + change.insert + value.slice(change.end);
        return after.slice(0, change.caret) + "|" + after.slice(change.caret);
    })"""
    cited = ask("session/editor", insert, [[*with_caret(text), number] for text, number, _ in CITED])
    assert dict(zip([f"{text} + {number}" for text, number, _ in CITED], cited, strict=True)) == {
        f"{text} + {number}": expected for text, number, expected in CITED
    }

    for summary, facts in zip(
        SUMMARIES, ask("session/editor", "return given.map(my.summaryFacts)", SUMMARIES), strict=True
    ):
        bullets = [line for line in lines_from_text(summary) if line.is_bullet]
        counted = (
            len(bullets),
            sum(line.n_words for line in bullets),
            sum(not line.citations for line in bullets),
        )
        assert (facts["bullets"], facts["words"], facts["uncited"]) == counted, summary

    documents = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    classes = ask(
        "session/editor",
        "return given.pastes.map(([text, own]) => my.classify(text, own, given.documents).class)",
        {"pastes": [[text, own] for text, own, _ in PASTES], "documents": documents},
    )
    assert classes == [expected for *_, expected in PASTES]

    folded = ask(
        "reading/search", "return given.map((text) => my.fold(text, false))", [text for text, _ in FOLDED]
    )
    assert folded == [expected for _, expected in FOLDED]
