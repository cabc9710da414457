"""Label work at 200 % and 400 %: text and answer both have room. For who asks for less motion nothing moves."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Site, press, seated
from tests.e2e.test_core_loop_story import HIT
from tests.e2e.test_phone_story import LIES_FREE, open_item

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


def test_at_200_percent_what_is_asked_and_searched_for_lies_free(
    browser: Browser, site: Site, ahead: dict[str, str]
) -> None:
    def lie_free(*parts: str) -> None:
        for part in parts:
            found = page.locator(part).locator("visible=true").all()
            assert found, part
            assert all(each.evaluate(LIES_FREE) for each in found), part
        assert page.locator("[data-asking]").bounding_box()["height"] <= 384 / 2

    with seated(browser, site, "xenia", viewport={"width": 683, "height": 384}) as page:
        open_item(page, ahead["validation"], 5)
        press(page, "3")
        lie_free("[data-why] .level", "[data-why] legend", "[data-onward]", ".level kbd", ".bar kbd")
        open_item(page, ahead["linking"], 5)
        press(page, "2")
        lie_free(".is-current legend", ".is-current .level", ".is-current .chip", ".is-current .missing")
        open_item(page, ahead["rating"], 5)
        lie_free(".is-current .ends span", ".is-current .level", "[data-onward]")
        open_item(page, ahead["verification"], 5)
        press(page, "/")
        page.keyboard.type("weather")
        press(page, "Enter Shift+Enter")
        lie_free("[data-query]", "[data-count]", "[data-onward]")
        expect(page.locator(".level").first).not_to_be_in_viewport()
        press(page, "Escape")
        lie_free("[data-first] .level", "[data-second] .level")
        page.wait_for_function(HIT)


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
