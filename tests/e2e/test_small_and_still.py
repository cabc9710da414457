"""Label work at 400 %: the text stands above the answer. And for who asks for less motion nothing moves."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Site, seated

pytestmark = pytest.mark.browser

MOVING = """() => {
    const ms = (time) => parseFloat(time) * (time.endsWith("ms") ? 1 : 1000);
    const takes = (times) => times.split(",").some((time) => ms(time) > 1);
    const moves = (style) => takes(style.transitionDuration)
        || (style.animationName !== "none" && takes(style.animationDuration));
    const styled = [...document.querySelectorAll("*")].filter((each) =>
        [null, "::before", "::after"].some((part) => moves(getComputedStyle(each, part))));
    const running = document.getAnimations().filter((each) => each.effect.getComputedTiming().duration > 1);
    return [...styled.map((each) => each.outerHTML.slice(0, 80)), ...running.map((each) => each.animationName)];
}"""

PARTS = """() => {
    const asking = document.querySelector("[data-asking]").getBoundingClientRect();
    const text = document.querySelector("[data-reading]").getBoundingClientRect();
    const answer = document.querySelector("[data-asking] .seg").getBoundingClientRect();
    return [Math.min(text.bottom, asking.top) - Math.max(text.top, 0), answer.bottom];
}"""


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """The researcher's browser, which asks for less motion."""
    with seated(browser, site, "ada", reduced_motion="reduce") as page:
        yield page


def preview(page: Page, site: Site, study: str) -> None:
    """The page of annotators, as the researcher sees it."""
    page.goto(f"/studies/{site.scene['studies'][study]}/preview/")


@pytest.mark.parametrize("study", ["points", "links"])
def test_at_400_percent_the_text_stands_above_the_answer(page: Page, site: Site, study: str) -> None:
    page.set_viewport_size({"width": 320, "height": 256})
    preview(page, site, study)
    page.locator(".has-scripts.is-folded").wait_for()
    text_height, answer_ends = page.evaluate(PARTS)
    assert text_height >= 80
    assert answer_ends <= 256
    page.locator("[data-fold]").click()
    expect(page.locator(".is-folded")).to_have_count(0)
    text_height, _answer_ends = page.evaluate(PARTS)
    assert text_height >= 80


def test_nothing_moves_for_who_asks_for_less_motion(page: Page, site: Site) -> None:
    page.goto("/profile/")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".message")).to_be_visible()
    assert page.evaluate(MOVING) == []
    study = f"/studies/{site.scene['studies']['links']}/"
    for path in ("/", "/studies/", "/corpora/", "/leaderboard/", study, f"{study}agreement/"):
        page.goto(path)
        assert page.evaluate(MOVING) == [], path
    for kind in ("points", "links", "looks"):
        preview(page, site, kind)
        assert page.evaluate(MOVING) == [], kind
