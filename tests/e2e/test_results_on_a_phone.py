"""On a telephone: headline figures two abreast, long results folded but whole on paper, a bar in one row."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import PHONE, Site, ready, seated

pytestmark = pytest.mark.browser
PAIRS = "All figures of every two annotators"
TOPS = """bar => [...bar.querySelectorAll(":scope > *, .bar-end > *")]
    .filter((each) => each.checkVisibility() && getComputedStyle(each).position !== "absolute")
    .map((each) => each.getBoundingClientRect()).map(({ top, height }) => Math.round(top + height / 2))"""


@pytest.fixture
def ada(browser: Browser, site: Site) -> Iterator[Page]:
    """A researcher with a telephone: touch, no keyboard."""
    with seated(browser, site, "ada", **PHONE) as page:
        yield page


def test_headline_figures_stand_two_abreast_and_what_is_folded_is_a_tap_away_and_on_paper(
    ada: Page, site: Site
) -> None:
    ada.goto(f"/studies/{site.scenes['scene_charts.prepare']['study']}/figures/")
    cards = ada.locator(".figure-cards").first.locator(".card")
    expect(cards.nth(1)).to_be_visible()
    first, second, third = (cards.nth(at).bounding_box() for at in range(3))
    assert first["y"] == second["y"] < third["y"]
    assert first["x"] + first["width"] <= second["x"]
    assert ada.evaluate("document.documentElement.scrollWidth") == 390

    ada.get_by_text("More measures", exact=True).tap()
    folded = ada.locator("details.folded", has=ada.locator("summary", has_text=PAIRS)).last
    table = folded.locator("table")
    expect(table).to_be_hidden()
    ada.emulate_media(media="print")
    expect(table).to_be_visible()
    ada.emulate_media(media="screen")
    folded.locator("summary").tap()
    expect(table).to_be_visible()


def test_the_bar_of_a_session_is_one_row_and_names_no_key_to_who_has_none(ada: Page, site: Site) -> None:
    ada.goto(f"/studies/{site.scene['studies']['looks']}/preview/")
    ready(ada)
    assert len(set(ada.locator(".bar").evaluate(TOPS))) == 1
    onward = ada.locator("[data-next-problem]")
    ada.locator("#editor").fill("- Ferries leave at six [99]\n- Fares rise in May [98]")
    expect(onward).to_be_visible()
    expect(onward.locator("kbd")).to_be_hidden()
    onward.tap()
    expect(ada.locator("[data-problems]")).to_contain_text("2 problems")
