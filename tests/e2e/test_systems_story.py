"""A researcher puts a retriever and a summarizer to work, by command and in the browser, up to the leaderboard.

Both ask a server that also misbehaves: it is busy, breaks off, and sends what is no summary.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Site, copied
from tests.e2e.test_session_looks import serious
from tests.fake_openai import Answer, FakeServer, failing, judged, serving

pytestmark = pytest.mark.browser
WORKER_MS = 60_000
"""So long a worker may take to start."""
MISBEHAVIOUR = {
    1: failing(429, "slow down", retry_after="0"),
    2: failing(503, "overloaded"),
    3: Answer(cut=True),
    5: Answer("The ferry is late, and nobody knows why.", usage=None),
    7: Answer("- The ferry is free for all [9999].", usage=None),
}
"""Without usage, as all summaries here: who counted 100 tokens of these prompts would have cut them."""


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def site(server: FakeServer, tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Iterator[Site]:
    """A site of its own, which may ask the server."""
    made = copied(bare, tmp_path_factory)
    made.env["OPENAI_BASE_URLS"] = server.address
    with made.served("scene_systems.prepare"):
        yield made


def made_by(site: Site) -> dict[str, Any]:
    """What its scene has made."""
    return dict(site.scenes["scene_systems.prepare"])


def make_summarizer(page: Page, name: str) -> None:
    page.goto("/summarizers/")
    page.get_by_role("link", name="New summarizer").click()
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("textbox", name="Model").fill("sparrow-1")
    assert serious(page) == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def test_commands_retrieve_summarize_and_judge_up_to_the_leaderboard(
    ada: Page, site: Site, server: FakeServer
) -> None:
    title, n = made_by(site)["title"], made_by(site)["n_subtopics"]
    make_summarizer(ada, "sparrow")
    assert server.n_asked == 0  # nothing is sent before a run

    server.behaviour = lambda number, body: MISBEHAVIOUR.get(number) if number < 4 else None
    of_server = ("--set", f"base_url={server.address}", "--set", "model=wren-1")
    retrieve = ("retrieve", "--haystack", title, "--retriever", "rerank", *of_server, "--json")
    [scored] = json.loads(site.manage(*retrieve))
    assert (scored["state"], scored["n_computed"], scored["n_requests"]) == ("done", n, n + 3)

    n_asked = server.n_asked
    server.behaviour = lambda number, body: MISBEHAVIOUR.get(number - n_asked) or Answer(judged(body), usage=None)
    of_sparrow = ("--system", "sparrow", "--retriever", scored["reference"], "--json")
    summarize = ("summarize", "--haystack", title, *of_sparrow)
    report = json.loads(site.manage(*summarize, "--concurrency", "1"))
    assert (report["written"], report["failed"], report["not_as_asked"]) == (n, 0, 2)
    assert any("9999" in reason or "not shown" in reason for reason in report["reasons"]), report
    n_asked = server.n_asked
    again = json.loads(site.manage(*summarize))
    assert (again["written"], again["there_before"], server.n_asked) == (0, n, n_asked)

    site.manage("summarize", "--system", "extractive", "--retriever", "keywords", "--haystack", title)
    site.manage("run_judge", "lexical", "--haystack", title)
    ada.goto("/leaderboard/")
    board = ada.locator("#board")
    expect(board).to_contain_text("sparrow")
    expect(board).to_contain_text("extractive")
    assert serious(ada) == []
    rows = json.loads(site.manage("report", "leaderboard", "--judge", "lexical", "--json"))
    assert {"sparrow", "extractive"} <= {row["system"] for row in rows}


def test_a_run_is_started_watched_paused_cancelled_and_finished_in_the_browser(
    ada: Page, site: Site, server: FakeServer
) -> None:
    n = made_by(site)["n_subtopics"]
    server.behaviour, server.delay_s = None, 1.0
    first = server.n_asked
    make_summarizer(ada, "wagtail")
    asked = ada.locator("form.after").first
    asked.get_by_label("Haystack", exact=True).select_option(label=made_by(site)["title"])
    asked.get_by_label("Documents", exact=True).select_option("top")
    asked.get_by_text("Everything else:").click()
    asked.get_by_label("Requests at the same time").fill("1")
    asked.get_by_role("button", name="Estimate calls and cost").click()
    expect(ada.locator("#estimate")).to_contain_text(f"{n} to write of {n}")
    ada.get_by_role("button", name="Start the run").click()
    expect(ada.get_by_role("heading", level=1)).to_contain_text("Run of")
    status = ada.locator("#status")
    expect(status).to_contain_text(f"0 of {n} summaries written")

    at_work = site.work()
    expect(status).to_contain_text(re.compile(rf"[1-{n - 1}] of {n} summaries written"), timeout=WORKER_MS)
    ada.get_by_role("button", name="Pause").click()
    expect(status).to_contain_text("Paused by hand")
    at_work.result()
    n_paused = server.n_asked
    assert first < n_paused < first + n

    ada.get_by_role("button", name="Resume").click()
    expect(ada.get_by_role("button", name="Pause")).to_be_visible()
    at_work = site.work()
    while server.n_asked == n_paused and not at_work.done():
        ada.wait_for_timeout(50)
    ada.get_by_role("button", name="Cancel").click()
    expect(status).to_contain_text("cancelled")
    at_work.result()
    assert server.n_asked < first + n
    assert serious(ada) == []

    server.delay_s = 0.0
    ada.get_by_role("button", name="Run missing items again").click()
    site.work().result()
    expect(status).to_contain_text("done")
    assert server.n_asked == first + n  # nothing was asked twice
    ada.goto("/summarizers/")
    expect(ada.get_by_role("row").filter(has_text="wagtail").get_by_role("cell").nth(2)).to_have_text(str(n))
