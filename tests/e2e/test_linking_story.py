"""Two people link the same summaries by keyboard, one of them through a broken line; a researcher reads it all."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import Site, at_item, press, saved, seated
from tests.e2e.test_verification_story import open_work

pytestmark = pytest.mark.browser
Desk = Callable[[str], Page]

QUERY = """
    SELECT l.coverage, l.lines FROM annotation_coveragelabel l
    JOIN annotation_annotator a ON a.id = l.annotator_id
    JOIN annotation_labeltask t ON t.id = l.task_id
    WHERE a.label = ? AND t.position = ? AND l.is_current ORDER BY l.insight_id
"""


def ready(page: Page, number: int) -> None:
    """Wait until a summary is there and takes keys."""
    at_item(page, f"{number} / 4")


UNDO_TWICE = """async () => {
    const key = () => new KeyboardEvent("keydown", { key: "u", bubbles: true });
    const isShut = () => "gate" in document.querySelector("[data-label-task]").dataset;
    document.activeElement.dispatchEvent(key());
    if (!isShut()) throw new Error("The first undo is not on its way.");
    const pressedMeanwhile = key();
    while (isShut()) await new Promise((done) => setTimeout(done, 10));
    document.activeElement.dispatchEvent(pressedMeanwhile);
}"""
"""The second key is pressed while the first undo is on its way, and reaches the page once that is done."""


def answer_all(page: Page, number: int) -> None:
    """No insight is covered; then on, which the last Enter does."""
    ready(page, number)
    count = page.locator(".question").count()
    press(page, " ".join(["1 Enter"] * count))


def test_two_people_link_by_keyboard_and_a_researcher_reads_it(
    desk: Desk, site: Site, browser: Browser, context: BrowserContext, tmp_path: Path
) -> None:
    linda = desk("linda")
    linda.get_by_role("link", name="My work").first.click()
    linda.get_by_role("link", name="Start", exact=True).click()
    ready(linda, 1)

    press(linda, "1 b")
    expect(linda.locator("[data-announce]")).to_have_text("Choose partial or full first, then the bullet.")
    press(linda, "3")
    expect(linda.locator(".is-current [data-missing]")).to_be_visible()
    press(linda, "a Enter 2 c x")
    saved(linda)
    assert site.rows(QUERY, "Linda", 1) == [("full", "[3]"), ("partial", "[5]")]
    linda.evaluate(UNDO_TWICE)
    saved(linda)
    expect(linda.locator("[data-missing]:visible")).to_have_count(1)
    assert site.rows(QUERY, "Linda", 1) == [("full", "[3]"), ("partial", "[]")]

    press(linda, "s")
    linda.keyboard.type("1 a u f: no shortcut in here")
    press(linda, "Escape")
    expect(linda.locator("[data-flag]")).to_have_attribute("aria-pressed", "false")
    linda.locator("[data-question]").nth(1).focus()
    press(linda, "f")
    expect(linda.locator("[data-flag]")).to_have_attribute("aria-pressed", "true")

    press(linda, "?")
    expect(linda.locator("[data-guide]")).to_contain_text("Full means nothing is lost.")
    linda.get_by_label("Keyboard shortcuts").uncheck()
    press(linda, "1")
    expect(linda.locator("[data-question]").nth(1).get_by_label("partial")).to_be_checked()
    linda.get_by_label("Keyboard shortcuts").check()
    press(linda, "Escape")
    linda.locator("[data-question]").nth(1).focus()

    context.set_offline(True)
    press(linda, "c Enter 1")
    expect(linda.locator("[data-save-state]")).to_contain_text("Offline", timeout=20_000)
    context.set_offline(False)
    saved(linda)
    rows = site.rows(QUERY, "Linda", 1)
    assert rows[:2] == [("full", "[3]"), ("partial", "[5]")]
    assert all(row[0] == "none" for row in rows[2:])
    while linda.locator(".question:not(.is-answered)").count():
        press(linda, "Enter 1")
    saved(linda)
    assert linda.evaluate("document.documentElement.scrollHeight <= innerHeight"), "only the panes scroll"
    here = linda.url.split("#")[0]
    with linda.expect_response(lambda answer: "/work/linking/" in answer.url and answer.url != here):
        linda.reload()  # the next one is fetched ahead
    ready(linda, 1)
    expect(linda.locator("[data-flag]")).to_have_attribute("aria-pressed", "true")
    linda.wait_for_load_state("networkidle")
    linda.evaluate("window.isTheSamePage = true")
    press(linda, "Enter")
    ready(linda, 2)
    assert linda.evaluate("window.isTheSamePage"), (
        "the next summary was fetched before and took the place of this one"
    )

    press(linda, "s 4")
    linda.keyboard.type("cannot be read")
    press(linda, "Enter")
    ready(linda, 3)
    answer_all(linda, 3)
    answer_all(linda, 4)
    expect(linda.get_by_role("heading", name="All done")).to_be_visible()
    linda.get_by_role("link", name="Number 2").click()
    ready(linda, 2)
    expect(linda.locator(".notice")).to_contain_text("cannot be read")

    with seated(browser, site, "lars", color_scheme="dark") as lars:
        open_work(lars)
        for number in range(1, 5):
            answer_all(lars, number)
        expect(lars.get_by_role("heading", name="All done")).to_be_visible()
        assert "Linda" not in lars.content()
    with seated(browser, site, "ada") as ada:
        ada.goto(f"/studies/{site.scene['studies']['links']}/")
        expect(ada.get_by_role("row", name="Linda annotator1")).to_contain_text("3 / 4")
        expect(ada.get_by_role("row", name="Lars annotator2")).to_contain_text("4 / 4")
        expect(ada.get_by_role("main")).to_contain_text("cannot be read")
        with ada.expect_download() as download:
            ada.get_by_role("link", name="Labels, CSV", exact=True).click()
        file = tmp_path / "labels.csv"
        download.value.save_as(file)
        labels = list(csv.DictReader(file.read_text().splitlines()))
        assert {row["annotator"] for row in labels} == {"annotator1", "annotator2"}
        by_item: dict[str, set[str]] = {}
        for row in labels:
            by_item.setdefault(row["item"], set()).add(row["annotator"])
        assert sum(len(people) == 2 for people in by_item.values()) > 0
