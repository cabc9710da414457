"""A researcher makes haystacks: from a topic, from documents, from a seed; people link and write on them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Site, at_item, begin, copied, press, saved, seated, submit, write
from tests.e2e.test_session_looks import serious
from tests.e2e.test_verification_story import open_work
from tests.fake_openai import serving
from tests.synthesis.scripted import FACTS, FILLER, Script

pytestmark = pytest.mark.browser
WORKED_MS = 60_000
SMALL = {"Subtopics": 2, "Insights asked for in each": 4, "Documents": 8, "Words in a document, about": 60}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Iterator[Site]:
    """A site of its own, which may ask a server that leaks one insight for good."""
    with serving(behaviour=Script(leaks={2: 99})) as server:
        made = copied(bare, tmp_path_factory)
        made.env["OPENAI_BASE_URLS"] = server.address
        with made.served("scene_systems.prepare", "scene_synthesis.people"):
            yield made


def run(page: Page, site: Site, name: str) -> None:
    """Start the next step and wait until somebody has worked on it."""
    step = page.locator(".step.is-next")
    expect(step.get_by_role("heading")).to_contain_text(name)
    step.get_by_role("button", name="Start").click()
    working = site.work()
    expect(page.locator("#steps[hx-get]")).to_have_count(0, timeout=WORKED_MS)
    working.result()
    page.reload()


def test_from_a_topic_over_a_review_by_keys_into_the_corpus(ada: Page, site: Site, browser: Browser) -> None:
    ada.goto("/corpora/")
    ada.get_by_role("link", name="Make a haystack").click()
    ada.get_by_role("link", name="Begin with a topic").click()
    ada.get_by_role("textbox", name="Topic").fill("A small town")
    ada.get_by_role("textbox", name="Model", exact=True).fill("sparrow-1")
    for label, n in SMALL.items():
        ada.get_by_role("spinbutton", name=label, exact=True).fill(str(n))
    ada.get_by_text("Everything else:").click()
    ada.get_by_role("spinbutton", name="Documents of an insight, at least").fill("2")
    assert serious(ada) == []
    ada.get_by_role("button", name="Begin").click()
    for name in ("Subtopics", "Insights", "Screening", "Documents", "Queries"):
        run(ada, site, name)
        assert serious(ada) == []
        if name == "Documents":
            ada.locator("a[href$='/documents/review/']").click()
            _review(ada)
            ada.get_by_role("link", name="A small town").click()
        if name != "Insights":
            ada.get_by_role("button", name="Go on", exact=True).click()
    ada.get_by_role("button", name="Take it into the corpus").click()
    expect(ada.get_by_role("heading", level=1)).to_have_text("A small town")
    expect(ada.get_by_role("region", name="Subtopics")).to_contain_text("Harbour works")
    _linked(browser, site)


def _linked(browser: Browser, site: Site) -> None:
    """The baseline summarizes the newest haystack, and somebody links its first summary."""
    study = site.play("scene_synthesis.link")["scene_synthesis.link"]
    with seated(browser, site, "ben") as ben:
        open_work(ben)
        at_item(ben, re.compile(r"1 / \d+"))
        press(ben, " ".join(["1 Enter"] * ben.locator(".question").count()))
        saved(ben)
    counted = """
        SELECT count(*) FROM annotation_coveragelabel l JOIN annotation_study s ON s.id = l.study_id
        WHERE s.uid = ? AND l.is_current
    """
    [[n]] = site.rows(counted, study.replace("-", ""))
    assert n >= 1


def test_five_pasted_documents_become_insights_and_a_linked_summary(
    ada: Page, site: Site, browser: Browser
) -> None:
    ada.goto("/corpora/synthesis/documents/")
    ada.get_by_role("textbox", name="Topic").fill("A harbour")
    ada.get_by_role("textbox", name="Model", exact=True).fill("sparrow-1")
    texts = [FACTS[0], f"{FACTS[0]} {FACTS[1]}", FACTS[1], f"{FACTS[4]} {FACTS[5]}", FACTS[0]]
    ada.get_by_role("textbox", name="Documents").fill("\n\n---\n\n".join(f"{FILLER}\n\n{each}" for each in texts))
    assert serious(ada) == []
    ada.get_by_role("button", name="Begin").click()
    for name in ("Points", "Grouping", "Sorting", "Holding"):
        run(ada, site, name)
        if name == "Grouping":
            ada.locator("a[href$='/grouping/review/']").click()
            expect(ada.get_by_role("article")).to_contain_text("Said in")
            assert serious(ada) == []
            ada.keyboard.press("A")
            expect(ada.get_by_role("main")).to_contain_text("they count as unread")
            ada.get_by_role("link", name="A harbour").click()
        if name in {"Grouping", "Sorting"}:
            ada.get_by_role("button", name="Go on", exact=True).click()
    ada.get_by_role("button", name="Take it into the corpus").click()
    expect(ada.get_by_role("heading", level=1)).to_have_text("A harbour")
    _linked(browser, site)


def test_from_a_seed_over_parallel_forms_to_a_paired_result(ada: Page, site: Site, browser: Browser) -> None:
    ada.goto("/corpora/from-templates/")
    _made_and_imported(ada)
    ada.get_by_role("link", name="open-air baths").first.click()
    ada.get_by_role("link", name="Make a parallel form").click()
    _made_and_imported(ada)
    made = site.play("scene_synthesis.write")["scene_synthesis.write"]
    for name, tasks in made["tasks"].items():
        _write_both(browser, site, name, tasks)
    site.play("scene_synthesis.score")
    ada.goto(f"/studies/{made['study']}/results/")
    expect(ada.locator("[hx-get]", has_text="being computed")).to_have_count(0, timeout=WORKED_MS)
    main = ada.get_by_role("main")
    expect(main).to_contain_text("1 began with form A and 1 with form B")
    expect(main).to_contain_text("Form B")
    assert serious(ada) == []
    ada.set_viewport_size({"width": 390, "height": 844})
    assert ada.evaluate("document.documentElement.scrollWidth") <= 390


def _made_and_imported(page: Page) -> None:
    page.get_by_role("button", name="Make and check").click()
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("main")).to_contain_text("What was imported")


def _write_both(browser: Browser, site: Site, name: str, tasks: list[str]) -> None:
    """One session on each form, as the person meets them: the second opens when the first is done."""
    with seated(browser, site, name) as page:
        for task in tasks:
            page.goto(f"/work/tasks/{task}/start/")
            begin(page)
            write(page, f"- The baths opened after {len(name)} years [1]\n- Tickets cost more than before [2]")
            saved(page)
            page.get_by_role("button", name="Submit…").click()
            submit(page)


def _review(page: Page) -> None:
    """Reject by two keys, take it back, accept, and go on to the next one; on a phone nothing is cut off."""
    expect(page.get_by_role("complementary", name="Decide")).to_be_visible()
    assert serious(page) == []
    first = page.locator("#part-title").inner_text()
    cursor = page.locator(".pairs .is-current")
    judged = cursor.inner_text().split("\n")[0]
    page.keyboard.press("1")  # a verdict, and no rejection without x
    expect(page.locator("ol.pairs")).to_contain_text("ada: present")
    expect(page.locator("#part-title")).to_have_text(first)
    expect(cursor).not_to_contain_text(judged)
    page.keyboard.press("u")
    expect(page.locator("ol.pairs")).not_to_contain_text("ada: present")
    expect(cursor).to_contain_text(judged)
    page.keyboard.press("n")
    expect(cursor).not_to_contain_text(judged)
    page.keyboard.press("x")
    page.keyboard.press("5")
    expect(page.locator("#part-title")).not_to_have_text(first)
    page.keyboard.press("u")
    expect(page.locator("#part-title")).to_have_text(first)
    page.keyboard.press("a")
    expect(page.locator("#part-title")).not_to_have_text(first)
    second = page.locator("#part-title").inner_text()
    page.keyboard.press("j")
    expect(page.locator("#part-title")).not_to_have_text(second)
    page.keyboard.press("e")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1360, "height": 820})
