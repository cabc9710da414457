"""A chart as a researcher finds it: drawn without scripts, alive with them, on paper and as files."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Site, seated
from tests.e2e.test_session_looks import serious

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(site: Site) -> str:
    return f"/studies/{site.scenes['scene_charts.prepare']['study']}/agreement/?view=judges"


def test_without_scripts_the_drawing_is_there_in_both_themes(browser: Browser, site: Site, address: str) -> None:
    with seated(browser, site, "ada", java_script_enabled=False) as page:
        page.goto(address)
        dot = page.locator("#forest svg path[fill='var(--chart-0)']").first
        expect(page.locator("#forest svg")).to_have_attribute("aria-label", re.compile("ash: "))
        expect(dot).to_have_css("fill", "rgb(33, 82, 201)")
        page.emulate_media(color_scheme="dark")
        expect(dot).to_have_css("fill", "rgb(141, 176, 255)")
        page.emulate_media(media="print")
        expect(page.locator("#forest svg")).to_be_visible()


def test_a_chart_in_view_becomes_interactive_under_the_content_policy(ada: Page, address: str) -> None:
    said: list[str] = []
    ada.on("console", lambda message: said.append(message.text))
    ada.goto(address)
    forest = ada.locator("#forest")
    shown(ada, "forest")
    tooltip = ada.locator("#vg-tooltip-element")
    forest.locator(".mark-symbol path").first.hover()
    expect(tooltip).to_be_visible()
    expect(tooltip).to_contain_text(re.compile(r"(ash|<b>elm</b>|oak).*Pearson.*95 % interval.*n\d", re.DOTALL))
    expect(tooltip.locator("b")).to_have_count(0)
    ada.mouse.move(0, 0)
    expect(tooltip).to_be_hidden()

    ada.set_viewport_size({"width": 380, "height": 820})
    expect(forest.locator("svg.marks")).to_have_attribute("width", re.compile(r"^[23]\d\d"))
    ada.set_viewport_size({"width": 1360, "height": 820})
    ada.locator(".choice select[name=measure]").select_option("exact_agreement")
    expect(forest).to_contain_text("Exact agreement with people")
    shown(ada, "forest")
    ada.locator("#files > summary").click()
    ada.locator("#files select[name=file]").select_option("forest.vl.json")
    with ada.expect_download() as download:
        ada.locator("#files button").click()
    spec = json.loads(Path(download.value.path()).read_text())
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    ada.get_by_role("link", name="Bias", exact=True).click()
    shown(ada, "difference")
    assert serious(ada) == []
    assert said == []


def shown(page: Page, name: str) -> None:
    """Scroll to a chart and wait until it is interactive."""
    chart = page.locator(f"#{name}")
    chart.scroll_into_view_if_needed()
    expect(chart).to_have_attribute("data-state", "interactive")
