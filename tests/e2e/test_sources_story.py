"""Sources are imported, two methods summarize them, a person and a model rate, tables show what differs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Site, at_item, copied, press, saved, seated
from tests.e2e.scene_sources import DATASET
from tests.e2e.test_session_looks import serious
from tests.e2e.test_verification_story import open_work
from tests.fake_openai import Answer, FakeServer, serving

pytestmark = pytest.mark.browser
N_SOURCES, N_FILLING = 6, 12
FILLING = "The quay was swept and the gulls were fed by nobody in particular. "


def source(number: int) -> dict[str, Any]:
    """A text of some 140 words that says one thing that matters, further in with each source."""
    point = f"Harbour {number} closes its gate number{number} at dusk."
    text = FILLING * (2 + number) + point + " " + FILLING * (N_FILLING - 2 - number)
    return {"key": f"h{number}", "documents": text, "reference": point}


def scripted(_number: int, body: dict[str, Any]) -> Answer:
    """Finds the point when it sees the text as a whole, and loses it in parts; likes texts that have it."""
    asked = body["messages"][-1]["content"]
    if "You rate summaries" in body["messages"][0]["content"]:
        summary = asked.partition("\n\nSummary:\n")[2].partition("\n\nAspect")[0]
        return Answer(json.dumps({"rating": 5 if "gate" in summary else 2}))
    sentences = [part.strip() for part in asked.split(".") if "closes its gate" in part]
    if asked.count("The quay was swept") < N_FILLING or not sentences:
        return Answer("The quay was swept.")
    return Answer(f"{sentences[-1].splitlines()[-1]}.")


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with serving() as running:
        running.behaviour = scripted
        yield running


@pytest.fixture(scope="module")
def site(server: FakeServer, tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Iterator[Site]:
    made = copied(bare, tmp_path_factory)
    made.env["OPENAI_BASE_URLS"] = server.address
    with made.served("scene_sources.prepare"):
        yield made


@pytest.fixture
def ruth(browser: Browser, site: Site) -> Iterator[Page]:
    with seated(browser, site, "ruth") as page:
        yield page


def summarize(page: Page, site: Site, name: str, method: str) -> None:
    """Make a summarizer and let it write on all sources."""
    page.goto("/summarizers/new/")
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("textbox", name="Model").fill("sparrow-1")
    page.locator("#id_method").select_option(method)
    if method != "at-once":
        page.locator("#id_block_words").fill("60")
    page.get_by_role("button", name="Save").click()
    form = page.locator("form.after").nth(1)
    form.get_by_label("Dataset").select_option(DATASET)
    form.get_by_role("button", name="Estimate calls and cost").click()
    expect(page.locator("#estimate")).to_contain_text(f"{N_SOURCES} to write of {N_SOURCES}")
    page.get_by_role("button", name="Start the run").click()
    site.work().result()
    expect(page.locator("#status")).to_contain_text("done", timeout=30_000)


def test_from_sources_to_scores_with_ratings_and_where_their_content_lies(
    ada: Page, ruth: Page, site: Site, server: FakeServer, tmp_path: Path
) -> None:
    file = tmp_path / "harbours.jsonl"
    file.write_text("\n".join(json.dumps(source(number)) for number in range(N_SOURCES)))
    ada.goto("/corpora/import/?format=sources")
    ada.locator("input[type=file]").set_input_files(str(file))
    ada.get_by_label("Dataset").fill(DATASET)
    ada.get_by_role("button", name="Upload and check").click()
    ada.get_by_role("button", name="Import").click()
    expect(ada.get_by_role("link", name=f"Open “{DATASET}”")).to_be_visible(timeout=30_000)

    summarize(ada, site, "heron", "at-once")
    summarize(ada, site, "wren", "hierarchical")
    ada.goto("/leaderboard/sources/?measure=rouge1")
    table = ada.get_by_role("region", name="ROUGE-1")
    expect(table.get_by_role("row").filter(has_text="heron")).to_contain_text("at-once")
    expect(table.get_by_role("row").filter(has_text="heron")).to_contain_text("100.0")
    expect(table.get_by_role("row").filter(has_text="wren")).to_contain_text("hierarchical")
    apart = ada.locator("#differences + *, #differences ~ *").filter(has_text="wren").first
    expect(apart).to_contain_text("heron")
    assert serious(ada) == []

    n_tasks = site.play("scene_sources.rate")["scene_sources.rate"]["n"]
    assert n_tasks == 6
    open_work(ruth)
    for at in range(1, n_tasks + 1):
        at_item(ruth, f"{at} / {n_tasks}")
        expect(ruth.get_by_role("main")).to_contain_text("The quay was swept and the gulls")
        is_good = "closes its gate" in ruth.locator("[data-rated]").inner_text()
        press(ruth, " ".join("5" if is_good else "1" for _aspect in range(5)))
        expect(ruth.locator(".rating.is-complete")).to_be_attached()
        saved(ruth)
        press(ruth, "Enter")
    expect(ruth.get_by_role("heading", name="All done")).to_be_visible()
    site.manage("run_judge", "owl", "--task", "ratings", "--dataset", DATASET)
    instruction = "Instruction:\nSummarize the document. Write one sentence."
    assert any(instruction in body["messages"][-1]["content"] for body in server.bodies)

    ada.goto("/leaderboard/sources/?measure=overall+(people)")
    table = ada.get_by_role("region", name="overall (people)")
    expect(table.get_by_role("row").filter(has_text="heron")).to_contain_text("5.000")
    expect(table.get_by_role("row").filter(has_text="wren")).to_contain_text("1.000")
    ada.locator(".conditions summary").click()
    ada.locator("#id_measure").select_option("overall (owl)")
    table = ada.get_by_role("region", name="overall (owl)")
    expect(table.get_by_role("row").filter(has_text="wren")).to_contain_text("2.000")
    assert serious(ada) == []

    ada.get_by_role("link", name="Position of content").click()
    ada.locator(".conditions summary").click()
    ada.get_by_label("Corpus").select_option(DATASET)
    rows = ada.get_by_role("region", name="All rows")
    expect(rows).to_contain_text("ρ Overall (people)")
    expect(rows).to_contain_text("ρ Overall (owl)")
    assert serious(ada) == []
