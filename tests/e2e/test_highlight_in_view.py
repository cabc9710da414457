"""A key point opens at its highlight, in whatever window it is read."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import Site, at_item, press

pytestmark = pytest.mark.browser

WINDOWS = {
    "phone": (390, 844),
    "phone on its side": (844, 390),
    "narrow": (768, 1024),
    "at 200 %": (640, 410),
    "wide": (1280, 820),
}
IN_SIGHT = """() => {
    const box = document.querySelector("mark[data-span]").getBoundingClientRect();
    const points = [[box.left + 4, box.top + 4], [box.left + box.width / 2, box.top + box.height / 2]];
    return points.every(([x, y]) => document.elementFromPoint(x, y)?.matches("mark[data-span]"));
}"""


def is_in_sight(page: Page) -> None:
    """Wait until the highlight is on the screen with nothing over it."""
    page.wait_for_function(IN_SIGHT)
    page.wait_for_timeout(150)
    assert page.evaluate(IN_SIGHT), "it stays there"


@pytest.mark.parametrize("window", WINDOWS)
def test_a_key_point_opens_at_its_highlight(
    context: BrowserContext, site: Site, ahead: dict[str, str], window: str
) -> None:
    page = context.new_page()
    width, height = WINDOWS[window]
    page.set_viewport_size({"width": width, "height": height})
    site.enter(page, "quinn")
    page.goto(f"/work/studies/{ahead['verification']}/go/?n=1")
    for number in (1, 2, 3):
        at_item(page, f"{number} / 12")
        is_in_sight(page)
        document = page.locator("mark[data-span]").evaluate("mark => mark.closest('.doc').dataset.number")
        expect(page.locator("[data-jump][aria-current]")).to_have_attribute("data-jump", document)
        press(page, "ArrowRight")
