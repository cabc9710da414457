"""Pages of results answer first: how long, how full and how deep they are before anything is opened."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.conftest import Site, opened
from tests.e2e.test_every_page import demo_site  # noqa: F401 - a fixture
from tests.e2e.walking import log_in

pytestmark = pytest.mark.browser
MOST_PX, MOST_LINKS, MOST_CARDS, FIRST_FIGURE_PX = 3_000, 25, 4, 400
STUDIES = {
    "people": ("what do the summaries cover", ""),
    "judges": ("what do the summaries cover", "?view=judges"),
    "bias": ("what do the summaries cover", "?view=bias"),
    "systems": ("what do the summaries cover", "?view=systems"),
    "writing": ("people against the clock", ""),
    "verification": ("found in the text", ""),
    "ratings": ("how good are the summaries", ""),
    "validation": ("what responses say", ""),
}
PAGES = {"leaderboard": "/leaderboard/", "recall": "/questions/recall/", "position": "/leaderboard/position/"}
PAGES["experiments"] = "/leaderboard/position/experiments/"
PAIRS = {"A": "#rows th a[href*='a=']", "A and B": "#rows td a[href*='b=']"}
MEASURED = """() => {
    const shown = (each) => each.checkVisibility();
    const all = (what) => [...document.querySelectorAll(`main ${what}`)].filter(shown);
    const figure = all(":is(.figure-value, figure.chart, table)")[0];
    return {
        px: document.documentElement.scrollHeight,
        links: all("a[href]").filter((link) => !link.closest("table, svg")).length,
        cards: all(".figure-cards .card").length,
        charts: all("figure.chart").length,
        answers: all(".answer").length,
        first: figure.getBoundingClientRect().top + scrollY,
    };
}"""


@pytest.fixture(scope="module")
def ada(demo_site: Site, browser: Browser) -> Iterator[Page]:  # noqa: F811
    with opened(browser, demo_site, reduced_motion="reduce") as context:
        page = context.new_page()
        log_in(page, "ada")
        yield page


def address_of(page: Page, name: str) -> str:
    """Where a page of the demo stands, as one comes to it by links."""
    if name in PAGES:
        return PAGES[name]
    if name in PAIRS:
        page.goto("/leaderboard/")
        return str(page.locator(PAIRS[name]).first.get_attribute("href"))
    study, view = STUDIES[name]
    page.goto("/studies/")
    page.get_by_role("link", name=study).first.click()
    return str(page.locator(".tabs").get_by_role("link", name="Results").get_attribute("href")) + view


@pytest.mark.parametrize("name", [*STUDIES, *PAGES, *PAIRS])
def test_an_answer_and_its_first_figures_stand_on_the_first_screen(ada: Page, name: str) -> None:
    address = address_of(ada, name)
    for width, height in ((1366, 768), (390, 844)):
        ada.set_viewport_size({"width": width, "height": height})
        ada.goto(address)
        ada.wait_for_load_state("networkidle")
        found = ada.evaluate(MEASURED)
        assert found["answers"] == 1, width
        assert found["px"] <= MOST_PX, width
        assert found["links"] <= MOST_LINKS, width
        assert found["cards"] <= MOST_CARDS, width
        assert found["charts"] <= 1, width
        assert found["first"] <= FIRST_FIGURE_PX, width
