"""Label work goes on for ten items without a connection; and a tab that was left shows what another one did."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import Site, at_item, press, saved

pytestmark = pytest.mark.browser
KINDS = ("linking", "verification", "validation", "rating")
WINDOWS = {"orla": (1280, 820), "paul": (390, 844)}
AHEAD, N_ITEMS = 10, 12
TABLES = {
    "linking": "coveragelabel",
    "verification": "pointlabel",
    "validation": "entailmentlabel",
    "rating": "ratinglabel",
}
FIRST = {"linking": "none", "verification": "no", "validation": "no", "rating": "4"}
KEYS = {"linking": "1", "verification": "n", "validation": "3", "rating": "4"}
IS_SAVED = '[data-save-state][data-kind="saved"]'


def open_first(page: Page, study: str) -> None:
    page.goto(f"/work/studies/{study}/go/?n=1")
    at(page, 1)


def at(page: Page, number: int) -> None:
    """Wait until an item is there and takes keys."""
    at_item(page, f"{number} / {N_ITEMS}")


def answer(page: Page, kind: str, *, by_key: bool) -> None:
    """Answer all that an item asks, by keys or by pointing."""
    wanted = page.locator(f".level:has([value='{FIRST[kind]}'])")
    for at in range(wanted.count()):
        if not by_key:
            wanted.nth(at).click()
        elif kind == "linking":
            press(page, "1 Enter" if at < wanted.count() - 1 else "1")
        else:
            press(page, KEYS[kind])


def go_on(page: Page, *, by_key: bool) -> None:
    if by_key:
        press(page, "Enter")
    else:
        page.locator("[data-onward]").click()


def complete(site: Site, kind: str, study: str, person: str) -> list[int]:
    """The places of the items that are done on the server, each with a complete answer."""
    query = f"""
        SELECT DISTINCT t.position FROM annotation_{TABLES[kind]} l
        JOIN annotation_labeltask t ON t.id = l.task_id JOIN annotation_study s ON s.id = t.study_id
        JOIN annotation_annotator a ON a.id = t.annotator_id
        WHERE s.uid = ? AND a.label = ? AND l.is_current AND l.is_complete AND t.state = 'done' ORDER BY t.position
    """  # noqa: S608
    return [place for (place,) in site.rows(query, study.replace("-", ""), person.title())]


@pytest.mark.parametrize("person", WINDOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_ten_items_are_answered_without_a_connection_and_reach_the_server(
    context: BrowserContext, site: Site, ahead: dict[str, str], kind: str, person: str
) -> None:
    study, (width, height) = ahead[kind], WINDOWS[person]
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    site.enter(page, person)
    fetched: list[str] = []
    page.on("requestfinished", lambda request: fetched.append(request.url))
    open_first(page, study)
    is_page = re.compile(rf"/work/{kind}/[0-9a-f-]+/$")
    for _ in range(150):
        pages = [url for url in fetched if is_page.search(url) and url != page.url]
        if len(pages) >= AHEAD:
            break
        page.wait_for_timeout(100)
    assert len(pages) == len(set(pages)) == AHEAD, "each page once, and no more than ten"

    context.set_offline(True)
    by_key = person == "orla"
    bar = page.locator(".bar").bounding_box()
    for number in range(1, AHEAD + 1):
        answer(page, kind, by_key=by_key)
        go_on(page, by_key=by_key)
        at(page, number + 1)
    answer(page, kind, by_key=by_key)
    expect(page.locator("[data-save-state]")).to_contain_text("Offline")
    go_on(page, by_key=by_key)
    expect(page.locator("[data-message]")).to_have_text("Offline: the next item is not here yet.")
    at(page, AHEAD + 1)
    assert complete(site, kind, study, person) == []

    context.set_offline(False)
    page.locator(IS_SAVED).wait_for(timeout=40_000, state="attached")
    assert complete(site, kind, study, person) == list(range(1, AHEAD + 2))
    go_on(page, by_key=by_key)
    at(page, N_ITEMS)
    before = page.locator(".bar").bounding_box()
    context.set_offline(True)
    answer(page, kind, by_key=by_key)
    go_on(page, by_key=by_key)
    expect(page.locator("[data-message]")).to_contain_text(
        "Offline: this was the last item. Your answers are kept"
    )
    context.set_offline(False)
    page.locator(IS_SAVED).wait_for(timeout=40_000, state="attached")
    after = page.locator(".bar").bounding_box()
    assert bar["height"] == before["height"] == after["height"], "nothing moves when it says saved"
    go_on(page, by_key=by_key)
    expect(page.get_by_role("heading", name="All done")).to_be_visible()


def come_back(page: Page) -> None:
    """As a browser tells a page that somebody looks at it again."""
    page.wait_for_timeout(1100)
    page.evaluate("dispatchEvent(new Event('focus'))")


def test_a_tab_that_was_left_shows_what_another_did_and_keeps_what_is_typed(
    context: BrowserContext, site: Site, ahead: dict[str, str]
) -> None:
    page, other = context.new_page(), context.new_page()
    site.enter(page, "quinn")
    study = ahead["validation"]
    page.goto("/work/")
    board = page.locator("#board")
    expect(board).to_contain_text(f"{N_ITEMS} pairs left")
    open_first(other, study)
    left = context.new_page()
    open_first(left, study)
    press(left, "F")
    left.locator("#comment").fill("half a thought")
    press(other, "1 Enter")
    at(other, 2)
    press(other, "3")
    saved(other)

    come_back(left)
    expect(left.locator("[name=answer][value=yes]")).to_be_checked()
    expect(left.locator("[data-message]")).to_contain_text("changed elsewhere")
    expect(left.locator("#comment")).to_have_value("half a thought")
    expect(left.locator("#comment")).to_be_focused()
    expect(left.locator("[data-done-count]")).to_have_text("2 done")
    left.keyboard.type(", and the rest")
    expect(left.locator("#comment")).to_have_value("half a thought, and the rest")
    left.get_by_role("button", name="Save comment").click()
    saved(left)
    press(left, "Escape Enter")
    at(left, 3)

    come_back(page)
    expect(board).to_contain_text(f"{N_ITEMS - 2} pairs left")


UPDATED = """if (!sessionStorage.updated) {
    sessionStorage.updated = true;
    const ask = fetch;
    window.fetch = async (...asked) => {
        const reply = await ask(...asked);
        if (!reply.headers.get("content-type").startsWith("text/html")) return reply;
        const html = (await reply.text()).replace("labelling", "labelling.new");
        return { ok: true, url: reply.url, text: async () => html };
    };
}"""
"""What the first page of a tab fetches comes with a style that it does not have."""


def test_an_item_of_a_site_that_was_updated_is_loaded_with_its_own_styles(
    context: BrowserContext, site: Site, ahead: dict[str, str]
) -> None:
    page = context.new_page()
    site.enter(page, "zora")

    page.add_init_script(UPDATED)
    open_first(page, ahead["verification"])
    page.evaluate("isOld = true")
    press(page, "n Enter")
    at(page, 2)
    assert page.evaluate("typeof isOld") == "undefined"
    press(page, "n")
    saved(page)
    page.evaluate("isOld = true")
    press(page, "Enter")
    at(page, 3)
    assert page.evaluate("isOld"), "of the same version it takes the place of the one before"


def test_a_tab_of_a_closed_study_becomes_read_only(
    context: BrowserContext, site: Site, ahead: dict[str, str]
) -> None:
    page = context.new_page()
    site.enter(page, "quinn")
    open_first(page, ahead["rating"])
    press(page, "4")
    saved(page)
    study = ahead["rating"].replace("-", "")
    site.rows("UPDATE annotation_study SET state = 'closed' WHERE uid = ?", study)
    come_back(page)
    expect(page.locator("[data-save-state]")).to_have_text("Study closed: read only")
    site.rows("UPDATE annotation_study SET state = 'open' WHERE uid = ?", study)


def test_a_bullet_chosen_first_means_full_and_enter_passes_over_what_is_optional(
    context: BrowserContext, site: Site, ahead: dict[str, str]
) -> None:
    page = context.new_page()
    site.enter(page, "quinn")
    open_first(page, ahead["linking"])
    current = page.locator(".question.is-current")
    page.locator("[data-line]").nth(1).click()
    expect(current.locator("[value=full]")).to_be_checked()
    expect(current.locator("[name=line]").nth(1)).to_be_checked()
    press(page, "Enter 1 b")
    expect(current.locator(".reason")).to_contain_text("Choose partial or full first")
    expect(current.locator("[value=none]")).to_be_checked()
    n = page.locator("[data-question]").count()
    for _ in range(n - 2):
        press(page, "Enter a")
        expect(current.locator("[value=full]")).to_be_checked()
    expect(page.locator("[data-unlinked-line]:visible").first).to_be_visible()
    press(page, "Enter")
    at(page, 2)
    press(page, "u")
    at(page, 1)
    undone = re.compile(f"Undone: full, bullet “.+” on item 1, insight {n}\\.")
    expect(page.locator("[data-message]")).to_contain_text(undone)
    press(page, "a ArrowDown")
    row = page.locator(".unlinked .is-current")
    press(page, "b")
    expect(row.locator(".reason")).to_have_text("Only 4, 5 and 6 work on this row. ↑ leads back to the insights.")
    press(page, "5")
    expect(row.locator("[value=general]")).to_be_checked()
    saved(page)
    press(page, "Enter")
    at(page, 2)


def test_answers_of_a_tab_that_was_closed_without_a_connection_are_sent_from_the_list_of_work(
    context: BrowserContext, site: Site, ahead: dict[str, str]
) -> None:
    page = context.new_page()
    site.enter(page, "quinn")
    open_first(page, ahead["verification"])
    context.set_offline(True)
    press(page, "n")
    expect(page.locator("[data-save-state]")).to_contain_text("Offline", timeout=20_000)
    page.close()
    context.set_offline(False)
    work = context.new_page()
    work.goto("/work/")
    row = work.locator(".hero, .task").filter(has_text="Points ahead")
    expect(row).to_contain_text(f"1 of {N_ITEMS} done")
    assert complete(site, "verification", ahead["verification"], "quinn") == [1]
    work.wait_for_load_state("networkidle")  # the list loads itself anew once the answers are stored
    assert not work.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('verification:'))")
