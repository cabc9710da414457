"""What the page says of the text is true: saved only once the server has it, kept here while it has not."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.conftest import Site, begin, ready, saved, until, write
from tests.e2e.test_late_text_stories import copies, late_texts, shortened
from tests.e2e.test_session_stories import begun, kill, text_of

pytestmark = pytest.mark.browser
Desk = Callable[[str], Page]


def test_everything_is_saved_is_said_once_the_server_has_what_is_on_the_screen(desk: Desk, site: Site) -> None:
    page = begun(desk, "hung")
    notice = page.locator("[data-notice=online]")
    line, hung, failed = ["down"], list[Route](), list[Route]()

    def pass_on(route: Route) -> None:
        if line == ["down"]:
            failed.append(route)
            route.abort()
        elif line == ["slow"] and "while it was down" in (route.request.post_data or ""):
            hung.append(route)
        else:
            route.continue_()

    page.route("**/draft/", pass_on)
    write(page, "\n- Typed as the line went down [2]")
    expect(page.locator("[data-save-state]")).to_contain_text("Offline", timeout=30_000)
    until(page, lambda: len(failed) > 1)  # a second attempt has failed too
    write(page, "\n- Typed while it was down [3]")
    line[:] = ["slow"]
    until(page, lambda: bool(hung))  # the older text is on the server, the newer one on its way
    assert site.session("hung")["draft_text"] != text_of(page)
    page.wait_for_timeout(500)
    assert notice.count() == 0
    assert "Saved" not in page.locator("[data-save-state]").inner_text()
    line[:] = ["up"]
    for route in hung:
        route.continue_()
    expect(notice).to_contain_text("Back online. Everything is saved.")
    assert site.session("hung")["draft_text"] == text_of(page)
    write(page, "!")
    expect(notice).to_have_count(0)


def test_what_is_submitted_is_what_is_on_the_screen_also_after_a_submit_that_was_broken_off(
    desk: Desk, site: Site
) -> None:
    page = begun(desk, "twice")
    line = ["down"]
    page.route("**/submit/", lambda route: route.abort() if line == ["down"] else route.continue_())
    page.locator("[data-submit]").click()
    page.locator("[data-submit-yes]").click()
    expect(page.locator("[data-submit-error]")).to_be_visible()
    page.get_by_role("button", name="Keep writing").click()
    write(page, "\n- An afterthought [2]")
    typed = text_of(page)
    page.locator("[data-submit]").click()
    line[:] = ["up"]
    page.locator("[data-submit-yes]").click()
    page.get_by_role("heading", name="Your summary is submitted").wait_for()
    assert site.session("twice")["draft_text"] == typed


def test_at_the_end_without_a_line_the_page_says_that_the_text_is_kept_and_sends_it_later(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    page = begun(desk, "held")
    shortened(page, site, "held", seconds=12)
    context.set_offline(True)
    write(page, "\n- Typed without a line [2]")
    typed = text_of(page)
    said = page.locator("[data-notice=time]")
    expect(said).to_contain_text(
        "is kept in this browser and sent as soon as there is a connection", timeout=60_000
    )
    expect(said).not_to_contain_text("being submitted")
    assert copies(page) == [typed]
    kill(page)
    context.set_offline(False)
    page = context.new_page()
    page.goto("/work/")
    expect(page.get_by_role("status")).to_contain_text("4 words arrived too late")
    assert late_texts(site, "held")[-1] == typed
    assert copies(page) == []


def test_the_tour_is_taken_before_the_clock_runs_and_a_paused_page_sees_what_another_tab_does(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    page = desk("toured")
    start = page.url
    page.get_by_role("link", name="Take the tour").click()
    card = page.get_by_role("dialog", name="Tour")
    expect(card).to_contain_text("1 / 9")
    assert "nobody knows" not in page.content()  # its documents are samples
    for _ in range(8):
        card.get_by_role("button", name="Next").click()
    expect(card).to_contain_text("Submit when you are done")
    card.get_by_role("button", name="Done").click()
    page.wait_for_url(start)
    query = """
        SELECT COUNT(*) FROM annotation_session s JOIN annotation_assignment a ON a.id = s.assignment_id
        WHERE a.uid = ?
    """
    assert site.rows(query, site.key("toured")) == [(0,)]
    begin(page)
    assert page.get_by_text("New here?").count() == 0

    page.get_by_role("button", name="Pause").click()
    page.get_by_role("heading", name="Paused").wait_for()
    other = context.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="Continue", exact=True).click()
    ready(other)
    page.bring_to_front()
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.get_by_text("This session is open in another tab")).to_be_visible()
    write(other, "- Short [1]")
    saved(other)
    other.locator("[data-submit]").click()
    other.locator("[data-submit-yes]").click()
    other.get_by_role("heading", name="Your summary is submitted").wait_for()
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.get_by_role("heading", name="Your summary is submitted").wait_for()
