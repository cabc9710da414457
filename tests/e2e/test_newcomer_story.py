"""The first ten minutes: from a link to the first paid item, with a trial or practice that explains itself."""

import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import annotation
from tests.e2e.conftest import Site, at_item, begin, copied, opened, press, saved, write
from tests.e2e.test_session_looks import serious

pytestmark = pytest.mark.browser
MOST_SCREENS = 9
PANEL_ID = "5f1e000000000000000000{:02x}"
KEYS = {"none": "1", "partial": "2", "full": "3", "agree": "1", "neutral": "2", "disagree": "3"}
COSTS = (("linking", "2 a", 2), ("verification", "y 1", 2), ("validation", "2", 2), ("rating", "4 3 5 4 2", 5))
"""Keys of the longest answer of a kind, and how many there may be."""
ANSWERS = {"yes": "1", "neutral": "2", "no": "3"}
DECIDES_FREE = """() => [...CSS.highlights.get("decides") ?? []].some((each) => {
    const { top, bottom } = each.getBoundingClientRect();
    return top >= 0 && bottom <= document.querySelector("[data-asking]").getBoundingClientRect().top;
})"""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Iterator[Site]:
    """A site with a corpus to practise on, which would come before every other story's writing."""
    with copied(bare, tmp_path_factory).served("scene_trial.prepare") as made:
        yield made


@pytest.fixture
def newcomer(browser: Browser, town: Site) -> Iterator[Callable[..., Page]]:
    """A browser of somebody who has never been here."""
    with ExitStack() as stack:
        yield lambda **how: stack.enter_context(opened(browser, town, **how)).new_page()


class Screens:
    """Counts what somebody has to look at: each address that stands there, once for each time it is come to."""

    def __init__(self, page: Page) -> None:
        self.seen: list[str] = []
        self.page = page

    def look(self) -> None:
        """A screen is in front of the person now."""
        self.seen.append(self.page.url.rpartition("//")[2].partition("/")[2])


def come_in(page: Page, town: Site, kind: str, number: int) -> Screens:
    """By a link to the page of one's work, with consent given."""
    screens = Screens(page)
    page.goto(f"{town.scenes['scene_trial.prepare'][kind]}?PROLIFIC_PID={PANEL_ID.format(number)}")
    screens.look()
    page.get_by_role("main").get_by_role("button").last.click()
    page.wait_for_url("**/work/consent/")
    screens.look()
    tick, agree = page.locator("[name=agree]"), page.locator("form:has([name=agree]) button").first
    box, size = agree.bounding_box(), page.viewport_size
    assert box
    assert size
    assert box["y"] + box["height"] <= size["height"], "what is offered, the consent and its button share a screen"
    agree.click()
    expect(page.locator(".has-error [role=alert]")).to_be_in_viewport()
    expect(tick).to_be_focused()
    tick.check()
    agree.click()
    page.wait_for_url("**/work/")
    screens.look()
    return screens


def examples(kind: str, number: int = 0, language: str = "") -> list[dict[str, Any]]:
    """The examples of a try, from their file."""
    file = Path(annotation.__file__).parent / kind / f"trial{language}.toml"
    return tomllib.loads(file.read_text())["set"][number]["item"]


def keys_of(kind: str, item: dict[str, Any]) -> Iterator[str]:
    """The keys that answer an example as expected, those of one question after the other."""
    if kind == "linking":
        for insight in item["insight"]:
            letters = " ".join("abc"[line - 1] for line in insight.get("lines", ()))
            yield f"{KEYS[insight['coverage']]} {letters}".strip()
    elif kind == "validation":
        yield ANSWERS[item["answer"]]
    elif kind == "verification":
        yield f"y {KEYS[item['keyness']]}" if item["grounded"] == "yes" else "n"
    else:
        names = ("overall", "informativeness", "quality", "coherence", "attributability")
        yield " ".join(str(item[name][0]) for name in names)


