"""A researcher makes questions with key points: screens until cells are full, reviews, has points verified."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Site, copied
from tests.e2e.test_session_looks import serious
from tests.e2e.test_synthesis_story import WORKED_MS, run
from tests.fake_openai import serving
from tests.synthesis.scripted_questions import QuestionScript, searching
from tests.synthesis.test_questions_command import SEEDS

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Iterator[Site]:
    """A site of its own, which may ask a model and a search server."""
    with serving(behaviour=QuestionScript(weak="barges")) as server, searching() as engine:
        made = copied(bare, tmp_path_factory)
        made.env |= {"OPENAI_BASE_URLS": server.address, "SEARCH_URLS": engine.address}
        with made.served("scene_systems.prepare"):
            yield made


def test_from_seed_questions_to_a_study_that_verifies_their_key_points(ada: Page, site: Site) -> None:
    _begin(ada)
    run(ada, site, "Seeds")
    _review(ada, "seeds", _reject)
    run(ada, site, "Questions")
    _review(ada, "questions", _reject)
    expect(ada.get_by_role("region", name="Cells")).to_contain_text("1 / 2")
    ada.get_by_role("button", name="Ask for the 1 missing").click()
    working(ada, site)
    expect(ada.get_by_role("region", name="Cells")).not_to_contain_text("1 / 2")
    ada.get_by_role("button", name="Go on", exact=True).click()
    for name in ("Subquestions", "Collecting", "Extracting", "Aggregating", "Scoring"):
        run(ada, site, name)
        assert serious(ada) == []
        if name not in {"Extracting", "Aggregating"}:
            _review(ada, name.lower(), _accept)
    ada.get_by_role("button", name="Make the question set").click()
    ada.get_by_role("link", name="Have its key points verified").click()
    expect(ada.locator("#items-line")).to_contain_text("harbour")
    ada.get_by_role("textbox", name="Name").fill("Key points of the harbour")
    ada.get_by_role("button", name="Set up").first.click()
    expect(ada.get_by_role("heading", level=1)).to_contain_text("Key points of the harbour")


def working(page: Page, site: Site) -> None:
    """Wait until somebody has worked on what was started."""
    taken = site.work()
    expect(page.locator("#steps[hx-get]")).to_have_count(0, timeout=WORKED_MS)
    taken.result()
    page.reload()


def _begin(page: Page) -> None:
    page.goto("/corpora/")
    page.get_by_role("link", name="Make a haystack").click()
    page.get_by_role("link", name="Begin with seed questions").click()
    page.get_by_role("textbox", name="Name").fill("A harbour")
    lines = "".join(f"{json.dumps(seed)}\n" for seed in SEEDS)
    seeds = {"name": "seeds.jsonl", "mimeType": "application/jsonl", "buffer": lines.encode()}
    page.get_by_label("Seed questions").set_input_files(files=[seeds])
    page.get_by_role("group", name="… or searched for at").get_by_role("checkbox").check()
    page.get_by_role("textbox", name="Model", exact=True).fill("sparrow-1")
    page.get_by_role("textbox", name="Categories").fill("causal\ncomparative")
    page.get_by_role("textbox", name="Domains").fill("history")
    for label in ("Seeds of a category", "Questions of a category in a domain", "Documents of a question"):
        page.get_by_role("spinbutton", name=label, exact=True).fill("2")
    assert serious(page) == []
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A harbour")


def _review(page: Page, step: str, act: Callable[[Page], None]) -> None:
    """Look at the parts of a step, then go on where that is its turn."""
    page.locator(f"a[href$='/{step}/review/']").click()
    expect(page.get_by_role("complementary", name="Decide")).to_be_visible()
    assert serious(page) == []
    act(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1360, "height": 820})
    page.get_by_role("link", name="A harbour").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A harbour")
    if step != "questions":
        page.get_by_role("button", name="Go on").click()


def _accept(page: Page) -> None:
    _decided(page, "a")


def _reject(page: Page) -> None:
    _decided(page, "x", "1")


def _decided(page: Page, *keys: str) -> None:
    """Decide by keys, which leads on to the next part."""
    before = page.url
    for key in keys:
        page.keyboard.press(key)
    expect(page).not_to_have_url(before)
