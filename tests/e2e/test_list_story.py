"""A list is sorted, narrowed and left without a reload; without a script its links and buttons do the same."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.axe import ALL_RULES, violations
from tests.e2e.conftest import Site, log_in, opened

pytestmark = pytest.mark.browser


def names(page: Page) -> list[str]:
    return page.locator("#list tbody tr > :first-child").all_inner_texts()


def test_a_list_is_sorted_and_narrowed_in_place_and_back_leads_back(desk: Callable[[str], Page]) -> None:
    page = desk("ada")
    page.goto("/studies/")
    page.evaluate("window.isTheSamePage = true")
    page.locator("#by-name").click()
    page.wait_for_url("**/studies/?sort=name")
    upwards = names(page)
    assert upwards == sorted(upwards, key=str.casefold)
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Name")
    page.locator("#by-name").click()
    page.wait_for_url("**/studies/?sort=-name")
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Name")
    assert names(page) == upwards[::-1]
    page.get_by_label("Name or description").fill(upwards[0])
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=-name*")
    expect(page.get_by_role("link", name="Show all")).to_be_visible()
    assert names(page) == upwards[:1]
    assert page.evaluate("window.isTheSamePage")
    assert violations(page, ALL_RULES) == []
    page.get_by_role("link", name="Show all").click()
    page.wait_for_url("**/studies/?sort=-name")
    page.go_back()
    page.wait_for_url("**q=*")
    expect(page.get_by_role("heading", level=1)).to_have_text("Studies")


def test_a_list_works_without_a_script(site: Site, browser: Browser) -> None:
    with opened(browser, site, java_script_enabled=False) as context:
        page = context.new_page()
        log_in(page, "ada")
        page.goto("/studies/")
        page.locator("#by-name").click()
        page.wait_for_url("**/studies/?sort=name")
        upwards = names(page)
        assert upwards == sorted(upwards, key=str.casefold)
        page.get_by_label("Name or description").fill(upwards[0])
        page.get_by_role("button", name="Filter").click()
        page.wait_for_url(re.compile("[?&]q=[^&]"))  # to the end of its body
        assert "sort=name" in page.url
        assert names(page) == upwards[:1]
