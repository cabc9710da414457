"""Logging in while the server checks the passwords of others: the page waits and sends itself again."""

import secrets
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.site import ROOT
from tests.e2e.conftest import Site, copied, opened

pytestmark = pytest.mark.browser
PASSWORD = "correct horse battery"
MAKE_BEN = f"""
import django; django.setup()
from django.utils import timezone
from summhay_site.accounts import accounts
from summhay_site.models import User
rows = [accounts.NewAccount(username="ben", name="Ben")]
[ben] = accounts.create_accounts(actor=None, rows=rows, role="annotator", now=timezone.now())
ben.set_password({PASSWORD!r}); ben.save()
"""


class Rush:
    """Others who log in with names that nobody has, one after the other, as long as it goes on."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.knock, daemon=True) for _ in range(3)]

    def __enter__(self) -> None:
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        for thread in self.threads:
            thread.join(60)

    def knock(self) -> None:
        while not self.is_over.is_set():
            token = secrets.token_hex(16)
            request = urllib.request.Request(  # noqa: S310 - the site of this story
                f"{self.site.url}/login/",
                data=f"username={token}&password=wrong&csrfmiddlewaretoken={token}".encode(),
                headers={"Cookie": f"csrftoken={token}", "HX-Request": "true"},
            )
            try:
                urllib.request.urlopen(request, timeout=60).close()  # noqa: S310
            except urllib.error.HTTPError as error:
                error.close()
                self.is_over.wait(0.05)


@pytest.fixture(scope="module")
def slow_site(bare: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = copied(bare, tmp_path_factory)
    made.env |= {"DJANGO_SETTINGS_MODULE": "tests.e2e.settings_slow_passwords", "WEB_WORKERS": "1"}
    subprocess.run([sys.executable, "-c", MAKE_BEN], cwd=ROOT, env=made.env, check=True)
    with made.served():
        yield made


@pytest.fixture
def page(slow_site: Site, browser: Browser) -> Iterator[Page]:
    with opened(browser, slow_site, seconds=60) as context:
        yield context.new_page()


def fill_in(page: Page, password: str = PASSWORD) -> None:
    page.goto("/login/?next=/profile/")
    page.get_by_label("User name").fill("ben")
    send(page, password)


def send(page: Page, password: str = PASSWORD) -> None:
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Log in").click()


def test_a_page_that_finds_no_place_waits_and_then_logs_in_by_itself(slow_site: Site, page: Page) -> None:
    notice = page.locator("[data-wait=on]")
    with Rush(slow_site):
        page.wait_for_timeout(500)
        fill_in(page)
        expect(notice).to_be_visible()
        expect(notice).to_contain_text("Leave this page open")
        expect(page.get_by_label("User name")).to_have_value("ben")
        kept = "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, history.state])"
        assert PASSWORD not in page.evaluate(kept)
        assert PASSWORD not in page.content()
    page.wait_for_url("**/profile/")


def test_a_wrong_password_is_said_on_the_same_page(page: Page) -> None:
    fill_in(page, "wrong horse")
    expect(page.get_by_role("alert")).to_contain_text("correct", timeout=60_000)
    expect(page.get_by_label("User name")).to_have_value("ben")
    expect(page.get_by_label("Password")).to_have_value("")
    send(page)
    page.wait_for_url("**/profile/")


def test_a_page_waits_too_while_the_server_is_started_again(slow_site: Site, page: Page) -> None:
    page.goto("/login/?next=/profile/")
    slow_site.kill()
    page.get_by_label("User name").fill("ben")
    send(page)
    expect(page.locator("[data-wait=on]")).to_be_visible()
    slow_site.start()
    page.wait_for_url("**/profile/")


def test_without_scripts_the_form_comes_back_and_works_when_it_is_sent_again(
    slow_site: Site, browser: Browser
) -> None:
    with opened(browser, slow_site, seconds=60, java_script_enabled=False) as context:
        page = context.new_page()
        with Rush(slow_site):
            page.wait_for_timeout(500)
            fill_in(page)
            expect(page.get_by_role("alert")).to_contain_text("Type your password again")
            expect(page.get_by_label("User name")).to_have_value("ben")
        send(page)
        page.wait_for_url("**/profile/")
