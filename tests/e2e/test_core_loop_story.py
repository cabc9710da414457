"""Search, cite and write without a hand leaving the keys, on a laptop, at 200 % and on a phone."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Site, begin, press, ready, saved, write

pytestmark = pytest.mark.browser

CITING_KEYS = 1
"""Keys that a citation may cost, from the documents and from the search."""


MARKED = """Object.fromEntries([...CSS.highlights]
    .filter(([name, marks]) => name.startsWith("mark-") && marks.size)
    .map(([name, marks]) => [name, [...marks].map(({ startContainer, startOffset, endOffset }) =>
        startContainer.data.slice(startOffset, endOffset)).join("")]))"""
COLOUR = """[...CSS.highlights.keys()].find((name) => name.startsWith("mark-") && CSS.highlights.get(name).size)"""


def scrolled(page: Page) -> tuple[float, float]:
    """How far the page and its documents are scrolled."""
    return page.evaluate("[scrollY, document.querySelector('.documents').scrollTop]")


def cites(page: Page, key: str, becomes: str) -> None:
    """Press one key, after which the summary is this, and nothing else has changed."""
    before = (
        scrolled(page),
        page.evaluate("[document.activeElement.outerHTML.slice(0, 60), String(getSelection())]"),
    )
    assert len(key.split()) == CITING_KEYS
    press(page, key)
    expect(page.locator("#editor")).to_have_value(becomes)
    after = (
        scrolled(page),
        page.evaluate("[document.activeElement.outerHTML.slice(0, 60), String(getSelection())]"),
    )
    assert after == before


def test_a_document_is_found_cited_and_left_again_by_keys(desk: Callable[[str], Page]) -> None:
    page = desk("keys")
    begin(page)
    editor, query, count = page.locator("#editor"), page.locator("[data-query]"), page.locator("[data-count]")
    current = page.locator("[data-jump][aria-current]")
    expect(editor).to_be_focused()
    press(page, "c r j")  # typed, not meant as keys
    expect(editor).to_have_value("crj")
    editor.fill("- Boats are late.\n- Fares rise")
    press(page, "Control+Home End Alt+/")
    page.keyboard.type("in part 1")
    press(page, "Enter Enter")
    expect(count).to_have_text("2 of 8, in 5 documents")
    expect(query).to_be_focused()
    first = current.get_attribute("data-jump")
    cites(page, "Alt+c", f"- Boats are late. [{first}]\n- Fares rise")
    press(page, "Enter Enter")
    second = current.get_attribute("data-jump")
    assert second != first
    cites(page, "Alt+c", f"- Boats are late. [{first}, {second}]\n- Fares rise")
    expect(page.locator("[data-announce]")).to_have_text(f"[{second}] cited in line 1.")
    cites(page, "Alt+c", f"- Boats are late. [{first}, {second}]\n- Fares rise")  # once only
    expect(page.locator("[data-notice=cited]")).to_contain_text("cited here already")
    press(page, "Escape")
    expect(editor).to_be_focused()

    # From a citation to its document and back, the caret where it was
    read_at = scrolled(page)
    press(page, "Alt+g")
    expect(page.locator("#documents")).to_be_focused()
    assert scrolled(page) == read_at  # it is the one with the hit
    expect(current).to_have_attribute("data-jump", str(second))
    press(page, "? Escape")
    expect(page.locator("#documents")).to_be_focused()
    press(page, "Escape ArrowDown Escape")
    press(page, "3 Enter")
    expect(current).to_have_attribute("data-jump", "3")
    expect(page.locator("[data-announce]")).to_contain_text("[3] ")
    page.locator("#doc-3 .reading p").first.select_text()
    cites(page, "c", f"- Boats are late. [{first}, {second}]\n- Fares rise [3]")
    press(page, "Escape Control+z")
    expect(editor).to_have_value(f"- Boats are late. [{first}, {second}]\n- Fares rise")
    press(page, "Escape g 9 9 Enter")
    expect(page.locator("[data-go-to]")).to_be_focused()
    expect(page.locator("[data-notice=number]")).to_contain_text("There is no document 99 here.")
    press(page, "Escape Escape Alt+ArrowUp")
    page.keyboard.type("!")
    expect(editor).to_have_value(f"- Fares rise!\n- Boats are late. [{first}, {second}]")

    # The list of documents is one stop, and has those with hits
    query.fill("<why> it does")
    expect(page.locator("[data-jump]:visible")).to_have_count(2)  # the one with the hit, and where one is
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("[data-jump]:visible")).to_have_count(5)
    assert page.locator("[data-jump][tabindex='0']").count() == 1
    press(page, "Tab ArrowDown ArrowDown End Enter")
    expect(page.locator("[data-jump]").last).to_be_focused()
    expect(page.locator("[data-jump]").last).to_have_attribute("aria-current", "true")

    # Marks in the colour of the bullet, found again wherever one goes on
    query.fill("")
    page.locator("#documents").focus()
    page.locator("#doc-2 .reading p").first.select_text()
    with page.expect_response("**/marks/"):
        press(page, "m")
    bullet = page.evaluate(COLOUR)
    assert page.evaluate(MARKED) == {bullet: page.locator("#doc-2 .reading p").first.inner_text()}
    expect(page.locator(f".editor-marks .{bullet}")).to_have_text("- ")
    page.reload()
    ready(page)
    assert list(page.evaluate(MARKED)) == [bullet]
    page.locator("#doc-2 .reading p").first.click()
    press(page, "m")
    assert page.evaluate(MARKED) == {}
    expect(page.locator("[data-hits]")).to_have_count(0)  # this study has no list of hits
    page.locator("#documents").focus()
    press(page, "g 3 Enter m")  # nothing is selected: sentences are chosen by keys
    expect(page.locator("[data-notice=mark]")).to_contain_text("Choose sentences with ↑ and ↓")
    press(page, "ArrowDown Shift+ArrowDown")
    chosen = page.evaluate("String(getSelection())")
    press(page, "m")
    marked = page.evaluate(MARKED)
    assert "".join("".join(marked.values()).split()) == "".join(chosen.split()) != ""
    press(page, "ArrowDown")
    assert page.evaluate("String(getSelection())") == ""
    page.locator("#documents").focus()
    press(page, "m Escape")
    assert page.evaluate("String(getSelection())") == ""
    expect(page.locator("#documents")).to_be_focused()

    # Whoever pauses comes back to the very place
    editor.focus()
    press(page, "Control+Home ArrowRight ArrowRight")
    saved(page)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("heading", name="Paused", exact=True).wait_for()
    press(page, "Enter")
    ready(page)
    expect(editor).to_be_focused()
    assert page.evaluate("editor.selectionStart") == 2
    press(page, "Control+Enter")
    expect(page.get_by_role("button", name="Keep writing")).to_be_focused()
    press(page, "Control+Enter Enter")
    expect(editor).to_be_focused()


KEYBOARD = """(height) => {
    Object.defineProperty(visualViewport, "height", { configurable: true, get: () => height });
    visualViewport.dispatchEvent(new Event("resize"));
}"""
HIT = """() => {
    const [hit] = CSS.highlights.get("hit-now"), range = document.createRange();
    range.setStart(hit.startContainer, hit.startOffset);
    range.setEnd(hit.endContainer, hit.endOffset);
    const { left, top, bottom } = range.getBoundingClientRect();
    return Boolean(document.elementFromPoint(left + 2, (top + bottom) / 2)?.closest(".reading"));
}"""
GUESS = """[...document.styleSheets].at(-1).insertRule(
    ".session .doc { contain-intrinsic-size: 4rem !important }")"""
"""Holds documents that are not laid out yet to be much lower than they are."""
LINE = """() => {
    const editor = document.querySelector("#editor"), { top, bottom } = editor.getBoundingClientRect();
    const lineHeight = parseFloat(getComputedStyle(editor).lineHeight), all = editor.scrollHeight;
    const line = top + all - editor.scrollTop - lineHeight - 2 * parseFloat(getComputedStyle(editor).paddingTop);
    return [line, line + lineHeight, top, bottom];
}"""


STILL_MS = 600
BEGAN = """(number) => {
    const view = document.querySelector(".documents").getBoundingClientRect();
    const { top, bottom } = document.querySelector(`#doc-${number}`).getBoundingClientRect();
    return top < Math.max(view.top, 0) + 100 && bottom > Math.max(view.top, 0) + 100;
}"""
"""Whether a document has begun at the upper edge, below what sticks there, and goes on."""


def is_read(page: Page, number: str) -> None:
    """The document is on the screen, and is the one that `c` cites."""
    page.wait_for_timeout(STILL_MS)
    expect(page.locator("[data-jump][aria-current]")).to_have_attribute("data-jump", number)
    page.wait_for_function(BEGAN, arg=number)


def is_in_sight(page: Page, *, height: float) -> None:
    """Clock, saved state and the last line of the summary are on the screen, with nothing over them."""
    for part in ("[data-clock]", "[data-save-state]"):
        box = page.locator(part).bounding_box()
        assert 0 <= box["y"] < box["y"] + box["height"] <= height, part
        assert page.locator(part).evaluate(
            "(each) => { const { left, top, width, height } = each.getBoundingClientRect();"
            " return each.contains(document.elementFromPoint(left + width / 2, top + height / 2)); }"
        ), part
    bar = page.locator(".bar").bounding_box()
    first, last, top, bottom = page.evaluate(LINE)
    assert max(top, bar["y"] + bar["height"]) - 2 <= first < last <= min(bottom, height) + 2


def test_clock_state_and_the_line_being_typed_stay_in_sight(
    browser: Browser, site: Site, desk: Callable[[str], Page]
) -> None:
    page = desk("handy")
    begin(page)
    write(page, "\n".join(f"- Line {number} [1]" for number in range(1, 31)))
    saved(page)
    page.locator("[data-query]").fill("in part 2")
    press(page, "Escape Escape l")  # this study lists hits
    hits = page.locator("[data-hits] button")
    expect(hits.first).to_be_focused()
    expect(hits.first).to_contain_text(re.compile(r"^\[5\].*In part 2, the"))
    press(page, "Tab Enter")
    expect(page.locator("[data-count]")).to_have_text(re.compile(r"^2 of \d+, in \d documents$"))
    page.locator("#documents").focus()
    press(page, "l")
    for width, height in ((683, 384), (341, 192), (390, 500)):
        page.locator("#documents").focus()
        press(page, "g 4 Enter ArrowDown ArrowDown ArrowDown")
        page.wait_for_timeout(STILL_MS)  # where one reads is noted
        page.set_viewport_size({"width": width, "height": height})
        is_read(page, "4")
        for _ in range(2):
            press(page, "F9")
            is_read(page, "4")
        page.locator("#editor").blur()
        page.evaluate("scrollTo(0, 0)")
        page.evaluate("document.querySelector('#editor').scrollTop = 0")
        write(page, "x")
        is_in_sight(page, height=height)
        page.locator("[data-query]").fill("in part 2")
        press(page, "Enter")
        page.wait_for_function(HIT)
        press(page, "F9")
        page.locator("#editor").focus()
        press(page, "Control+End")
        left, right = page.locator("#documents").bounding_box(), page.locator("#editor").bounding_box()
        assert left["x"] + left["width"] <= right["x"]
        is_in_sight(page, height=height)
        press(page, "F9")

    address = page.url
    phone = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, base_url=site.url
    )
    page = phone.new_page()
    site.enter(page, "handy")
    page.goto(address)
    ready(page)
    expect(page.locator("#editor")).not_to_be_focused()
    page.locator("[data-query]").fill("in part 2")
    onward = page.locator("[data-next]")
    box = onward.bounding_box()
    for at in (1, 2, 3):  # each tap on the same spot
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(page.locator("[data-count]")).to_contain_text(f"{at} of ")
    expect(page.locator("[data-query]")).to_be_focused()
    page.locator("[data-query]").blur()
    assert onward.bounding_box() == box
    page.get_by_role("button", name="Hits").tap()
    page.evaluate(GUESS)
    last = page.locator("[data-hits] button").last
    cited = last.locator("b").inner_text().strip("[]")
    last.tap()
    expect(page.locator("[data-hits]")).to_be_hidden()
    page.wait_for_timeout(300)
    assert page.evaluate(HIT), "the documents on the way there were laid out meanwhile"
    expect(page.locator(f"[data-jump='{cited}']")).to_have_attribute("aria-current", "true")
    page.locator("#editor").tap()
    page.evaluate(KEYBOARD, 508)
    press(page, "Control+End")
    page.locator("[data-act=bullet]").tap()
    expect(page.locator("#editor")).to_be_focused()
    page.keyboard.type("Last")
    page.locator("[data-act=brackets]").tap()
    page.keyboard.type("2")
    page.locator("[data-cite-now]").tap()
    assert page.locator("#editor").input_value().endswith(f"- Last [2, {cited}]")
    is_in_sight(page, height=508)
    for button in page.locator(".key-row button").all():
        box = button.bounding_box()
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= 508
    documents = page.locator("#documents").bounding_box()
    assert documents["height"] > 60
    phone.close()
