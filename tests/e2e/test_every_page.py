"""Every kind of page of the demo under axe-core; no page scrolls sideways, however narrow.

In both themes; pages of those who run studies are seen in the dark at night.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.conftest import made_once
from tests.e2e.axe import ALL_RULES, CONTRAST, violations
from tests.e2e.conftest import Site, copied
from tests.e2e.walking import CAST, begin_session, log_in, walk

pytestmark = pytest.mark.browser

LIGHT = {"light": ALL_RULES | {"rules": {"target-size": {"enabled": True}}}}
BOTH = LIGHT | {"dark": CONTRAST}
NARROW = {"phone": (390, 844), "400 % zoom": (320, 256)}


@pytest.fixture(scope="module")
def demo_site(tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Iterator[Site]:
    def make(folder: Path) -> None:
        shutil.copytree(bare, folder, dirs_exist_ok=True)
        made = Site(folder)
        made.manage("load_demo", "--no-logins")
        made.end()

    with copied(made_once(tmp_path_factory, "demo", make), tmp_path_factory).served() as site:
        yield site


def faults(page: Page, themes: Mapping[str, dict[str, Any]]) -> list[str]:
    """What is wrong with the page as it is; it is loaded once, and themes and sizes are switched on it."""
    page.set_viewport_size({"width": 1440, "height": 900})
    found = []
    for theme, options in themes.items():
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        found += [
            f"{theme}: {one['id']} at {[node['target'][0] for node in one['nodes']][:3]}"
            for one in violations(page, options)
        ]
    for name, (width, height) in NARROW.items():
        page.set_viewport_size({"width": width, "height": height})
        if page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"):
            found.append(f"{name}: scrolls sideways")
    return found


@pytest.mark.parametrize(
    ("roles", "themes", "n_least"),
    [
        (("admin", "researcher"), BOTH if os.environ.get("TEST_EVERYTHING") else LIGHT, 50),
        (("annotator", "nobody"), BOTH, 15),
    ],
    ids=["those who run studies", "those who work in them, and strangers"],
)
def test_every_kind_of_page_is_accessible(
    demo_site: Site, browser: Browser, roles: tuple[str, ...], themes: Mapping[str, dict[str, Any]], n_least: int
) -> None:
    wrong: dict[str, list[str]] = {}
    seen: set[str] = set()
    for role in roles:
        for username in CAST[role]:
            context = browser.new_context(base_url=demo_site.url, locale="en-GB", reduced_motion="reduce")
            page = context.new_page()
            if username:
                log_in(page, username)
            for name in walk(page, role, seen=seen):
                wrong[f"{role} {name}"] = faults(page, themes)
            if username == "cleo":
                begin_session(page)
                wrong["a session under way"] = faults(page, themes)
            context.close()
    assert len(wrong) > n_least
    assert {name: rows for name, rows in wrong.items() if rows} == {}


def test_the_skip_link_comes_first_and_menus_work_by_keyboard(demo_site: Site, browser: Browser) -> None:
    context = browser.new_context(base_url=demo_site.url, viewport={"width": 1024, "height": 700}, locale="en-GB")
    page = context.new_page()
    log_in(page, "eve")
    page.goto("/studies/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip-link"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"

    tops = page.locator(".site-nav > *").evaluate_all(
        "parts => parts.map(part => part.getBoundingClientRect().top)"
    )
    assert len({round(top) for top in tops}) == 1

    menu = page.locator(".site-nav summary", has_text="Data")
    menu.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent.trim()") == "Corpora"
    page.keyboard.press("Escape")
    assert not page.locator(".menu[open]").count()
    assert page.evaluate("document.activeElement.textContent.trim()") == "Data"
    context.close()
