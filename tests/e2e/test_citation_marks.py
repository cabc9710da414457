"""Marks of citations lie under their words: they are drawn on a layer of their own, below the text."""

import io
from collections.abc import Callable

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.e2e.conftest import begin, saved, until, write

pytestmark = pytest.mark.browser
Box = tuple[float, float, float, float]
SELECT = """(word) => {
    const at = editor.value.indexOf(word);
    editor.setSelectionRange(at, at + word.length);
}"""
PINK_SELECTION = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("#editor::selection { background: rgb(255 0 255); color: rgb(255 0 255); }");
    document.adoptedStyleSheets = [sheet];
}"""
PINK = (255, 0, 255)
WORDS = "Ferries 1111 ran on 17 of 31 days until the harbour froze over, as 2,111 travellers said"
TEXT = "\n".join(f"- {WORDS} [{n}, {90 + n}] and again in 2011 [1{n}1]." for n in (1, 2, 3, 4))
LAID_OUT_BY = """() => {
    const parts = ["font", "line-", "letter-", "word-", "white-space", "overflow-wrap", "hyphens", "tab-size",
        "text-align", "text-indent", "text-transform", "text-rendering", "padding", "border-top-width",
        "border-left-width", "width", "height", "direction", "scrollbar"];
    const of = (name) => getComputedStyle(document.querySelector(`[data-${name}]`));
    const editor = of("editor"), marks = of("marks");
    return [...editor].filter((name) => parts.some((part) => name.startsWith(part)))
        .map((name) => `${name}: ${editor.getPropertyValue(name)}, ${marks.getPropertyValue(name)}`)
        .filter((each) => !/: (.*), \\1$/.test(each));
}"""
MARKS = """() => [...document.querySelectorAll("[data-marks] mark")].map((mark) => {
    const box = mark.getBoundingClientRect();
    return [mark.textContent, box.left, box.top, box.right, box.bottom];
})"""


def word_box(page: Page, word: str) -> Box:
    """Where the editor draws a word: select it in a colour that nothing else has, and look for the colour."""
    page.locator("#editor").press(
        "Control+Home" if word in TEXT.partition("\n")[0] else "Control+End"
    )  # scrolls there
    page.evaluate(SELECT, word)
    shot = Image.open(io.BytesIO(page.screenshot(animations="disabled", scale="css"))).convert("RGB")
    pixels = shot.load()
    at = [(x, y) for x in range(shot.width) for y in range(shot.height) if pixels[x, y] == PINK]
    assert at, f"{word} is not on the screen"
    return min(x for x, _ in at), min(y for _, y in at), max(x for x, _ in at) + 1, max(y for _, y in at) + 1


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_marks_lie_under_their_words(desk: Callable[[str], Page], width: int, height: int) -> None:
    page = desk(f"marks{width}")
    begin(page)
    page.set_viewport_size({"width": width, "height": height})
    write(page, TEXT)
    saved(page)
    expect(page.locator("[data-marks] mark")).to_have_count(8)
    page.evaluate(PINK_SELECTION)
    for word in ("[1, 91]", "[4, 94]", "[141]"):
        places: list[tuple[list[float], Box]] = []

        def lies_under(word: str = word, places: list[tuple[list[float], Box]] = places) -> bool:
            drawn = word_box(page, word)
            [mark] = [box for text, *box in page.evaluate(MARKS) if text == word]
            places.append((mark, drawn))
            return bool(mark == pytest.approx(drawn, abs=5))

        until(page, lies_under)  # the layer of the marks scrolls along, a frame later
        assert lies_under(), f"The mark of {word} and the word: {places[-1]}."

    # A longer text ends elsewhere than its marks as soon as one rule of the layout differs.
    assert page.evaluate(LAID_OUT_BY) == []
