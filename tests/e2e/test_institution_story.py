"""Somebody logs in through their institution, in a browser, on a site that is set up for it by its environment."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import copied
from tests.e2e.test_session_looks import serious
from tests.institution import CLIENT, SECRET, institution

pytestmark = pytest.mark.browser


def test_wanda_comes_in_without_a_password(
    prepared: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> None:
    site = copied(prepared, tmp_path_factory)
    site.rows("UPDATE summhay_site_user SET email = 'wanda@there.example' WHERE username = 'wanda'")
    with institution() as there:
        there.person |= {"email": "wanda@there.example"}
        site.env |= {"OIDC_ISSUER": there.issuer, "OIDC_CLIENT_ID": CLIENT, "OIDC_CLIENT_SECRET": SECRET}
        site.env["OIDC_NAME"] = "the university"
        with site.served():
            page = browser.new_page(base_url=site.url)
            page.goto("/profile/")
            assert serious(page) == []
            page.get_by_role("link", name="Log in through the university").click()
            expect(page).to_have_url(f"{site.url}/profile/")
            page.context.clear_cookies()
            page.goto("/login/")
            there.person |= {"sub": "stranger", "email": "stranger@there.example"}
            page.get_by_role("link", name="Log in through the university").click()
            expect(page.get_by_text("No account here has your mail address")).to_be_visible()
            page.close()
