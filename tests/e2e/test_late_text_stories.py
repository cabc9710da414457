"""A line that is cut around the end of a session: whatever was typed is kept, arrives later, and is told of."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import Site, log_in, ready, saved, seated, until, write
from tests.e2e.test_session_stories import begun, kill, text_of, type_to_the_end, uuid_of

pytestmark = pytest.mark.browser
Desk = Callable[[str], Page]
GRACE_MS = 2_000
"""The second of grace, and one more for the server to be behind."""
BULLETS = [f"\n- Bullet number {n} was typed without a line [{n}]" for n in (1, 2, 3, 4)]


def shorten(site: Site, story: str, *, seconds: int) -> None:
    """Let a running session end so many seconds from now, with a second of grace."""
    site.rows(
        """UPDATE annotation_session SET grace_ms = 1000, next_due_at = '2020-01-01', limit_ms = ? +
             CAST((julianday('now') - julianday(run_started_at)) * 86400000 AS INTEGER)
           WHERE assignment_id = (SELECT id FROM annotation_assignment WHERE uid = ?)""",
        seconds * 1000,
        site.key(story),
    )


def late_texts(site: Site, story: str) -> list[str]:
    query = """
        SELECT r.text FROM annotation_draftrevision r JOIN annotation_session s ON s.id = r.session_id
        JOIN annotation_assignment a ON a.id = s.assignment_id
        WHERE a.uid = ? AND r.reject_code = 'closed' ORDER BY r.id
    """
    return [text for (text,) in site.rows(query, site.key(story))]


def copies(page: Page) -> list[str]:
    script = (
        "Object.keys(localStorage).filter((key) => /^(session|notes):/.test(key)).map((key) => localStorage[key])"
    )
    return [json.loads(kept)["text"] for kept in page.evaluate(script)]


def shortened(page: Page, site: Site, story: str, *, seconds: int) -> None:
    shorten(site, story, seconds=seconds)
    page.reload()
    ready(page)


def until_the_end(page: Page) -> None:
    """Wait for 0:00, and a little longer."""
    page.locator("#editor[readonly]").wait_for(timeout=60_000)
    page.wait_for_timeout(2_500)


def test_all_that_was_typed_offline_before_the_end_arrives_and_is_told_of(
    desk: Desk, site: Site, context: BrowserContext, browser: Browser
) -> None:
    page = begun(desk, "cut")
    shortened(page, site, "cut", seconds=18)
    context.set_offline(True)
    for bullet in BULLETS:
        write(page, bullet)
        page.wait_for_timeout(700)  # it tries to save
    typed = text_of(page)
    assert typed == "- Before [1]" + "".join(BULLETS)
    until_the_end(page)
    assert copies(page) == [typed]
    for name in ("Pause", "Submit…"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_disabled()
    context.set_offline(False)
    page.get_by_role("heading", name="Time is up. Your summary is submitted.").wait_for(timeout=30_000)
    session = site.session("cut")
    assert (session["state"], session["draft_text"]) == ("expired", "- Before [1]")
    assert late_texts(site, "cut")[-1] == typed
    assert copies(page) == []
    expect(page.get_by_role("heading", name="32 words arrived too late")).to_be_visible()
    page.get_by_text("Read the text that arrived too late").click()
    expect(page.locator(".late-text .own-text").first).to_have_text(typed, use_inner_text=True)

    with seated(browser, site, "ada") as researcher:
        researcher.goto(f"/sessions/{uuid_of(session)}/")
        expect(researcher.get_by_role("heading", name="32 words arrived too late")).to_be_visible()
        form = researcher.locator(".late-text form").first
        form.get_by_label("Reason").fill("The network of the room was down.")
        form.get_by_role("button", name="Accept as a second final text").click()
        expect(researcher.locator(".late-text .badge", has_text="accepted")).to_be_visible()
    assert site.session("cut")["draft_text"] == "- Before [1]"
    page.reload()
    expect(page.get_by_text("A researcher has accepted it as a second final text.")).to_be_visible()


def test_a_browser_closed_offline_sends_what_it_kept_once_my_work_is_opened(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    page = begun(desk, "closed")
    shortened(page, site, "closed", seconds=10)
    context.set_offline(True)
    write(page, BULLETS[0])
    kill(page)
    context.set_offline(False)
    shorten(site, "closed", seconds=0)
    page = context.new_page()
    page.wait_for_timeout(GRACE_MS)
    page.goto("/work/")
    expect(page.get_by_role("status")).to_contain_text("8 words arrived too late")
    expect(page.get_by_role("heading", name="Two questions about")).to_be_visible()
    assert late_texts(site, "closed")[-1] == "- Before [1]" + BULLETS[0]
    assert copies(page) == []
    page.get_by_role("link", name="Open the session").click()
    expect(page.get_by_role("heading", name="8 words arrived too late")).to_be_visible()


def test_another_person_at_the_same_machine_sends_nothing_of_it(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    page = begun(desk, "neighbour")
    address = page.url
    shortened(page, site, "neighbour", seconds=10)
    context.set_offline(True)
    write(page, BULLETS[0])
    kill(page)
    context.set_offline(False)
    context.clear_cookies()
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    log_in(page, "noted")
    page.goto("/work/")
    page.wait_for_timeout(2_500)
    assert not [url for url in asked if "/sessions/" in url]
    assert late_texts(site, "neighbour") == []
    assert len(copies(page)) == 1
    shorten(site, "neighbour", seconds=0)
    page.wait_for_timeout(GRACE_MS)
    context.clear_cookies()
    log_in(page, "neighbour")
    expect(page.get_by_text("8 words arrived too late")).to_be_visible()
    page.goto(address)
    expect(page.get_by_role("heading", name="8 words arrived too late")).to_be_visible()
    assert copies(page) == []


def test_notes_typed_offline_are_kept_and_arrive_for_their_writer(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    page = begun(desk, "noted")
    page.locator("summary", has_text="Notes for yourself").click()
    notes = page.locator("[data-notes-text]")
    notes.fill("kept in time")
    expect(page.locator("[data-notes-state]")).to_have_text("saved")
    context.set_offline(True)
    notes.fill("kept in time, and looked for the pier")
    kill(page)
    context.set_offline(False)
    page = context.new_page()
    page.goto(f"/work/sessions/{uuid_of(site.session('noted'))}/")
    ready(page)
    expect(page.locator("[data-notes-text]")).to_have_value("kept in time, and looked for the pier")
    expect(page.locator("[data-notes-state]")).to_have_text("saved")
    assert site.session("noted")["notes_text"] == "kept in time, and looked for the pier"
    assert copies(page) == []

    shortened(page, site, "noted", seconds=10)
    context.set_offline(True)
    page.locator("[data-notes-text]").fill("too late for the server")
    until_the_end(page)
    context.set_offline(False)
    page.get_by_role("heading", name="Notes that arrived too late").wait_for(timeout=30_000)
    expect(page.locator(".late-text")).to_contain_text("too late for the server")
    assert site.session("noted")["notes_text"] == "kept in time, and looked for the pier"
    assert copies(page) == []


def test_a_late_text_over_sixty_kilobytes_stays_until_it_was_shortened(desk: Desk, site: Site) -> None:
    page = begun(desk, "long")
    shortened(page, site, "long", seconds=8)
    long = "- Before [1]\n- " + "word " * 13_000
    page.locator("#editor").fill(long)
    expect(page.locator("[data-notice=late]")).to_contain_text("shorten it", timeout=30_000)
    assert copies(page) == [long]
    page.locator("#editor").fill("- Before [1]\n- Shortened in the end [2]")
    page.get_by_role("button", name="Send the text").click()
    page.get_by_role("heading", name="4 words arrived too late").wait_for()
    assert late_texts(site, "long") == ["- Before [1]\n- Shortened in the end [2]"]
    assert copies(page) == []


def test_a_browser_that_keeps_no_copies_leaves_the_page_only_once_the_text_has_arrived(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    page = begun(desk, "full")
    shorten(site, "full", seconds=15)
    page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
    )
    page.reload()
    ready(page)
    context.set_offline(True)
    write(page, BULLETS[0])
    expect(page.locator("[data-notice=no-local]")).to_be_visible()
    page.wait_for_timeout(700)  # it tries to save
    write(page, BULLETS[1])
    typed = text_of(page)
    until_the_end(page)
    context.set_offline(False)
    page.get_by_role("heading", name="16 words arrived too late").wait_for(timeout=30_000)
    assert late_texts(site, "full")[-1] == typed


def test_on_a_slow_line_nothing_typed_before_the_end_is_dropped(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    page = begun(desk, "throttled")
    shortened(page, site, "throttled", seconds=12)
    line = context.new_cdp_session(page)
    line.send("Network.enable")
    slow = {"offline": False, "latency": 1_500, "downloadThroughput": 20_000, "uploadThroughput": 4_000}
    line.send("Network.emulateNetworkConditions", slow)
    typed = type_to_the_end(page)
    page.get_by_role("heading", name="Time is up").wait_for(timeout=60_000)
    assert typed in {site.session("throttled")["draft_text"], *late_texts(site, "throttled")}
    assert copies(page) == []


def test_of_two_versions_the_one_that_was_not_chosen_is_stored_too(
    desk: Desk, site: Site, context: BrowserContext, browser: Browser
) -> None:
    page = begun(desk, "chosen", "- Common [1]")
    address = page.url
    context.set_offline(True)
    write(page, "\n- On the train [2]")
    kill(page)
    with seated(browser, site, "chosen") as other:
        other.goto(address)
        ready(other)
        write(other, "\n- At home [3]")
        saved(other)
    context.set_offline(False)
    page = context.new_page()
    page.goto(address)
    page.locator("[data-pick=server]").click()
    ready(page)
    assert text_of(page) == "- Common [1]\n- At home [3]"
    stored = [text for (text,) in site.rows("SELECT text FROM annotation_draftrevision")]
    assert "- Common [1]\n- On the train [2]" in stored
    assert copies(page) == []


def test_events_carry_their_own_time_and_outlive_a_killed_browser(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    page = begun(desk, "events")
    page.get_by_label("Search the documents").fill("pier")
    page.keyboard.press("Enter")
    page.wait_for_timeout(3_500)
    page.locator("#doc-5 .reading p").first.select_text()
    page.keyboard.press("Control+C")
    query = """
        SELECT e.type, e.happened_at, e.at_server, e.active_ms FROM annotation_sessionevent e
        JOIN annotation_session s ON s.id = e.session_id JOIN annotation_assignment a ON a.id = s.assignment_id
        WHERE a.uid = ? AND e.type IN ('search', 'copy') ORDER BY e.id
    """
    until(page, lambda: len(site.rows(query, site.key("events"))) > 1)
    kill(page)
    found = site.rows(query, site.key("events"))
    assert [row[0] for row in found] == ["search", "copy"]
    search, copied = (seconds(row[1]) for row in found)
    assert 3 < copied - search < 15
    assert all(0 <= seconds(row[2]) - seconds(row[1]) < 3 for row in found)


def seconds(stored: str) -> float:
    hours, minutes, rest = stored.split(" ")[1].split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def test_an_older_tab_counts_nothing_down_and_leaves_when_the_newer_one_pauses(
    desk: Desk, site: Site, context: BrowserContext
) -> None:
    first = begun(desk, "stale")
    shortened(first, site, "stale", seconds=125)
    second = context.new_page()
    second.goto(first.url)
    ready(second)
    expect(first.get_by_role("heading", name="This session is open in another tab")).to_be_visible()
    expect(first.locator("[data-clock]")).to_have_text("–:––:––")
    expect(second.locator("[data-notice=time]")).to_be_visible(timeout=20_000)
    second.wait_for_timeout(500)
    assert first.locator("[data-notice=time]").count() == 0
    second.locator("summary", has_text="Notes for yourself").click()
    second.locator("[data-notes-text]").focus()
    second.keyboard.press("Alt+/")
    second.keyboard.press("Escape")
    expect(second.locator("[data-notes-text]")).to_be_focused()
    second.locator("#editor").focus()
    second.keyboard.press("Alt+/")
    second.keyboard.press("Escape")
    expect(second.locator("#editor")).to_be_focused()
    second.get_by_role("button", name="Pause").click()
    first.get_by_role("heading", name="Paused").wait_for()
