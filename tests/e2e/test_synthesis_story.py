"""A researcher makes a haystack from a topic: steps and gates, review by keys with undo, into the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import SECONDS, Site, copied
from tests.e2e.test_session_looks import serious
from tests.e2e.test_systems_story import worker
from tests.fake_openai import serving
from tests.synthesis.scripted import Script

pytestmark = pytest.mark.browser
WORKED_MS = 60_000
SMALL = {"Subtopics": 2, "Insights asked for in each": 4, "Documents": 8, "Words in a document, about": 60}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Iterator[Site]:
    """A site of its own, which may ask a server that leaks one insight for good."""
    with serving(behaviour=Script(leaks={2: 99})) as server:
        made = copied(bare, tmp_path_factory)
        made.env["OPENAI_BASE_URLS"] = server.address
        made.scenes = made.play("scene_systems.prepare")
        made.start()
        yield made
        made.kill()


def run(page: Page, lab: Site, name: str) -> None:
    """Start the next step and wait until somebody has worked on it."""
    step = page.locator(".step.is-next")
    expect(step.get_by_role("heading")).to_contain_text(name)
    step.get_by_role("button", name="Start").click()
    working = worker(lab)
    expect(page.locator("#steps[hx-get]")).to_have_count(0, timeout=WORKED_MS)
    working.wait(SECONDS)
    page.reload()


def test_from_a_topic_over_a_review_by_keys_into_the_corpus(browser: Browser, lab: Site) -> None:
    context = browser.new_context(viewport={"width": 1360, "height": 820}, base_url=lab.url, locale="en-GB")
    context.set_default_timeout(SECONDS * 1000)
    page = context.new_page()
    lab.enter(page, "ada")
    page.goto("/corpora/")
    page.get_by_role("link", name="Make a haystack").click()
    page.get_by_role("link", name="Begin with a topic").click()
    page.get_by_role("textbox", name="Topic").fill("A small town")
    page.get_by_role("textbox", name="Model", exact=True).fill("sparrow-1")
    for label, n in SMALL.items():
        page.get_by_role("spinbutton", name=label, exact=True).fill(str(n))
    page.get_by_role("spinbutton", name="Documents of an insight, at least").fill("2")
    assert serious(page) == []
    page.get_by_role("button", name="Begin").click()
    for name in ("Subtopics", "Insights", "Screening", "Documents", "Queries"):
        run(page, lab, name)
        assert serious(page) == []
        if name == "Documents":
            page.locator("a[href$='/documents/review/']").click()
            _review(page)
            page.get_by_role("link", name="A small town").click()
        if name != "Insights":
            page.get_by_role("button", name="Go on", exact=True).click()
    page.get_by_role("button", name="Take it into the corpus").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A small town")
    expect(page.get_by_role("region", name="Subtopics")).to_contain_text("Harbour works")
    context.close()


def _review(page: Page) -> None:
    """Reject by two keys, take it back, accept, and go on to the next one; on a phone nothing is cut off."""
    expect(page.get_by_role("complementary", name="Decide")).to_be_visible()
    assert serious(page) == []
    first = page.locator("#part-title").inner_text()
    cursor = page.locator(".pairs .is-current")
    judged = cursor.inner_text().split("\n")[0]
    page.keyboard.press("1")  # a verdict, and no rejection without x
    expect(page.locator("ol.pairs")).to_contain_text("ada: present")
    expect(page.locator("#part-title")).to_have_text(first)
    expect(cursor).not_to_contain_text(judged)
    page.keyboard.press("u")
    expect(page.locator("ol.pairs")).not_to_contain_text("ada: present")
    expect(cursor).to_contain_text(judged)
    page.keyboard.press("n")
    expect(cursor).not_to_contain_text(judged)
    page.keyboard.press("x")
    page.keyboard.press("5")
    expect(page.locator("#part-title")).not_to_have_text(first)
    page.keyboard.press("u")
    expect(page.locator("#part-title")).to_have_text(first)
    page.keyboard.press("a")
    expect(page.locator("#part-title")).not_to_have_text(first)
    second = page.locator("#part-title").inner_text()
    page.keyboard.press("j")
    expect(page.locator("#part-title")).not_to_have_text(second)
    page.keyboard.press("e")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1360, "height": 820})
