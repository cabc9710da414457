"""Reading at length: lines of 66 to 72 characters, places that are remembered, hits drawn where they are."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import AT_REST, Site, at_item, begin, press, until

pytestmark = pytest.mark.browser

FITS = """() => {
    const text = document.querySelector(".doc .reading"), line = document.createElement("p");
    const sample = text.textContent.replace(/\\s+/g, " ").slice(0, 2000);
    line.style.cssText = "position: absolute; white-space: nowrap; visibility: hidden; max-width: none";
    line.textContent = sample;
    text.append(line);
    const each = line.getBoundingClientRect().width / sample.length;
    line.remove();
    return text.getBoundingClientRect().width / each;
}"""
FONTS = """async () => {
    await document.fonts.ready;
    const loaded = [...document.fonts].filter((font) => font.status === "loaded").map((font) => font.family);
    return [...new Set(loaded.map((name) => name.replaceAll('"', "")))].sort();
}"""
WHERE = """(number) => {
    const view = document.querySelector(".documents").getBoundingClientRect();
    return view.top - document.querySelector(`#doc-${number}`).getBoundingClientRect().top;
}"""
RINGS = """() => [...document.querySelectorAll("*")].filter((each) => {
    const style = getComputedStyle(each), after = getComputedStyle(each, "::after");
    return each.matches(":focus") && (style.outlineStyle !== "none" || after.borderTopStyle === "solid");
}).map((each) => each.outerHTML.slice(0, 80))"""
ROWS = """() => [...document.querySelectorAll("[data-asking] .levels label.level")].map((each) => {
    const { width, height } = each.getBoundingClientRect();
    const row = each.closest(".levels").getBoundingClientRect();
    return [height, each.closest(".explained") ? row.width - width : 0];
})"""
IN_SIGHT = """() => {
    const ends = document.querySelector("[data-onward]").getBoundingClientRect().top;
    return [...document.querySelectorAll("[data-asking] .judgments label")].every((each) =>
        each.getBoundingClientRect().bottom <= ends);
}"""


def test_documents_are_read_in_our_serif_and_open_where_they_were_left(desk: Callable[[str], Page]) -> None:
    page = desk("leafed")
    page.set_viewport_size({"width": 1440, "height": 820})
    begin(page)
    assert {"Haystack Sans", "Haystack Serif"} <= set(page.evaluate(FONTS))
    assert 66 <= page.evaluate(FITS) <= 75  # what fits; the end of a line is a word earlier

    rail = page.get_by_role("navigation", name="Documents").get_by_role("link")
    first, second = (rail.nth(at).get_attribute("data-jump") for at in (0, 1))
    expect(rail.first).to_have_attribute("aria-current", "true")
    page.locator(".documents").evaluate("view => view.scrollBy(0, 160)")
    page.locator(f"#doc-{first}").evaluate(AT_REST)
    left_at = page.evaluate(WHERE, first)
    rail.nth(1).click()
    expect(rail.nth(1)).to_have_attribute("aria-current", "true")
    until(page, lambda: page.evaluate(WHERE, second) == pytest.approx(0, abs=5))
    rail.first.click()
    until(page, lambda: page.evaluate(WHERE, first) == pytest.approx(left_at, abs=24))
    page.locator(f"#doc-{first}").evaluate(AT_REST)
    rail.first.click()
    until(page, lambda: page.evaluate(WHERE, first) == pytest.approx(0, abs=5))  # once there, to its beginning


def test_the_list_of_documents_shows_where_hits_are_for_keys_too(desk: Callable[[str], Page]) -> None:
    page = desk("mapped")
    begin(page)
    page.get_by_label("Search the documents").fill("the")
    marked = page.locator(".rail [data-where]:not([data-where='0'])")
    expect(marked.first).to_be_visible()
    assert "var(--hit-edge)" in marked.first.evaluate("link => link.style.getPropertyValue('--where')")
    marked.first.focus()
    press(page, "Enter")
    expect(marked.first).to_have_attribute("aria-current", "true")
    page.get_by_label("Search the documents").fill("no such words anywhere")
    expect(marked).to_have_count(0)


def test_an_item_opens_without_a_ring_and_answers_are_whole_rows(
    context: BrowserContext, site: Site, ahead: dict[str, str]
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 1366, "height": 768})
    site.enter(page, "quinn")
    page.goto(f"/work/studies/{ahead['verification']}/go/?n=1")
    at_item(page, "1 / 12")
    press(page, "ArrowRight")
    at_item(page, "2 / 12")
    assert page.evaluate(RINGS) == []
    rows = page.evaluate(ROWS)
    assert len(rows) == 5
    assert all(height >= 44 for height, _short in rows)
    assert all(short <= 4 for _height, short in rows), "the words beside an answer belong to it"
    assert page.evaluate(IN_SIGHT), "every answer is in sight, not sure too"
    press(page, "Tab")
    assert page.evaluate(RINGS), "the keyboard shows where it is"
