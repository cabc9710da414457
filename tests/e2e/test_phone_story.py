"""Label work on a phone, in German: what must be read stays free, and what must be known stays on the screen."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.conftest import PHONE, Site, at_item, ready, seated, until
from tests.e2e.test_highlight_in_view import is_in_sight
from tests.e2e.test_rhythm_story import SHIFTS, SMALL, TARGET
from tests.e2e.test_session_stories import begun
from tests.e2e.test_work_ahead import IS_SAVED, KINDS, N_ITEMS

pytestmark = pytest.mark.browser
WIDE, HIGH = 390, 844
LIES_FREE = """(each) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    return [0.1, 0.5, 0.9].every((share) => {
        const there = document.elementFromPoint(left + share * width, top + height / 2);
        return each.contains(there) || each.closest("label")?.contains(there);
    });
}"""
SELECT = """(each) => {
    const range = document.createRange();
    range.setStart(each.firstChild, 0);
    range.setEnd(each.firstChild, 12);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
}"""


@pytest.fixture
def phone(browser: Browser, site: Site) -> Iterator[Page]:
    """Paul in a tram, in German: touch, no keyboard, nothing remembered by this browser."""
    with seated(browser, site, "paul", **PHONE, locale="de-DE") as page:
        yield page


def open_item(page: Page, study: str, number: int) -> None:
    page.goto(f"/work/studies/{study}/go/?n={number}")
    at_item(page, f"{number} / {N_ITEMS}")


def place_of(locator: Locator) -> tuple[float, float, float, float]:
    """Left, top, right and bottom on the screen."""
    box = locator.bounding_box()
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def height_of(locator: Locator) -> float:
    return float(locator.bounding_box()["height"])


def is_on_screen(locator: Locator) -> bool:
    """Whether all of it is on the screen, with nothing over it."""
    left, top, right, bottom = place_of(locator)
    return min(left, top) >= 0 and right <= WIDE and bottom <= HIGH and bool(locator.evaluate(LIES_FREE))


def test_one_thing_is_offered_a_visit_on_top_of_the_sheet(phone: Page, ahead: dict[str, str]) -> None:
    offers = phone.locator(".nudge:visible")
    for number, kind in enumerate(KINDS):
        open_item(phone, ahead[kind], 9)
        if number:
            continue
        assert phone.evaluate(SHIFTS) == []
        assert phone.evaluate(SMALL, TARGET) == []
        _left, top, _right, bottom = place_of(offers)
        assert top + TARGET <= bottom <= place_of(phone.locator("[data-asking]"))[1] + 0.5
        assert is_on_screen(phone.locator(".switch"))
        phone.locator("[data-menu] > summary").tap()
        for item in phone.locator(".more-box .menu-item:visible").all():
            assert item.evaluate(LIES_FREE), item.inner_text()
        phone.locator("[data-comments] > summary").tap()
        expect(phone.locator("#comment")).to_be_focused()
        phone.locator("[data-all] > summary").tap()
        rows = sorted({place_of(each)[1] for each in phone.locator("a.task-number").all()})
        assert rows[1] - rows[0] >= TARGET
        phone.keyboard.press("Escape")
        offers.get_by_role("button", name="Nicht jetzt").tap()
        expect(offers).to_have_count(0)
    expect(offers).to_have_count(0)  # neither the tour of another kind nor anything else


def test_an_offer_that_is_let_be_goes_after_five_items(phone: Page, ahead: dict[str, str]) -> None:
    for number in range(1, 7):
        open_item(phone, ahead["verification"], number)
        expect(phone.locator(".nudge:visible")).to_have_count(int(number <= 5))


def test_the_tour_frames_what_it_tells_of_and_the_clock_of_work_stands(phone: Page, ahead: dict[str, str]) -> None:
    told: list[dict[str, list[str]]] = []
    phone.on("request", lambda each: told.append(parse_qs(each.post_data)) if "/seen/" in each.url else None)
    open_item(phone, ahead["verification"], 9)
    phone.get_by_role("button", name="Rundgang beginnen").tap()
    card, frame = phone.locator("[data-tour-card]"), phone.locator("[data-tour-frame]")
    n_before = len(told)
    for number in range(1, 10):
        expect(phone.locator("[data-tour-count]")).to_have_text(re.compile(f"^{number} / "))
        assert "Enter" not in card.inner_text()
        assert "Esc" not in card.inner_text()
        left, top, right, bottom = place_of(frame)
        margin = 7
        assert min(left, top, WIDE - right, HIGH - bottom) >= -margin, number
        assert bottom - top >= 30, number
        for button in card.get_by_role("button").all():
            assert height_of(button) >= TARGET - 0.5
        if number == 2:  # the documents, between the bars and the sheet
            assert top >= place_of(phone.locator(".question"))[3] - margin
            assert bottom <= place_of(phone.locator("[data-asking]"))[1] + margin
            phone.wait_for_timeout(1500)
        if phone.locator("[data-tour-next]").inner_text() == "Fertig":
            break
        phone.locator("[data-tour-next]").tap()
    assert len(told) == n_before  # nothing was told while it was open
    phone.locator("[data-tour-next]").tap()
    until(phone, lambda: len(told) > n_before)
    assert int(told[-1]["stood"][0]) >= 1500


def test_a_passage_is_marked_without_covering_the_answer(phone: Page, ahead: dict[str, str]) -> None:
    open_item(phone, ahead["validation"], 9)
    unsure, mark = phone.locator(".unsure"), phone.locator("[data-mark]")
    assert is_on_screen(unsure)
    mark.tap()
    expect(phone.locator("[data-message]")).to_contain_text("Wählen Sie zuerst")
    assert is_on_screen(unsure)
    assert is_on_screen(mark)
    phone.locator("[data-response]").evaluate(SELECT)
    mark.evaluate("each => each.click()")  # a tap would end what only a finger can select
    expect(phone.locator("[data-response] mark")).to_be_visible()
    unmark = phone.locator("[data-unmark]")
    assert is_on_screen(unsure)
    assert is_on_screen(unmark)
    unmark.tap()
    expect(phone.locator("[data-response] mark")).to_have_count(0)


def test_bar_question_and_a_lost_connection_stay_on_the_screen(phone: Page, ahead: dict[str, str]) -> None:
    open_item(phone, ahead["verification"], 10)
    is_in_sight(phone)
    assert phone.evaluate("scrollY") > 0
    bar = phone.locator(".bar")
    for each in ("[data-menu] > summary", "[data-undo]", ".question h1"):
        assert is_on_screen(phone.locator(each))
    phone.locator("[data-to-search]").tap()
    query = phone.locator("[data-query]")
    assert is_on_screen(query)
    place = query.bounding_box()
    phone.evaluate("scrollTo(0, 0)")
    assert query.bounding_box() == place, "from one hit to the next"
    phone.touchscreen.tap(195, 300)  # on the text: what stands above the search comes back by that touch
    expect(phone.locator("[data-search].is-open")).to_have_count(0)
    at_rest = bar.bounding_box()
    phone.context.set_offline(True)
    phone.locator(".level:has([value='yes'])").tap()
    said = phone.locator("[data-said]")
    expect(said).to_contain_text("Offline")
    assert is_on_screen(said)
    phone.locator("[data-menu] > summary").tap()
    phone.locator("[data-flag]").tap()
    assert bar.bounding_box() == at_rest  # one row, whatever it has to say
    phone.wait_for_timeout(600)  # what moves sooner after a tap is not counted
    phone.context.set_offline(False)
    phone.locator(IS_SAVED).wait_for(state="attached", timeout=30_000)
    expect(said).to_be_hidden()
    assert phone.evaluate(SHIFTS) == []
    phone.locator("[data-menu] > summary").tap()
    phone.locator("[data-flag]").tap()  # another story looks for the only flag
    expect(phone.locator("[data-message]")).to_contain_text("Nicht mehr markiert")


def test_a_rating_asks_in_whole_lines_and_a_cited_document_leads_back(phone: Page, ahead: dict[str, str]) -> None:
    open_item(phone, ahead["rating"], 9)
    phone.get_by_role("button", name="Nicht jetzt").tap()
    for aspect in ("Insgesamt", "Informationsgehalt"):
        phone.locator("[data-onward]").tap()
        asked = phone.locator(".aspect.is-current")
        expect(asked.locator(".reason")).to_be_visible()
        name = asked.locator(".name")
        expect(name).to_have_text(aspect, use_inner_text=True)
        assert name.evaluate("each => each.getClientRects().length") == 1
        assert height_of(name) < 30
        assert is_on_screen(asked.locator(".ends")), "what 1 and 5 mean"
        asked.locator(".level:has([value='4'])").tap()
    cited = phone.locator("[data-cited]").last
    cited.scroll_into_view_if_needed()
    was_at = phone.evaluate("scrollY")
    for back in ("button", "browser"):
        cited.tap()
        title = phone.locator(f"#doc-{cited.get_attribute('data-cited')} h3")
        phone.wait_for_function("was => Math.abs(scrollY - was) > 300", arg=was_at)
        assert is_on_screen(title), "below what stays at the upper edge"
        if back == "button":
            phone.get_by_role("button", name="Zurück zur Zusammenfassung").tap()
        else:
            phone.go_back()
        phone.wait_for_function("was => Math.abs(scrollY - was) < 40", arg=was_at)
        at_item(phone, f"9 / {N_ITEMS}")


def test_what_says_covered_is_asked_for_its_bullet_clear_of_the_way_on(
    phone: Page, ahead: dict[str, str], site: Site
) -> None:
    site.enter(phone, "xenia")  # whose answers no other story reads
    phone.set_viewport_size({"width": 320, "height": 640})
    open_item(phone, ahead["linking"], 9)
    phone.locator(".is-current .level:has([value='full'])").tap()
    asked, button = phone.locator(".is-current [data-missing]"), phone.locator("[data-onward]")
    expect(asked).to_be_visible()
    assert place_of(asked)[3] + 8 < place_of(button)[1], "the button has a rim of 8 px"
    phone.locator(".is-current .level:has([value='none'])").tap()
    button.tap()
    expect(phone.locator(".question.is-current")).to_have_attribute("data-number", "2")
    expect(phone.locator(".reason")).to_have_count(0)  # it led on


def test_a_page_of_writing_has_room_for_fingers_in_one_row(browser: Browser, site: Site) -> None:
    with seated(browser, site, "ada", **PHONE) as page:
        page.goto(f"/studies/{site.scene['studies']['looks']}/preview/")
        ready(page)
        assert page.evaluate(SMALL, TARGET) == []
        assert height_of(page.locator(".bar")) < 1.5 * TARGET
        assert page.evaluate("document.documentElement.scrollWidth") == WIDE


def test_a_notice_in_writing_lies_over_the_documents_alone(desk: Callable[[str], Page]) -> None:
    """A pause without a connection is announced, and one can still search and write."""
    page = begun(desk, "tram")
    page.set_viewport_size({"width": WIDE, "height": HIGH})
    page.context.set_offline(True)
    page.locator("[data-pause]").click()
    notice = page.locator("[data-notices] .notice")
    expect(notice).to_be_visible()
    for part in ("[data-query]", ".query h1", "#editor", ".rail a"):
        assert page.locator(part).first.evaluate(LIES_FREE), part
    at, shown = place_of(notice), place_of(page.locator(".shown"))
    assert shown[1] <= at[1] < at[3] <= shown[3]
    page.context.set_offline(False)
    expect(page.locator("[data-resume]")).to_be_visible()
