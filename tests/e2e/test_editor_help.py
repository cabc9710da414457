"""The small rules of the editor on many texts, asked of the very modules that the page runs."""

import json
from collections.abc import Callable
from pathlib import Path

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
    "**Late boats**\n-late [４]\n⁃ more [٣]\n[a note]\nWord count: 12",
    "**Late boats:**\nThey are late .\n# End",
]
# A text, and what is to be looked at in it: line, kind, the piece, the numbers.
CHECKED = [
    ("- Fact [3, 7]\n- Two (2) of (2031)", [(2, "round", "(2)", [2])]),
    (
        "- Fact (12).\n- In 2031 (2031)\n- Ten (10) boats [2]",
        [(1, "round", "(12)", [12]), (2, "uncited", "- In 2031 (2031)", [])],
    ),
    ("- Fact (2, 3)", [(1, "round", "(2, 3)", [2, 3])]),
    ("- Fact [2 and 9]", [(1, "words", "[2 and 9]", [2, 9])]),
    (
        "- Fact [doc 2]\n\n- Next [doc. 77, no 78]",
        [(1, "words", "[doc 2]", [2]), (3, "words", "[doc. 77, no 78]", [77, 78])],
    ),
    ("- Fact [3, 7", [(1, "open", "[3, 7", [3, 7])]),
    ("- Fact [2-4]", [(1, "range", "[2-4]", [2, 3, 4])]),
    ("- Fact [2-9]", [(1, "unknown", "[2-9]", [5, 6, 8, 9])]),
    ("- Fact\nloose [2]", [(1, "uncited", "- Fact", []), (2, "loose", "loose [2]", [])]),
    ("- Fact 【4】", [(1, "round", "【4】", [4])]),
    ("- Fact ［3，４］.", [(1, "round", "［3，４］", [3, 4])]),
    ("- Fact （4）", [(1, "round", "（4）", [4])]),
    ("- Fact [４]", [(1, "range", "[４]", [4])]),
    ("- Fact [3、4]", [(1, "words", "[3、4]", [3, 4])]),
    ("(2) First [3]\n(3) Second [see the 40 tables]", [(2, "uncited", "(3) Second [see the 40 tables]", [])]),
]
# A text with the caret at |, and what Enter makes of it; None where it is a plain new line.
ENTERED = [
    ("- Fact [3]|", "- Fact [3]\n- |"),
    ("  * a|b", "  * a\n  * |b"),
    ("9. Fact|", "9. Fact\n10. |"),
    ("- Fact\n- |", "- Fact\n|"),
    ("⁃ Fact|", "⁃ Fact\n⁃ |"),
    ("-|", "|"),
    ("|- Fact", None),
    ("Fact|", None),
]
PASTES = [
    ("my own words", ["these are my   own\nwords indeed"], "own"),
    ("one two three four five six seven eight", [], "document"),
    ("One, two: three - four (five) six seven EIGHT!", [], "document"),
    ("one two three four five six seven", [], "other"),
    ("entirely different text that nobody has ever written down in here", [], "other"),
]
CASES = json.loads((Path(__file__).resolve().parents[1] / "texts.json").read_text(encoding="utf-8"))
FOUND = """return given.map(([, text, query, , exact]) => {
    const { text: signs, places } = my.fold(text, exact), wanted = my.fold(query, exact).text;
    const at = signs.indexOf(wanted);
    let last = at + wanted.length;
    while (places[last] === places[last - 1]) last++;
    return at < 0 ? null : text.slice(places[at], places[last]);
})"""


def with_caret(text: str) -> tuple[str, int]:
    return text.replace("|", ""), text.index("|")


def test_the_editor_helps_as_the_scoring_reads(desk: Callable[[str], Page]) -> None:
    page = desk("helps")
    begin(page)

    def ask(module: str, expression: str, argument):
        script = f"async (given) => {{ const my = await import('/static/js/{module}.js'); {expression} }}"
        return page.evaluate(script, argument)

    insert = """return given.map(([value, caret, number]) => {
        const change = my.citeAt(value, caret, number);
        if (!change) return null;
        const after = value.slice(0, change.start) + change.insert + value.slice(change.end);
        return after.slice(0, change.caret) + "|" + after.slice(change.caret);
    })"""
    cited = ask("session/summary", insert, [[*with_caret(text), number] for text, number, _ in CITED])
    assert dict(zip([f"{text} + {number}" for text, number, _ in CITED], cited, strict=True)) == {
        f"{text} + {number}": expected for text, number, expected in CITED
    }

    check = """return given.map((text) => my.problemsIn(text, new Set([2, 3, 4, 7])).map(
        ({ line, kind, start, end, numbers }) => [line, kind, text.slice(start, end), numbers]))"""
    checked = ask("session/summary", check, [text for text, _ in CHECKED])
    assert checked == [[list(each) for each in expected] for _, expected in CHECKED]
    enter = """return given.map(([value, caret]) => {
        const change = my.continued(value, caret, caret);
        return change && value.slice(0, change.start) + change.insert + "|" + value.slice(change.end);
    })"""
    entered = ask("session/summary", enter, [with_caret(text) for text, _ in ENTERED])
    assert entered == [expected for _, expected in ENTERED]

    for summary, facts in zip(
        SUMMARIES, ask("session/summary", "return given.map(my.summaryFacts)", SUMMARIES), strict=True
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
        "session/paste",
        "return given.pastes.map(([text, own]) => my.classify(text, own, given.documents).class)",
        {"pastes": [[text, own] for text, own, _ in PASTES], "documents": documents},
    )
    assert classes == [expected for *_, expected in PASTES]

    for name, exact in (("found", False), ("found_in_its_case", True)):
        found = ask("reading/folding", FOUND, [[*case, exact] for case in CASES[name]])
        assert found == [case[3] for case in CASES[name]]
    numbers = ask("session/lines", "return given.map(([text]) => my.citedIn(text))", CASES["cited"])
    assert numbers == [case[1] for case in CASES["cited"]]
    kinds = ask(
        "session/lines",
        "return given.map(([text]) => my.linesOf(`- first\\n${text}`).at(-1).kind)",
        CASES["kinds"],
    )
    assert kinds == [case[1] for case in CASES["kinds"]]
