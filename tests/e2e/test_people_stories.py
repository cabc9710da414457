"""From a panel's link to the completion code; and a person's work deleted, which an older backup does not undo."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Site, at_item, press
from tests.e2e.scene_people import CODE, TEXT
from tests.e2e.test_phone_story import place_of

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def people(site: Site) -> dict[str, str]:
    return site.scenes["scene_people.prepare"]


def test_a_participant_follows_a_link_agrees_works_and_gets_the_code(
    people: dict[str, str], site: Site, browser: Browser
) -> None:
    link = f"{site.url}{people['join']}?PROLIFIC_PID=5f1e&STUDY_ID=s&SESSION_ID=t"
    page = browser.new_page()
    page.goto(link)
    page.get_by_role("button", name="Begin").click()
    page.locator("[name=agree]").check()
    page.locator("form:has([name=agree]) button").click()
    page.wait_for_url("**/work/")
    assert CODE not in page.content()
    page.set_viewport_size({"width": 390, "height": 660})
    said, title = page.locator(".message"), page.get_by_role("heading", name="My work")
    assert place_of(said)[3] <= place_of(title)[1]
    page.set_viewport_size({"width": 1280, "height": 720})
    page.locator(".hero a.button.primary").click()
    at_item(page, "1 / 1")
    press(page, " ".join(["1 Enter"] * page.locator(".question").count()))
    expect(page.get_by_role("heading", name="All done").first).to_be_visible()
    page.goto(f"{site.url}/work/")
    expect(page.locator("[data-completion-code]")).to_have_text(CODE)
    back = page.get_by_role("link", name="Back to the panel")
    assert (back.get_attribute("href") or "").startswith("https://app.prolific.com/")

    other = browser.new_page()
    other.goto(link)
    expect(other.get_by_role("heading", name="Use the browser you started in")).to_be_visible()
    page.close()
    other.close()


def test_deleted_work_is_gone_from_exports_and_stays_gone_after_a_restore(
    people: dict[str, str], site: Site, desk: Callable[[str], Page], tmp_path: Path
) -> None:
    written = "SELECT count(*) FROM annotation_draftrevision WHERE text = ?"
    copies = "SELECT count(*) FROM benchmarks_summary WHERE text = ?"
    assert site.rows(written, TEXT) == site.rows(copies, TEXT) == [(1,)]
    backup = tmp_path / "before.backup"
    site.manage("backup", str(backup))

    eve = desk("eve")
    eve.goto(f"/people/{people['person']}/")
    eve.get_by_role("link", name="Erase this person").click()
    expect(eve.get_by_role("row", name="writing sessions, with their times")).to_contain_text("1")
    eve.get_by_label("Delete", exact=True).check()
    eve.locator("[name=username]").fill("zoe")
    eve.get_by_role("button", name="Erase for good").click()
    expect(eve.get_by_text("The person was erased.")).to_be_visible()
    archive = f"/studies/{people['study']}/archive/"
    eve.goto(archive)
    expect(eve.get_by_text("1 person asked for their work to be deleted")).to_be_visible()
    expect(eve.get_by_text("different texts: 1")).to_be_visible()

    site.kill()
    site.manage("restore", str(backup), "--yes")
    site.start()
    assert site.rows(written, TEXT) == site.rows(copies, TEXT) == [(0,)]
    eve = desk("eve")
    eve.goto(archive)
    expect(eve.get_by_text("1 person asked for their work to be deleted")).to_be_visible()
    eve.goto(f"/people/{people['person']}/")
    expect(eve.get_by_role("heading", name="Page not found")).to_be_visible()
