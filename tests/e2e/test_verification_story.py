"""Two people verify key points by keyboard; one closes the browser in the middle of an item and comes back.

A researcher then takes the labels of one of them for the dataset and downloads it.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import AT_REST, Site, at_item, press, saved, seated, until
from tests.e2e.test_session_looks import serious

pytestmark = pytest.mark.browser
Desk = Callable[[str], Page]
N_POINTS = 6

QUERY = """
    SELECT l.grounded, l.keyness, l.is_unsure FROM annotation_pointlabel l
    JOIN annotation_annotator a ON a.id = l.annotator_id
    JOIN annotation_labeltask t ON t.id = l.task_id
    WHERE a.label = ? AND t.position = ? AND l.is_current
"""
TIME = """
    SELECT t.active_ms FROM annotation_labeltask t JOIN annotation_annotator a ON a.id = t.annotator_id
    WHERE a.label = ? AND t.position = ?
"""


def ready(page: Page, number: int) -> None:
    """Wait until a key point is there and takes keys."""
    at_item(page, f"{number} / {N_POINTS}")


def open_work(page: Page, button: str = "Start") -> None:
    """From the list of tasks to where one left off."""
    page.goto("/work/")
    page.get_by_role("link", name=button, exact=True).click()


def chosen(page: Page) -> list[str]:
    """The values of the answers that are chosen."""
    return page.locator(".judgments input:checked").evaluate_all("all => all.map(one => one.value)")


def verify_all(page: Page, answers: str, *, first: int = 1) -> None:
    """Answer key points in order with these keys, `y1 n …`; the last Enter leads to the end of the study."""
    for number, keys in enumerate(answers.split(), first):
        ready(page, number)
        press(page, " ".join(keys))
        expect(page.locator(".verification.is-complete")).to_be_attached()
        press(page, "Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()


def in_view(page: Page, selector: str) -> bool:
    """Whether an element is where the documents show it."""
    return page.evaluate(
        """(selector) => {
            const box = document.querySelector(selector).getBoundingClientRect();
            const frame = document.querySelector(".documents").getBoundingClientRect();
            return box.top >= frame.top && box.bottom <= Math.min(frame.bottom, innerHeight);
        }""",
        selector,
    )


def test_two_people_verify_by_keyboard_and_one_comes_back_to_the_middle_of_an_item(
    desk: Desk, site: Site, browser: Browser, context: BrowserContext
) -> None:
    vera = desk("vera")
    open_work(vera)
    ready(vera, 1)

    press(vera, "1")
    expect(vera.locator("[data-announce]")).to_contain_text("Answer yes to the first question")
    press(vera, "Enter")
    expect(vera.locator("[data-announce]")).to_contain_text("Answer first whether")
    expect(vera.get_by_label("agree", exact=False).first).to_be_disabled()
    press(vera, "y 2 x")
    saved(vera)
    assert site.rows(QUERY, "Vera", 1) == [("yes", "neutral", 1)]
    press(vera, "n")
    expect(vera.get_by_label("agree", exact=False).first).to_be_disabled()
    saved(vera)
    assert site.rows(QUERY, "Vera", 1) == [("no", "", 1)]
    press(vera, "u")
    expect(vera.get_by_label("neutral")).to_be_checked()
    press(vera, "x")
    saved(vera)

    press(vera, "?")
    expect(vera.locator("[data-guide]")).to_contain_text("A yes means that the text says it.")
    vera.get_by_label("Keyboard shortcuts").uncheck()
    press(vera, "n")
    assert chosen(vera) == ["yes", "neutral"]
    vera.get_by_label("Keyboard shortcuts").check()
    press(vera, "Escape s")
    vera.keyboard.type("n 3 u f: no shortcut in here")
    press(vera, "Escape")
    assert chosen(vera) == ["yes", "neutral"]
    assert serious(vera) == []

    press(vera, "/")
    vera.keyboard.type("paragraph 7 ON THE")
    expect(vera.locator("[data-count]")).to_have_text("3 in 2 documents")
    press(vera, "Enter Escape f")
    expect(vera.locator("[data-count]")).to_have_text("1 of 3, in 2 documents")
    expect(vera.locator("[data-flag]")).to_have_attribute("aria-pressed", "true")
    expect(vera.locator(".documents")).to_be_focused()

    marked = next(n for n in range(2, N_POINTS + 1) if _goes_to_marked(vera, n))
    assert in_view(vera, "mark[data-span]")
    vera.locator(".documents").evaluate(AT_REST)  # until then the way there goes on
    vera.evaluate("document.querySelector('.documents').scrollTo(0, 0)")
    assert not in_view(vera, "mark[data-span]")
    press(vera, "h")
    until(vera, lambda: in_view(vera, "mark[data-span]"))
    across = vera.locator("mark[data-span]").evaluate(
        "one => one.textContent.slice(-6) + one.nextSibling.data.slice(0, 1)"
    )
    press(vera, "/")
    vera.keyboard.type(across)
    expect(vera.locator("[data-count]")).to_have_text("1 in 1 document")  # half of it inside the highlight
    press(vera, "Enter Escape y")
    saved(vera)
    assert site.rows(QUERY, "Vera", marked) == [("yes", "", 0)]
    context.close()  # the whole browser, in the middle of an item

    with seated(browser, site, "vera") as vera:
        open_work(vera, "Resume")
        ready(vera, marked)
        assert chosen(vera) == ["yes"]
        expect(vera.get_by_label("agree", exact=False).first).to_be_enabled()
        assert in_view(vera, "mark[data-span]")
        vera.evaluate("window.isTheSamePage = true")
        vera.context.set_offline(True)
        press(vera, "1")
        expect(vera.locator("[data-save-state]")).to_contain_text("Offline", timeout=20_000)
        vera.context.set_offline(False)
        saved(vera)
        assert site.rows(QUERY, "Vera", marked) == [("yes", "agree", 0)]
        expect(vera.locator("[data-done-count]")).to_have_text("2 done")
        press(vera, "Enter")
        expect(vera.locator("[data-all] summary strong")).not_to_have_text(f"{marked} / {N_POINTS}")
        assert vera.evaluate("window.isTheSamePage")
        while vera.locator(".verification").count():
            # keys are taken once the item is painted and its scripts run
            expect(vera.locator(".verification:not(.has-scripts), [data-gate]")).to_have_count(0)
            press(vera, "n")
            expect(vera.locator(".verification.is-complete")).to_be_attached()
            here = vera.url
            press(vera, "Enter")
            vera.wait_for_url(lambda url, before=here: url != before)
        expect(vera.get_by_role("heading", name="All done")).to_be_visible()
        assert all(site.rows(QUERY, "Vera", n)[0][0] in {"yes", "no"} for n in range(1, N_POINTS + 1))
        assert site.rows(TIME, "Vera", 1)[0][0] > 0
    with seated(browser, site, "viktor", color_scheme="dark") as viktor:
        open_work(viktor)
        ready(viktor, 1)
        verify_all(viktor, "y1 y1 y2 y3 n n")
        assert "Vera" not in viktor.content()
        assert site.rows(QUERY, "Viktor", 4) == [("yes", "disagree", 0)]
        viktor.get_by_role("link", name="3", exact=True).click()
        ready(viktor, 3)
        assert chosen(viktor) == ["yes", "neutral"]
    with seated(browser, site, "ada") as ada:
        take_one_and_export(ada, site.scene["studies"]["points"])


def take_one_and_export(page: Page, study: str) -> None:
    """See how far the two agree, take the labels of Viktor alone, and download what he kept: two of six."""
    page.goto(f"/studies/{study}/")
    parts = page.get_by_role("navigation", name="This study")
    parts.get_by_role("link", name="Results").click()
    expect(page.get_by_role("row", name="Is it a key point?").first).to_contain_text("0.250")
    assert serious(page) == []
    parts.get_by_role("link", name="Data").click()
    page.get_by_role("link", name="Dataset", exact=True).click()
    page.get_by_label("Vera").uncheck()
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.get_by_text("2 / 6").first).to_be_visible()
    expect(page.get_by_text("not recorded")).to_be_visible()
    page.get_by_label("Why").fill("Viktor read more closely")
    page.get_by_role("button", name="Make this the dataset").click()
    expect(page.get_by_role("heading", name="Version 1 of the dataset")).to_be_visible()
    assert serious(page) == []
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Dataset, JSON lines").click()
    rows = [json.loads(line) for line in Path(waiting.value.path()).read_text().splitlines()]
    assert [len(row["documents"]) for row in rows] == [2, 2]
    assert sum(len(row.get("key_points", [])) for row in rows) == 2


def _goes_to_marked(page: Page, number: int) -> bool:
    """Go to a number; whether the key point there has a highlight."""
    page.locator("[data-all] summary").click()
    page.locator("[data-all] [name=n]").fill(str(number))
    page.locator("[data-all]").get_by_role("button", name="Go").click()
    ready(page, number)
    return page.locator("mark[data-span]").count() > 0
