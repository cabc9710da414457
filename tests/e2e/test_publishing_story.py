"""Results are published: read without a log-in, framed as a chart in a page of another site, and taken back."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.axe import ALL_RULES, violations
from tests.e2e.conftest import SECONDS, Site, opened, seated

pytestmark = pytest.mark.browser
CHOSEN = "ferry-judges"


@contextmanager
def another_site(html: str) -> Iterator[str]:
    """Serve a page at an origin of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def publish(page: Page, results: str, *, address: str = "", is_indexed: bool = False) -> str:
    """Publish a page of results by its button; gives the address."""
    page.goto(results)
    page.locator("summary", has_text="Download").first.click()
    page.get_by_role("link", name="Publish…").click()
    page.get_by_label("Title").fill("How good are the judges?")
    page.get_by_label("Address").fill(address)
    page.get_by_label("Let search engines list it").set_checked(is_indexed)
    page.get_by_role("button", name="Publish").click()
    return str(page.locator("main table a[href^='/public/']").first.get_attribute("href"))


@pytest.fixture
def ada(browser: Browser, site: Site) -> Iterator[Page]:
    """Somebody with patience: publishing computes figures and draws, here within the request."""
    with seated(browser, site, "ada", seconds=12 * SECONDS) as page:
        yield page


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """Anybody."""
    with opened(browser, site, seconds=4 * SECONDS) as context:
        yield context.new_page()


def test_published_results_are_read_framed_and_taken_back(site: Site, ada: Page, page: Page) -> None:
    results = f"/studies/{site.scenes['scene_charts.prepare']['study']}/figures/?view=judges"
    drawn = publish(ada, results, is_indexed=True)
    assert re.fullmatch("/public/[0-9a-f]{24}/", drawn)
    chosen = publish(ada, results, address=CHOSEN)
    assert chosen == f"/public/{CHOSEN}/"

    for address, robots in ((chosen, "noindex"), (drawn, None)):
        there = page.goto(address)
        assert there.headers.get("x-robots-tag") == robots
        expect(page.get_by_role("heading", level=1)).to_have_text("How good are the judges?")
        expect(page.locator("figure.chart svg").first).to_be_visible()
        assert violations(page, ALL_RULES) == []
    assert page.context.cookies() == []

    places = (f"{site.url}{chosen}{part}" for part in ("chart/", ""))
    frames = "".join(f'<iframe src="{place}" width="720" height="480"></iframe>' for place in places)
    with another_site(f"<!doctype html><title>A paper</title>{frames}") as elsewhere:
        page.goto(elsewhere)
        chart = page.frame_locator("iframe >> nth=0")
        expect(chart.locator("figure.chart svg").first).to_be_visible()
        expect(chart.locator("a[href^='/public/']")).to_have_attribute("target", "_blank")
        refused = page.locator("iframe >> nth=1").element_handle().content_frame()
        assert "How good are the judges?" not in refused.content()

        ada.goto("/publications/")
        ada.locator("tr", has_text=CHOSEN).get_by_role("button", name="Take back").click()
        expect(ada.locator("main")).to_contain_text("taken back")
        for part in ("", "chart/"):
            gone = page.request.get(f"{site.url}{chosen}{part}")
            assert gone.status == 404
        page.goto(elsewhere)
        expect(page.frame_locator("iframe >> nth=0").locator("figure.chart")).to_have_count(0)
    there = page.goto(drawn)
    assert there.status == 200
    written = site.rows("SELECT action FROM benchmarks_auditevent WHERE action LIKE 'publication.%' ORDER BY id")
    assert [action for (action,) in written] == ["publication.create", "publication.create", "publication.revoke"]
