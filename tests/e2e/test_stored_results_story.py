"""A label is changed: the page shows the figures of before, marked so, then the new ones, all without loading.

Here a real worker computes them, as on a site; while it is stopped the page says so and stays quick.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from bench.site import Member
from tests.e2e.conftest import Site, copied, until
from tests.e2e.test_session_looks import serious

pytestmark = pytest.mark.browser
WAITING, OLD, UNATTENDED = (
    "are being computed",
    "what they are made of has changed",
    "no worker has begun",
)
QUICK_S = 3.0
"""Most of what a page may take on a machine that does other work; a budget of the bench is stricter."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Iterator[Site]:
    """A site whose figures are computed by workers, with labels of two people on 30 items."""
    made = copied(prepared, tmp_path_factory)
    made.env |= {"STORY_HAS_WORKERS": "1"}
    del made.env["CELERY_BROKER_URL"]  # files in its data folder, so that its programs share them
    with made.served():
        yield made


@pytest.fixture
def figures(site: Site) -> Iterator[Member]:
    """The worker of figures of a site, a process that can be stopped."""
    words = "-m celery -A summhay_site worker -P solo -Q summhay-figures"
    worker = Member("figures", [sys.executable, *words.split()], site.env, site.folder / "figures.log")
    yield worker
    worker.kill()


@pytest.mark.parametrize("is_whole", [True, False], ids=["by a reload", "in place"])
def test_figures_that_arrive_take_no_click_away(site: Site, ada: Page, is_whole: bool) -> None:
    address = f"/studies/{site.scenes['scene_stored_results.prepare']['study']}/agreement/"
    arrived = {"is": False}
    held: list[Route] = []
    states: list[str] = []
    fragment = f"""<div class="result-state" hx-get="{address}" hx-headers='{{"HX-Boosted": "true"}}'
      hx-trigger="load" hx-target="main" hx-select="main" hx-swap="outerHTML show:none"></div>"""

    def state(route: Route) -> None:
        states.append(route.request.url)
        if not arrived["is"]:
            route.continue_()
        elif is_whole:
            route.fulfill(headers={"HX-Refresh": "true"}, body="")
        else:
            route.fulfill(body=fragment, content_type="text/html")

    ada.route("**/results/*-*/**", state)
    ada.route("**/studies/", lambda route: held.append(route))
    ada.goto(address)
    expect(ada.locator("#figures .result-state").first).to_contain_text(WAITING)
    ada.locator(".site-nav a[href='/studies/'], .breadcrumb a[href='/studies/']").first.click(no_wait_after=True)
    until(ada, lambda: bool(held))
    arrived["is"], n = True, len(states)
    until(ada, lambda: len(states) > n + 1)  # the answer was there twice while the page to come was not
    held[0].continue_()
    expect(ada).to_have_url(f"{site.url}/studies/")


def test_figures_are_marked_as_old_and_replaced_in_place(site: Site, figures: Member, ada: Page) -> None:
    address = f"/studies/{site.scenes['scene_stored_results.prepare']['study']}/agreement/"
    ada.goto(address)
    state = ada.locator("#figures .result-state").first
    expect(state).to_contain_text(WAITING)
    assert serious(ada) == []
    figures.start()
    card = ada.locator(".card").filter(has=ada.get_by_text("Agreement (%)", exact=True))
    value = card.locator(".figure-value > span").first
    expect(value).to_have_text("100.0", timeout=60_000)
    expect(state).to_contain_text("Computed")

    figures.kill()
    site.play("scene_stored_results.change")
    started = time.monotonic()
    ada.goto(address)
    assert time.monotonic() - started < QUICK_S
    expect(state).to_contain_text(OLD)
    expect(value).to_have_text("100.0")
    site.rows("UPDATE benchmarks_result SET asked_at = datetime(asked_at, '-1 minute') WHERE name = 'agreement'")
    expect(state).to_contain_text(UNATTENDED)

    ada.evaluate("window.isTheSame = true")
    figures.start()
    site.play("scene_stored_results.sweep")  # beat would
    expect(value).not_to_have_text("100.0", timeout=60_000)
    expect(state).to_contain_text("Computed")
    assert ada.evaluate("window.isTheSame")