def do_trial(page: Page, kind: str, screens: Screens | None = None) -> None:
    """Answer all examples of the first try by keyboard, reading what comes of each, up to the end of the trial."""
    items = examples(kind)
    for number, item in enumerate(items, 1):
        at_item(page, f"{number} / {len(items)}")
        expect(page.locator("[data-done-count]")).to_have_text(f"{number - 1} done")
        expect(page.locator(".trial-banner")).to_contain_text("Not paid and not timed")
        if screens:
            screens.look()
        for at, keys in enumerate(keys_of(kind, item)):
            press(page, keys)
            told = page.locator("[data-feedback]").nth(at)
            expect(told).to_contain_text(re.compile("[Rr]ight"))
            if decides := item.get("decides"):
                marked = page.evaluate("[...CSS.highlights.get('decides')].map(String)")
                assert marked == [decides]
            if kind == "linking" and at < len(item["insight"]) - 1:
                press(page, "Enter")
        press(page, "Enter")
    expect(page.get_by_role("heading", name="You are ready")).to_be_visible()
    if screens:
        screens.look()


@pytest.mark.parametrize("number", range(4))
def test_from_the_link_to_the_first_paid_item_of_label_work_takes_nine_screens_at_most(
    number: int, newcomer: Callable[..., Page], town: Site
) -> None:
    kind = ("linking", "verification", "validation", "rating")[number]
    page = newcomer(viewport={"width": 1366, "height": 768})
    screens = come_in(page, town, kind, number)
    expect(page.locator(".hero")).to_contain_text("first a trial of about two minutes, not paid")
    page.locator(".hero a.button.primary").click()
    do_trial(page, kind, screens)
    page.keyboard.press("Enter")
    at_item(page, re.compile("^1 / "))
    screens.look()
    expect(page.locator(".trial-banner")).to_have_count(0)
    assert len(screens.seen) <= MOST_SCREENS, screens.seen
    study = town.scenes["scene_trial.prepare"][f"{kind}-uid"].replace("-", "")
    worked = """SELECT SUM(t.active_ms) FROM annotation_labeltask t
        JOIN annotation_study s ON s.id = t.study_id WHERE s.uid = ?"""
    assert not town.rows(worked, study)[0][0], "the trial is off the clock"


SHIFTS = """
    window.shifts = [];
    new PerformanceObserver((list) => {
        for (const each of list.getEntries()) {
            const of = each.sources.map(({ node, previousRect: was, currentRect: is }) =>
                `${node?.outerHTML?.slice(0, 90) ?? node?.data} ${JSON.stringify([was, is])}`);
            shifts.push([each.value, ...of]);
        }
    }).observe({ type: "layout-shift", buffered: true });
"""
"""Notes all that moves on its own or by a key, with what it was."""


@pytest.mark.parametrize("number", range(4))
def test_an_item_costs_few_keys_and_nothing_on_the_page_moves(
    number: int, newcomer: Callable[..., Page], town: Site
) -> None:
    """Once going on automatically is on: two keys for a key point, a pair and an insight, five for a rating."""
    kind, keys, most = COSTS[number]
    page = newcomer(viewport={"width": 1366, "height": 768})
    page.add_init_script(SHIFTS)
    come_in(page, town, kind, 10 + number)
    page.locator(".hero a.button.primary").click()
    do_trial(page, kind)
    page.keyboard.press("Enter")
    at_item(page, re.compile("^1 / "))
    page.get_by_label("advance automatically").check()
    page.wait_for_timeout(500)
    page.evaluate("shifts.length = 0")
    n_asked = page.locator("[data-question]").count() or 1
    assert len(keys.split()) <= most
    press(page, " ".join([keys] * n_asked))
    at_item(page, re.compile("^2 / "))
    page.wait_for_timeout(300)
    assert page.evaluate("shifts") == []


