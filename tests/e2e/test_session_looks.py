"""The pages of a session under axe-core, light and dark, wide and narrow, and by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.conftest import begin, ready, saved, write

pytestmark = pytest.mark.browser
VIEWS = [("light", 1360, 820), ("dark", 1360, 820), ("light", 400, 800), ("dark", 320, 256)]


def serious(page: Page) -> list[str]:
    """What axe finds serious or critical, in every view of the page as it is."""
    found = set()
    for scheme, width, height in VIEWS:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": height})
        violations: list[dict[str, Any]] = Axe().run(page).response["violations"]
        for violation in violations:
            if violation["impact"] in {"serious", "critical"}:
                places = [node["target"][0] for node in violation["nodes"]]
                found.add(f"{scheme} {width}: {violation['id']} at {places[:3]}")
        overflow = page.evaluate("document.documentElement.scrollWidth > innerWidth + 1")
        if overflow:
            found.add(f"{scheme} {width}: scrolls sideways")
    page.set_viewport_size({"width": 1360, "height": 820})
    return sorted(found)


def test_every_page_of_a_session_is_accessible(desk: Callable[[str], Page]) -> None:
    page = desk("looks")
    assert serious(page) == []
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
    write(page, " j r ? /")
    expect(page.locator("#editor")).to_have_value("- A fact [1, 99]\n- Uncited j r ? /")
    page.get_by_role("separator").focus()
    before = page.locator(".source").bounding_box()
    page.keyboard.press("ArrowLeft")
    after = page.locator(".source").bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] < before["width"]

    page.get_by_role("button", name="Submit…").click()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Your summary is submitted").wait_for()
    assert serious(page) == []
    page.get_by_role("link", name="read it again").click()
    assert serious(page) == []
