"""How many clicks and fields lie between a corpus and the first keystroke of an annotator."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from bench.site import ROOT
from tests.e2e.conftest import Site, at_item, opened, press, ready
from tests.e2e.scene import PASSWORD

pytestmark = pytest.mark.browser
MOST, MOST_TO_LINK = 16, 2


class Hand:
    """Clicks and fields of everybody together; pages only show what the last click led to."""

    def __init__(self) -> None:
        self.n = 0

    def click(self, target: Locator) -> None:
        """One click, also of a box to tick."""
        target.click()
        self.n += 1

    def fill(self, target: Locator, text: str) -> None:
        """One field."""
        target.fill(text)
        self.n += 1

    def log_in(self, page: Page, name: str) -> None:
        """User name, password, and the button."""
        self.fill(page.locator("[name=username]"), name)
        self.fill(page.locator("[name=password]"), PASSWORD)
        self.click(page.get_by_role("main").get_by_role("button"))


def new_annotator(site: Site, page: Page, name: str) -> None:
    """Somebody with a password who has never been here."""
    args = [sys.executable, "manage.py", "create_account", name, "--name", name, "--base-url", site.url]
    made = subprocess.run(args, cwd=ROOT, env=site.env, check=True, capture_output=True, text=True)
    link = re.findall(r"https?://\S+", made.stdout)[-1]
    page.goto(link)
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    page.get_by_role("button", name="Set password and log in").click()
    page.wait_for_url("**/work/")


def set_up(hand: Hand, ada: Page, folder: Path, *, kind: str, person: str) -> None:
    """From the import page, with the example file, to an open study with one annotator, by clicks only."""
    example = ada.request.get("/corpora/import/example/summhay/").json()
    file = folder / "haystack.json"
    file.write_text(json.dumps({**example, "topic_id": kind, "topic": f"Harbours for {kind}"}))
    ada.goto("/corpora/import/")
    ada.get_by_label("File", exact=True).set_input_files(file)
    hand.n += 1
    hand.click(ada.get_by_role("button", name="Upload and check"))
    hand.click(ada.get_by_role("button", name="Import", exact=True))
    hand.click(ada.get_by_role("link", name=f"New {kind} study"))
    hand.click(ada.get_by_text("Annotators: 0 of"))  # more than ten are folded
    hand.click(ada.get_by_label(person, exact=True))
    if kind == "linking":  # the trial that comes first is in `test_newcomer_story`
        ada.get_by_text("Everything else:").click()
        ada.get_by_label("New annotators begin with a trial").uncheck()
    hand.click(ada.get_by_role("button", name="Set up and open"))
    expect(ada.get_by_text("The study is open.")).to_be_visible()


def agree(hand: Hand, page: Page) -> None:
    """Read the consent page, and agree."""
    hand.click(page.get_by_role("link", name="Read and decide"))
    hand.click(page.locator("[name=agree]"))
    hand.click(page.get_by_role("button", name="I agree"))


@pytest.fixture
def desk_of(site: Site, browser: Browser) -> Iterator[Callable[[str], Page]]:
    """The login page in a browser of somebody's own, who has a password and has never been here."""
    with ExitStack() as stack:

        def open_login(name: str) -> Page:
            page = stack.enter_context(opened(browser, site)).new_page()
            new_annotator(site, page, name)
            page.context.clear_cookies()
            page.goto("/login/")
            return page

        yield open_login


def test_from_import_to_the_first_keystroke_takes_few_clicks(
    ada: Page, desk_of: Callable[[str], Page], tmp_path: Path
) -> None:
    nia, hand = desk_of("nia"), Hand()
    set_up(hand, ada, tmp_path, kind="writing", person="nia")
    hand.log_in(nia, "nia")
    agree(hand, nia)
    hand.click(nia.locator(".hero a.button.primary"))
    hand.click(nia.get_by_label("I write this myself"))
    hand.click(nia.get_by_role("button", name="Start the clock"))
    ready(nia)
    nia.keyboard.type("-")
    expect(nia.locator("#editor")).to_have_value("-")
    assert hand.n <= MOST


def test_from_the_login_to_the_first_linked_summary_takes_one_click(
    ada: Page, desk_of: Callable[[str], Page], tmp_path: Path
) -> None:
    nils, hand = desk_of("nils"), Hand()
    set_up(hand, ada, tmp_path, kind="linking", person="nils")
    hand.log_in(nils, "nils")
    agree(hand, nils)
    before = hand.n
    hand.click(nils.locator(".hero a.button.primary"))
    at_item(nils, re.compile("^1 / "))
    for _question in nils.locator(".question").all():
        press(nils, "1 Enter")
    nils.wait_for_url("**/finished/")  # the page leaves once all is saved
    expect(nils.get_by_role("main")).to_contain_text("1 of 1 answered")
    assert hand.n - before <= MOST_TO_LINK
    assert hand.n <= MOST
