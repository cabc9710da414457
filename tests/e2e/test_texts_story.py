"""Texts and browsers as people have them: what is on the screen is found, and what a page cannot do it says."""

import json

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import Site, at_item, begin, until
from tests.e2e.scene_texts import CASES, QUOTE

pytestmark = pytest.mark.browser
CASES_FOUND = json.loads(CASES.read_text(encoding="utf-8"))["found"]
HITS = """() => [...CSS.highlights.get("hit")].map(
    ({ startContainer, startOffset, endOffset }) => startContainer.data.slice(startOffset, endOffset))"""
NODES = """const documents = document.querySelector(".documents"), nodes = [];
    documents.normalize();
    const walker = document.createTreeWalker(documents, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) nodes.push(walker.currentNode);"""
TRANSLATE = f"""() => {{
    {NODES}
    for (const node of nodes) {{
        const font = document.createElement("font");
        font.append(document.createElement("font"));
        font.firstChild.textContent = node.data.replaceAll("ferry", "Fähre");
        node.replaceWith(font);
    }}
}}"""
SPLIT = f"""() => {{
    {NODES}
    for (const node of nodes) for (let at = node.length - 1; at > 0; at -= 3) node.splitText(at);
}}"""
WITHOUT_TARGET = """() => {
    for (const type of ["keydown", "click", "focusin"]) for (const target of [document, window]) {
        target.dispatchEvent(new Event(type, { bubbles: true }));
        target.dispatchEvent(new KeyboardEvent(type, { bubbles: true, key: "j", code: "KeyJ" }));
    }
}"""
PRESS = """([selector, init]) => document.querySelector(selector).dispatchEvent(
    new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init }))"""


def finds_what_is_there(page: Page) -> None:
    """Search for each of the words that are written in other signs, and see them marked."""
    query = page.locator("[data-query]")
    for _, _, wanted, found in CASES_FOUND:
        query.fill(wanted)
        assert found is None or found in page.evaluate(HITS), wanted
    query.press("Enter")
    expect(page.locator("[data-count]")).to_contain_text("1 of")


def survives_a_translation(page: Page, notice: str) -> None:
    """Replace all nodes of the documents, as a browser does, and search on."""
    query, count = page.locator("[data-query]"), page.locator("[data-count]")
    query.fill("ferry")
    expect(count).to_contain_text("in")
    before = count.text_content()
    page.evaluate(SPLIT)
    page.wait_for_timeout(400)
    expect(count).to_have_text(str(before))
    page.evaluate(TRANSLATE)
    query.press("Enter")
    expect(page.locator(notice)).to_contain_text("Your browser shows a translation")
    expect(count).to_contain_text("translated text")
    query.fill("Fähre")
    query.press("Enter")
    expect(count).to_contain_text("1 of")


def press(page: Page, selector: str, **init) -> bool:
    """Send a key as another keyboard does; whether the page left it to the browser."""
    return page.evaluate(PRESS, [selector, init])


def test_a_session_reads_odd_signs_and_outlives_what_browsers_do(context: BrowserContext, site: Site) -> None:
    page = context.new_page()
    site.enter(page, "wren")
    task = site.scenes["scene_texts.prepare"]["task"]
    page.goto(f"/work/tasks/{task}/start/")
    begin(page)
    assert page.locator(".documents, #editor").evaluate_all("all => all.some(one => one.translate)") is False
    finds_what_is_there(page)
    assert press(page, "[data-query]", key="Escape", keyCode=229)
    expect(page.locator("[data-query]")).to_be_focused()

    editor = page.locator("#editor")
    editor.fill("- にほん")
    assert press(page, "#editor", key="Enter", keyCode=229)
    assert not press(page, "#editor", key="Enter", keyCode=13)
    expect(editor).to_have_value("- にほん\n- ")

    page.locator(".documents").focus()
    page.evaluate(WITHOUT_TARGET)
    assert not press(page, ".documents", key="J", code="KeyJ", modifierCapsLock=True)
    press(page, ".documents", key="о", code="KeyJ")
    expect(page.locator("[data-notice=keys]")).to_contain_text("The keys here are Latin letters")
    survives_a_translation(page, "[data-notice=translated]")
    told = "SELECT payload FROM annotation_sessionevent WHERE type = 'translated'"
    until(page, lambda: len(site.rows(told)) == 1)
    assert json.loads(site.rows(told)[0][0]) == {"is_on": True, "language": "en"}


def test_a_key_point_shows_its_quote_in_place_and_takes_keys_of_other_layouts(
    context: BrowserContext, site: Site
) -> None:
    page = context.new_page()
    site.enter(page, "wren")
    page.goto(f"/work/studies/{site.scenes['scene_texts.prepare']['study']}/go/?n=1")
    at_item(page, "1 / 1")
    mark = page.locator("mark[data-span]")
    expect(mark).to_have_text(QUOTE)
    assert mark.evaluate("mark => mark.previousSibling.data") == f"😀😀😀 {QUOTE} "
    finds_what_is_there(page)
    page.evaluate(WITHOUT_TARGET)

    page.locator(".documents").focus()
    press(page, ".documents", key="н", code="KeyY")
    expect(page.locator("[data-message]")).to_contain_text("The keys here are Latin letters")
    press(page, ".documents", key="Y", code="KeyY", modifierCapsLock=True)
    press(page, ".documents", key="&", code="Digit1")
    expect(page.locator(".judgments input:checked")).to_have_count(2)
    survives_a_translation(page, "[data-message]")
