"""Forms show what one has to decide; the rest is folded at its defaults and summed up in a line."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_every_page import demo_site  # noqa: F401 - a fixture
from tests.e2e.test_first_looks import ada  # noqa: F401 - a fixture

pytestmark = pytest.mark.browser
MOST_INPUTS, MOST_PX = 15, 1_000
NEW = {kind: f"/studies/{kind}/new/" for kind in ("writing", "linking", "verification", "validation", "rating")}
OTHERS = {
    "responses": "/questions/recall/run/",
    "judge": "/judges/new/",
    "summarizer": "/summarizers/new/",
}
SHOWN = """() => ({
    inputs: [...document.querySelectorAll("main :is(input, select, textarea)")]
        .filter((each) => each.type !== "hidden" && each.checkVisibility()).map((each) => each.name),
    px: document.querySelector("main form .actions, main form > button").getBoundingClientRect().bottom + scrollY,
})"""


@pytest.mark.parametrize("name", [*NEW, *OTHERS])
def test_the_first_screen_of_a_form_is_short(ada: Page, name: str) -> None:  # noqa: F811
    ada.set_viewport_size({"width": 1366, "height": 768})
    ada.goto((NEW | OTHERS)[name])
    ada.wait_for_load_state("networkidle")
    found = ada.evaluate(SHOWN)
    assert 0 < len(found["inputs"]) <= MOST_INPUTS, found["inputs"]
    assert found["px"] <= MOST_PX


def test_lines_and_expected_work_follow_what_is_chosen_without_leaving_the_page(ada: Page) -> None:  # noqa: F811
    ada.goto(NEW["linking"])
    ada.locator("#items > summary").click()
    ada.get_by_role("group", name="Haystacks").get_by_role("checkbox").first.check()
    expect(ada.locator("#items-line")).to_have_text(re.compile(r"All \d+ summaries of 1 haystack"))
    expect(ada.locator("#takes")).to_contain_text("of active time in all")
    line = ada.locator("#rest-line")
    expect(line).to_contain_text("a trial first")
    line.click()
    ada.get_by_label("New annotators begin with a trial").uncheck()
    expect(line).to_contain_text("no trial")
    expect(ada.get_by_label("New annotators begin with a trial")).to_be_visible()  # nothing has closed