def test_from_the_link_to_the_first_paid_summary_takes_nine_screens_and_practice_ends_with_feedback(
    newcomer: Callable[..., Page], town: Site
) -> None:
    page = newcomer(viewport={"width": 1366, "height": 768})
    screens = come_in(page, town, "writing", 8)
    page.get_by_role("button", name="Start practice").click()
    expect(page.get_by_role("heading", name="Practice: write a short summary")).to_be_visible()
    screens.look()
    begin(page)
    screens.look()
    write(page, "- In part 1, the ferry leaves at six in the morning. [1, 5]\n- Gulls are noisy. [2]")
    saved(page)
    page.locator("[data-submit]").first.click()
    page.locator("[data-submit-yes]").click()
    expect(page.get_by_role("heading", name="Your practice")).to_be_visible()
    screens.look()
    shown = page.locator("#practised")
    expect(shown).to_contain_text(re.compile("You found 1 of [0-9] insights"))
    expect(shown.locator("li.is-full").first).to_contain_text("correctly cited: 1")
    expect(shown.locator("li.is-full").first).to_contain_text("cited, but it is not in there: 5")
    expect(shown.locator("li.is-none").first).to_contain_text("it is in:")
    assert serious(page) == []
    page.get_by_role("link", name="Go on to your task").click()
    screens.look()
    begin(page)
    screens.look()
    assert len(screens.seen) <= MOST_SCREENS, screens.seen


def test_a_failed_try_is_told_kindly_and_the_second_one_is_passed_on_a_phone_in_german(
    newcomer: Callable[..., Page], town: Site
) -> None:
    page = newcomer(viewport={"width": 390, "height": 844}, locale="de-DE", color_scheme="dark", has_touch=True)
    come_in(page, town, "validation", 9)
    page.locator(".hero a.button.primary").click()
    for number, item in enumerate(examples("validation", language=".de"), 1):
        at_item(page, f"{number} / 3")
        wrong = "no" if item["answer"] == "yes" else "yes"
        page.locator(f"[name=answer][value={wrong}]").check()
        expect(page.locator("[data-feedback]")).to_contain_text("✗ Nicht ganz. Ihre erste Antwort:")
        expect(page.locator("[data-feedback]")).to_contain_text(item["why"][:30])
        expect(page.locator("[data-feedback]")).to_have_class(re.compile("is-wrong"))
        if number == 1:
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert serious(page) == []
            page.set_viewport_size({"width": 390, "height": 844})
        page.locator("[data-onward]").click()
    expect(page.get_by_role("heading", name="Fast: Versuchen Sie es noch einmal")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(
        "0 von 3 Antworten waren wie erwartet; diese Studie verlangt 60 %"
    )
    expect(page.get_by_role("main")).to_contain_text("Noch 1 Versuch.")
    assert serious(page) == []
    page.set_viewport_size({"width": 390, "height": 664})
    page.get_by_role("button", name="Noch einmal versuchen").click()
    for number, item in enumerate(examples("validation", 1, ".de"), 1):
        at_item(page, f"{number} / 3")
        page.locator(f"[name=answer][value={item['answer']}]").check()
        expect(page.locator("[data-feedback]")).to_contain_text("Richtig.")
        if item.get("decides"):
            page.wait_for_function(DECIDES_FREE)
        page.locator("[data-onward]").click()
    expect(page.get_by_role("heading", name="Sie können anfangen")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Anfangen").or_(
        page.get_by_role("main").locator("a.button.primary")
    ).first.click()
    at_item(page, re.compile("^1 / "))

    ada = newcomer(viewport={"width": 1366, "height": 900})
    town.enter(ada, "ada")
    study = town.scenes["scene_trial.prepare"]["validation-uid"]
    ada.goto(f"/studies/{study}/annotators/")
    expect(ada.get_by_role("main")).to_contain_text(re.compile(r"0 of 3,\s+3 of 3"))
    ada.get_by_role("link", name="Learning").click()
    expect(ada.get_by_role("main")).to_contain_text("Do people get better?")
    expect(ada.get_by_role("table").first).to_be_visible()
