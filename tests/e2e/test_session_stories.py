"""Writing sessions as a person lives them, in a real browser against a real server."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.e2e.conftest import Site, begin, log_in, ready, saved, seated, submit, write
from tests.e2e.scene import ONLY_IN_4

pytestmark = pytest.mark.browser
Desk = Callable[[str], Page]


def text_of(page: Page) -> str:
    return page.locator("#editor").input_value()


def begun(desk: Desk, story: str, text: str = "- Before [1]") -> Page:
    """The page of a session in which something was written and saved."""
    page = desk(story)
    begin(page)
    write(page, text)
    saved(page)
    return page


def kill(page: Page) -> None:
    """Close a page that gets no farewell out, as if its browser had been killed."""
    page.evaluate("void (window.fetch = () => new Promise(() => {}))")
    page.close()


def type_to_the_end(page: Page) -> str:
    """Type until the session ends; gives what stands there then."""
    write(page, "")
    while page.locator("#editor:not([readonly])").count():
        page.keyboard.type(" slow")
        page.wait_for_timeout(60)
    return text_of(page)


def paste(page: Page, text: str) -> None:
    """Paste into the editor what some other program has put on the clipboard."""
    script = """([area, text]) => {
        const transfer = new DataTransfer();
        transfer.setData("text/plain", text);
        const event = new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true });
        if (area.dispatchEvent(event)) document.execCommand("insertText", false, text);
    }"""
    page.locator("#editor").focus()
    page.evaluate(f"text => ({script})([document.querySelector('#editor'), text])", text)


def test_a_session_outlives_its_server_and_ends_as_a_curve(desk: Desk, site: Site, browser: Browser) -> None:
    page = begun(desk, "crash", "- The ferry leaves at six in the morning [1, 2, 3]\n")
    page.get_by_label("Search the documents").fill("pier")
    page.keyboard.press("Enter")
    expect(page.locator("[data-count]")).to_have_text("1 of 4, in 4 documents")
    page.locator("summary", has_text="Notes for yourself").click()
    page.locator("[data-notes-text]").fill("look for the pier")
    page.get_by_role("button", name="Read document 5").click()

    page.get_by_role("button", name="Pause").click()
    page.get_by_role("heading", name="Paused").wait_for()
    assert page.locator(".doc").count() == 0
    page.get_by_role("button", name="Continue", exact=True).click()
    ready(page)
    expect(page.locator("[data-notes-text]")).to_have_value("look for the pier")
    expect(page.get_by_role("button", name="Read document 5")).to_have_attribute("aria-pressed", "true")

    write(page, "- The new pier opens in the spring of 2031")
    site.kill()
    write(page, " [2, 3, 4]\n")
    expect(page.locator("[data-save-state]")).to_contain_text("Offline", timeout=20_000)
    write(page, "- A crossing costs four euros [3, 5]")
    typed = text_of(page)
    site.start()
    saved(page)
    assert site.session("crash")["draft_text"] == typed
    page.reload()
    ready(page)
    assert text_of(page) == typed
    assert typed.count("\n") == 2

    page.get_by_role("button", name="Submit…").click()
    facts = page.get_by_role("dialog").locator("dl")
    said = r"Bullets\s*3\s+· \d+ insights to find\s*Bullets without a citation\s*0\s"
    expect(facts).to_contain_text(re.compile(said))
    expect(page.get_by_role("button", name="Keep writing")).to_be_focused()
    submit(page)
    session = site.session("crash")
    assert (session["state"], session["draft_text"]) == ("submitted", typed)

    site.play("scene.score")
    with seated(browser, site, "ada") as researcher:
        researcher.goto(f"/studies/{site.scene['studies']['crash']}/results/")
        expect(researcher.get_by_role("main").locator("svg").first).to_be_visible()
        answer = researcher.goto(f"/sessions/{uuid_of(session)}/")
        assert answer.status == 200
        expect(researcher.get_by_role("main")).to_contain_text("The new pier opens in the spring of 2031")


def uuid_of(session: dict[str, Any]) -> str:
    raw = session["uid"]
    return "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))


def test_the_newer_of_two_tabs_writes_and_the_older_can_take_over_again(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    first = begun(desk, "tabs", "- From the first tab [1]")
    second = context.new_page()
    second.goto(first.url)
    ready(second)
    assert text_of(second) == "- From the first tab [1]"
    expect(first.get_by_role("heading", name="This session is open in another tab")).to_be_visible()
    expect(first.locator("#editor")).not_to_be_editable()
    assert first.locator(".shown").get_attribute("inert") is not None
    write(second, "\n- From the second tab [2]")
    saved(second)

    first.bring_to_front()
    first.get_by_role("button", name="Use this tab").click()
    ready(first)
    expect(first.locator("#editor")).to_be_focused()  # not a key is meant for the documents
    assert text_of(first) == "- From the first tab [1]\n- From the second tab [2]"
    expect(second.locator("#editor")).not_to_be_editable()
    expect(second.locator("[data-save-state]")).to_have_text("Here you can only read your text.")
    write(first, "\n- And back [3]")
    saved(first)
    assert site.session("tabs")["draft_text"].endswith("- And back [3]")


def test_text_typed_offline_arrives_once_the_line_is_back(desk: Desk, site: Site, context: BrowserContext) -> None:
    page = begun(desk, "offline")
    expect(page.locator("[data-save-state]")).to_have_text(re.compile(r"^\D*\d\d:\d\d:\d\d$"))  # as in label work
    context.set_offline(True)
    write(page, "\n- Without a line [2]")
    expect(page.locator("[data-save-state]")).to_contain_text("kept in this browser")
    write(page, "\n- And more [3]")
    assert site.session("offline")["draft_text"] == "- Before [1]"
    context.set_offline(False)
    saved(page)
    assert site.session("offline")["draft_text"] == "- Before [1]\n- Without a line [2]\n- And more [3]"

    write(page, "\n- Kept through a closed tab [4]")
    context.set_offline(True)
    address = page.url
    page.close()
    context.set_offline(False)
    again = context.new_page()
    again.goto(address)
    ready(again)
    expect(again.locator("#editor")).to_have_value(
        "- Before [1]\n- Without a line [2]\n- And more [3]\n- Kept through a closed tab [4]"
    )
    saved(again)
    assert site.session("offline")["draft_text"].endswith("- Kept through a closed tab [4]")


def test_a_session_that_pauses_itself_says_so_where_it_happens_and_keeps_all_that_was_typed(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    page = begun(desk, "silent")
    change = "UPDATE annotation_session SET disconnect_policy = 'auto_pause', lease_ms = 4000 WHERE uid = ?"
    site.rows(change, site.session("silent")["uid"])
    page.reload()
    ready(page)
    clock, lapsed = page.locator("[data-clock]"), page.get_by_role("heading", name="Paused: no connection")
    page.wait_for_timeout(6000)
    expect(lapsed).to_be_hidden()  # whoever is heard of goes on, with or without typing

    context.set_offline(True)
    write(page, "\n- Without a line [2]")
    expect(lapsed).to_be_visible()
    expect(page.locator("#editor")).not_to_be_editable()
    assert page.locator(".shown").get_attribute("inert") is not None
    stands = clock.text_content()
    page.wait_for_timeout(2500)
    expect(clock).to_have_text(str(stands))

    context.set_offline(False)
    page.get_by_role("heading", name="Paused", exact=True).wait_for(timeout=30_000)
    session = site.session("silent")
    assert (session["state"], session["draft_text"]) == ("paused", "- Before [1]\n- Without a line [2]")
    hours, minutes, seconds = map(int, str(stands).split(":"))
    left_ms = session["limit_ms"] - session["acc_ms"]
    assert abs(left_ms - (hours * 3600 + minutes * 60 + seconds) * 1000) < 2000
    page.get_by_role("button", name="Continue", exact=True).click()
    ready(page)
    assert text_of(page) == session["draft_text"]


def test_of_two_texts_the_person_picks_and_both_stay_stored(
    desk: Desk, site: Site, browser: Browser, context: BrowserContext
) -> None:
    page = begun(desk, "reopened", "- Common [1]")
    address = page.url
    context.set_offline(True)
    write(page, "\n- Typed on the train [2]")
    kill(page)
    with seated(browser, site, "reopened") as other:
        other.goto(address)
        ready(other)
        write(other, "\n- Typed at home [3]")
        saved(other)

    context.set_offline(False)
    page = context.new_page()
    page.goto(address)
    dialog = page.get_by_role("dialog", name="There are two versions of your text")
    expect(dialog.get_by_label("On the server")).to_have_value("- Common [1]\n- Typed at home [3]")
    expect(dialog.get_by_label("In this tab")).to_have_value("- Common [1]\n- Typed on the train [2]")
    dialog.locator("[data-pick=local]").click()
    ready(page)
    write(page, "\n- Picked [4]")
    saved(page)
    assert site.session("reopened")["draft_text"] == "- Common [1]\n- Typed on the train [2]\n- Picked [4]"
    texts = [text for (text,) in site.rows("SELECT text FROM annotation_draftrevision")]
    assert "- Common [1]\n- Typed at home [3]" in texts

    page.locator("#editor").fill("- " + "A long summary that somebody would miss. " * 8)
    saved(page)
    page.locator("#editor").fill("")
    page.get_by_role("button", name="Restore the text").click()
    saved(page)
    assert text_of(page).startswith("- A long summary")
    page.locator("#editor").fill("")
    page.get_by_role("button", name="Yes, start over").click()
    saved(page)
    assert site.session("reopened")["draft_text"] == ""


def test_search_copying_pasting_and_citing(desk: Desk, site: Site) -> None:
    page = desk("rules")
    begin(page)
    query = page.get_by_label("Search the documents")
    page.keyboard.press("Alt+/")  # from the summary, where one begins
    expect(query).to_be_focused()
    query.fill("IN PART 1")
    hits = {"5": "1", "2": "2", "4": "1", "1": "1", "3": "3"}
    expect(page.locator("[data-count]")).to_have_text("8 in 5 documents")
    for number, count in hits.items():
        expect(page.locator(f"[data-jump='{number}'] .rail-hits")).to_have_text(count)
    assert page.evaluate("CSS.highlights.get('hit').size") == 8
    query.press("Enter")
    query.press("Enter")
    expect(page.locator("[data-count]")).to_have_text("2 of 8, in 5 documents")
    assert page.evaluate("String([...CSS.highlights.get('hit-now')][0].startContainer.data).includes('In part 1')")
    query.press("Shift+Enter")
    expect(page.locator("[data-count]")).to_have_text("1 of 8, in 5 documents")
    page.get_by_label("Match case").check()
    expect(page.locator("[data-count]")).to_have_text("No hits")
    page.get_by_label("Match case").uncheck()
    query.fill(" ")
    expect(page.locator("[data-count]")).to_have_text("")
    query.fill("<why> it does")  # whatever the accent
    expect(page.locator("[data-count]")).to_have_text("1 in 1 document")
    page.get_by_label("Match case").check()
    expect(page.locator("[data-count]")).to_have_text("No hits")
    page.get_by_label("Match case").uncheck()
    ending = page.locator("#doc-4 .reading p").nth(-2).inner_text()[-12:]
    query.fill(f"{ending} besides, {ONLY_IN_4}")  # across the end of a paragraph
    expect(page.locator("[data-count]")).to_have_text("1 in 1 document")
    title = page.locator("#doc-4 h3").inner_text()
    query.fill(title)
    query.press("Enter")
    assert page.evaluate(
        "[...CSS.highlights.get('hit')].some((hit) => hit.startContainer.parentElement.matches('#doc-4 h3'))"
    )
    query.press("Escape")
    expect(page.locator("#editor")).to_be_focused()

    write(page, "- One fact")
    page.locator("[data-cite='4']").click()
    page.locator("[data-cite='2']").click()
    page.locator("[data-cite='2']").click()
    assert text_of(page) == "- One fact [4, 2]"
    write(page, "\n- Another [77]")
    expect(page.locator("[data-problems]")).to_have_text("Line 2: [77]: not among your documents.")
    expect(page.locator("[data-counters]")).to_have_text("Bullets: 2 · words: 3 · bullets without a citation: 0")

    before = text_of(page)
    page.locator("[data-cite='4'] + h3").click()
    page.locator("#doc-4 .reading p").first.select_text()
    page.keyboard.press("Control+C")
    expect(page.locator("[data-notice=copy]")).to_contain_text("cannot copy text")
    paste(page, f"somebody says that {ONLY_IN_4} indeed")
    expect(page.locator("[data-notice=paste]")).to_contain_text("text is from the documents")
    paste(page, "made by a chatbot")
    expect(page.locator("[data-notice=paste]")).to_contain_text("text from elsewhere")
    assert text_of(page) == before
    page.locator("#editor").select_text()
    page.keyboard.press("Control+X")
    expect(page.locator("#editor")).to_have_value("")
    page.keyboard.press("Control+V")
    expect(page.locator("#editor")).to_have_value(before)
    page.keyboard.press("Control+S")
    saved(page)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("heading", name="Paused").wait_for()

    events = site.events("rules")
    kinds = [kind for kind, _ in events]
    assert {"search", "copy", "paste_blocked", "cite_click"} <= set(kinds)
    assert [fact["class"] for kind, fact in events if kind == "paste_blocked"] == ["document", "other"]
    stored = json.dumps([fact for kind, fact in events if kind != "search"])
    assert "lighthouse" not in stored
    assert "chatbot" not in stored


def test_the_paper_protocol_shows_no_aids(desk: Desk) -> None:
    page = desk("paper")
    begin(page)
    page.get_by_label("Search the documents").fill("ferry")
    expect(page.locator("[data-count]")).to_contain_text("found")
    assert page.locator(".rail-hits:visible").count() == 0
    assert page.locator("[data-cite]").count() == 0
    write(page, "- Nothing [99]")
    saved(page)
    assert not page.locator("[data-counters]").is_visible()
    assert page.locator("[data-problems]").inner_text() == ""
    page.get_by_role("button", name="Rules and keys").click()
    expect(page.get_by_role("dialog")).to_contain_text("facts that more than one document states")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Hide clock").click()
    expect(page.locator("[data-clock]")).to_be_hidden()


def test_a_lost_login_costs_no_text(desk: Desk, site: Site, context: BrowserContext) -> None:
    page = desk("login")
    begin(page)
    context.clear_cookies()
    write(page, "- Typed without a login [1]")
    link = page.get_by_role("link", name="Log in in a new tab")
    expect(link).to_be_visible()
    write(page, " and more")
    with context.expect_page() as opened:
        link.click()
    log_in(opened.value, "login")
    opened.value.close()
    page.get_by_role("button", name="I have logged in").click()
    saved(page)
    assert site.session("login")["draft_text"] == "- Typed without a login [1] and more"


def test_at_the_deadline_the_last_words_count(desk: Desk, site: Site) -> None:
    page = begun(desk, "deadline", "- Early [1]")
    site.rows(
        """UPDATE annotation_session SET limit_ms = 12000, grace_ms = 1500, next_due_at = '2020-01-01'
           WHERE assignment_id = (SELECT id FROM annotation_assignment WHERE uid = ?)""",
        site.key("deadline"),
    )
    page.reload()
    ready(page)
    typed = type_to_the_end(page)
    page.get_by_role("heading", name="Time is up. Your summary is submitted.").wait_for()
    session = site.session("deadline")
    assert (session["state"], session["acc_ms"], session["draft_text"]) == ("expired", 12_000, typed)

    kept = {"text": f"{typed} and too late", "base_rev": session["draft_rev"], "op_id": "", "sent": None}
    page.evaluate(
        "([key, kept]) => localStorage.setItem(key, kept)", [f"session:{uuid_of(session)}", json.dumps(kept)]
    )
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        if lost:
            route.continue_()
        else:
            lost.append(route.request.url)
            route.abort()

    page.route(re.compile(r"/state/$"), lose_the_first)
    page.reload()
    expect(page.get_by_role("heading", name="3 words arrived too late")).to_be_visible()
    assert lost
    refused = "SELECT reject_code FROM annotation_draftrevision WHERE text LIKE '%and too late'"
    assert site.rows(refused) == [("closed",)]
    assert site.session("deadline")["draft_text"] == typed
    assert page.evaluate("localStorage.length") <= 1
