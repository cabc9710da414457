"""From a seed to a haystack that one can write on: two clicks, by a researcher."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_session_looks import serious

pytestmark = pytest.mark.browser


def test_from_a_seed_to_a_haystack_to_write_on(ada: Page) -> None:
    ada.goto("/corpora/")
    ada.get_by_role("link", name="Make from templates").click()
    preview = ada.get_by_role("region", name="Preview")
    first = preview.get_by_role("listitem").first.inner_text()
    ada.get_by_label("Seed", exact=True).fill("7")
    expect(preview.get_by_role("listitem").first).not_to_have_text(first)
    second = preview.get_by_role("listitem").first.inner_text()
    ada.get_by_label("Unlike seed").fill("7")
    expect(preview).to_contain_text("This is the seed itself")
    ada.get_by_label("Unlike seed").fill("1")
    expect(preview.get_by_role("listitem").first).to_contain_text("heat pump")
    assert "csrf" not in ada.url
    assert serious(ada) == []

    ada.get_by_label("Unlike seed").fill("")
    expect(preview.get_by_role("listitem").first).to_have_text(second)
    ada.get_by_role("button", name="Make and check").click()
    expect(ada.get_by_role("main")).to_contain_text("baths-7.json")
    ada.get_by_role("button", name="Import").click()
    expect(ada.get_by_role("main")).to_contain_text("What was imported")
    ada.get_by_role("link", name="open-air baths").first.click()
    expect(ada.get_by_role("main")).to_contain_text("made from templates: pack baths")
    expect(ada.get_by_role("main")).to_contain_text("seed 7")
    ada.get_by_role("link", name="New writing study").click()
    expect(ada.get_by_role("main")).to_contain_text("Water and heating")
