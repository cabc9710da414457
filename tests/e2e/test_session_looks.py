"""The pages of a session under axe-core, light and dark, wide and narrow, and by keyboard alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import ALL_RULES, CONTRAST, violations
from tests.e2e.conftest import AT_REST, begin, ready, saved, write

pytestmark = pytest.mark.browser
VIEWS = [
    ("light", 1360, 820, ALL_RULES),
    ("dark", 1360, 820, CONTRAST),
    ("light", 400, 800, ALL_RULES),
    ("dark", 320, 256, ALL_RULES),
]


def serious(page: Page) -> list[str]:
    """What axe finds serious or critical, in every view of the page as it is."""
    found = set()
    for scheme, width, height, rules in VIEWS:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": height})
        for violation in violations(page, rules):
            if violation["impact"] in {"serious", "critical"}:
                places = [node["target"][0] for node in violation["nodes"]]
                why = violation["nodes"][0]["failureSummary"]
                found.add(f"{scheme} {width}: {violation['id']} at {places[:3]}: {why}")
        overflow = page.evaluate("document.documentElement.scrollWidth > innerWidth + 1")
        if overflow:
            found.add(f"{scheme} {width}: scrolls sideways")
    page.set_viewport_size({"width": 1360, "height": 820})
    return sorted(found)


def small_targets(page: Page) -> list[str]:
    """What can be pressed and is under 24 pixels; links in running text may be."""
    script = """[...document.querySelectorAll("button, a, input, summary, textarea")].filter((each) => {
        const { width, height } = (each.closest("label") ?? each).getBoundingClientRect();
        const shown = each.checkVisibility({ contentVisibilityAuto: true });
        return shown && !each.matches(".skip-link, .muted a") && (width < 24 || height < 24);
    }).map((each) => each.outerHTML.slice(0, 120))"""
    return list(page.evaluate(script))


def test_every_page_of_a_session_is_accessible(desk: Callable[[str], Page]) -> None:
    page = desk("looks")
    assert serious(page) == []
    page.get_by_role("link", name="Take the tour").click()
    page.get_by_role("dialog", name="Tour").wait_for()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.wait_for_url("**/start/")
    begin(page)
    write(page, "- A fact [1, 99]\n- Uncited")
    page.get_by_label("Search the documents").fill("the")
    page.get_by_role("button", name="Read document 5").click()
    saved(page)
    assert serious(page) == []
    page.get_by_role("button", name="Rules and keys").click()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Submit…").click()
    assert serious(page) == []
    page.get_by_role("button", name="Keep writing").click()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("heading", name="Paused").wait_for()
    assert serious(page) == []

    page.keyboard.press("Enter")  # the way on has the focus
    ready(page)
    page.locator("body").click(position={"x": 700, "y": 400})
    page.keyboard.press("j")
    expect(page.locator("[data-jump='2']")).to_have_attribute("aria-current", "true")
    page.keyboard.press("r")
    expect(page.get_by_role("button", name="Read document 2")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("k")
    expect(page.locator("[data-jump='5']")).to_have_attribute("aria-current", "true")
    window = page.viewport_size
    assert window
    for height, keys in ((window["height"], "jjjj"), (3000, "kkkkj")):  # the last one, and where all of them fit
        page.set_viewport_size(window | {"height": height})
        for key in keys:
            page.keyboard.press(key)
            page.locator("#documents > :last-child").evaluate(AT_REST)  # after whatever scrolled
        number = "3" if keys == "jjjj" else "2"
        expect(page.locator("[aria-current][data-jump]")).to_have_attribute("data-jump", number)
    page.reload()
    ready(page)
    page.set_viewport_size(window)
    page.locator("body").click(position={"x": 700, "y": 400})
    write(page, " j r ? /")
    expect(page.locator("#editor")).to_have_value("- A fact [1, 99]\n- Uncited j r ? /")
    page.get_by_role("separator").focus()
    before = page.locator(".source").bounding_box()
    page.keyboard.press("ArrowLeft")
    after = page.locator(".source").bounding_box()
    assert after["width"] < before["width"]

    page.locator("#editor").focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.type("- Third [12 and 2] [1-3]")
    expect(page.locator("#editor")).to_have_value("- A fact [1, 99]\n- Uncited j r ? /\n- Third [12 and 2] [1-3]")
    expect(page.locator("[data-problems]")).to_contain_text("Line 3: [12 and 2] is not read as a citation")
    page.keyboard.press("F8")
    expect(page.locator("[data-problems]")).to_have_text("2 problems · Line 1: [99]: not among your documents.")
    assert (
        page.evaluate(
            "getSelection().toString() || editor.value.slice(editor.selectionStart, editor.selectionEnd)"
        )
        == "[1, 99]"
    )
    page.keyboard.press("Escape")
    expect(page.locator("#documents")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("ferry")
    page.keyboard.press("Escape")
    expect(page.locator("#documents")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#editor")).to_be_focused()
    for width, height in [(1360, 820), (683, 384), (390, 844), (320, 256)]:
        page.set_viewport_size({"width": width, "height": height})
        assert small_targets(page) == []
    for height in (844, 640):  # on a telephone search, text and editor are all on the screen
        page.set_viewport_size({"width": 390, "height": height})
        for part in ("[data-query]", "#documents", "#editor"):
            box = page.locator(part).bounding_box()
            assert box["height"] > 25
            assert 0 <= box["y"] < box["y"] + box["height"] <= height
    page.set_viewport_size({"width": 1360, "height": 820})

    page.get_by_role("button", name="Submit…").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # twice by mistake: nothing is submitted
    expect(page.locator("#editor")).to_be_focused()
    page.get_by_role("button", name="Submit…").click()
    page.get_by_role("button", name="Go to line 2").click()
    assert page.evaluate("editor.value.slice(editor.selectionStart, editor.selectionEnd)") == "- Uncited j r ? /"
    page.get_by_role("button", name="Submit…").click()
    page.get_by_role("dialog").get_by_role("button", name="Submit", exact=True).click()
    page.get_by_role("heading", name="Your summary is submitted").wait_for()
    assert serious(page) == []
    page.get_by_role("link", name="read it again").click()
    page.get_by_text("Active time").wait_for()
    assert serious(page) == []
