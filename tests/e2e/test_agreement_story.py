"""Two people link the same summaries by keyboard; a researcher sees agreement change, decides, and keeps all."""

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Site, at_item, press, seated
from tests.e2e.test_session_looks import serious

pytestmark = pytest.mark.browser
NOTE = "The third bullet is about the price; the second says it, less the hour."


@pytest.fixture(scope="module")
def study(site: Site) -> str:
    return str(site.scenes["scene_agreement.prepare"]["study"])


@pytest.fixture
def sit(browser: Browser, site: Site) -> Iterator[Callable[[str], Page]]:
    """Sit somebody down at a browser of their own."""
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(seated(browser, site, name))


def link(page: Page, number: int, keys: str) -> None:
    """Answer the three insights of a summary by keys alone, and wait until all is stored."""
    at_item(page, f"{number} / 2")
    press(page, keys)
    expect(page.locator("[data-answered]")).to_have_text("3 / 3")
    page.locator('[data-save-state][data-kind="saved"]').wait_for()


def agreement(page: Page, study: str, query: str = "") -> str:
    """Open the figures and give the share of agreeing pairs as it stands there."""
    page.goto(f"/studies/{study}/figures/{query}")
    card = page.locator(".card").filter(has_text="Agreement (%)")
    return card.locator(".figure-value > span").first.inner_text()


def rows_of(page: Page, link: str, file: Path) -> list[dict[str, str]]:
    with page.expect_download() as download:
        page.get_by_role("link", name=link, exact=True).click()
    download.value.save_as(file)
    return list(csv.DictReader(file.read_text().splitlines()))


def test_from_two_peoples_links_to_judges_beside_what_was_decided(
    sit: Callable[[str], Page], study: str, tmp_path: Path
) -> None:
    olga, otto, ada = sit("olga"), sit("otto"), sit("ada")
    for page in (olga, otto):
        page.goto("/work/")
        page.get_by_role("link", name="Start", exact=True).focus()
        press(page, "Enter")
    link(olga, 1, "3 a Enter 1 Enter 1")
    press(olga, "Enter")
    link(olga, 2, "3 a Enter 1 Enter 1")
    link(otto, 1, "3 a Enter 1 Enter 1")
    assert agreement(ada, study) == "100.0"
    press(otto, "Enter")
    link(otto, 2, "3 a Enter 2 b Enter 1")
    assert agreement(ada, study) == "83.3"
    assert serious(ada) == []
    assert serious(otto) == []

    ada.get_by_role("link", name="Disagreements", exact=True).click()
    main = ada.get_by_role("main")
    expect(main).to_contain_text("0 of 1 decided")
    assert serious(ada) == []
    expect(main).to_contain_text("Olga")
    ada.get_by_label("Hide names, systems and judges until decided").check()
    ada.get_by_role("button", name="Show", exact=True).click()
    expect(main).not_to_contain_text("Olga")
    press(ada, "j Enter")
    expect(main).to_contain_text("Which bullet covers it?")
    for hidden in ("Olga", "Otto", "strict", "system-", "the whole summary"):
        expect(main).not_to_contain_text(hidden)
    assert ada.locator(".label-cards strong").all_inner_texts() == ["A", "B"]
    assert serious(ada) == []
    press(ada, "s")
    ada.keyboard.type(NOTE)
    press(ada, "Escape 2 b Enter")
    expect(main).to_contain_text("1 of 1 decided")
    expect(ada.locator("body")).to_contain_text(re.compile("Decided. A = (Olga, B = Otto|Otto, B = Olga)"))
    ada.get_by_role("link", name="Show decisions").click()
    expect(main).to_contain_text("Olga")
    press(ada, "j Enter")
    for shown in ("Olga", "Otto", "blind", re.compile("Verdicts of [23] judges")):  # a third by another story
        expect(main).to_contain_text(shown)

    assert agreement(ada, study, "?reference=adjudicated") == "83.3", "a decision is nobody's label"
    ada.get_by_role("link", name="Judges", exact=True).click()
    table = ada.locator("#judges table")
    expect(table.locator("thead")).to_contain_text("Exact %")
    heads = table.locator("thead th").all_inner_texts()
    exact, n = heads.index("Exact %"), heads.index("n")
    for judge, share in (("strict", "0.0"), ("kind", "100.0")):
        cells = table.locator("tbody tr").filter(has=ada.get_by_role("link", name=judge)).locator("th, td")
        expect(cells.nth(exact)).to_contain_text(share)
        expect(cells.nth(n)).to_have_text("1")

    ada.goto(f"/studies/{study}/")
    labels = rows_of(ada, "Labels, CSV", tmp_path / "labels.csv")
    assert len(labels) == 12
    assert {row["annotator"] for row in labels} == {"annotator1", "annotator2"}
    ada.goto(f"/studies/{study}/disagreements/")
    [gold] = rows_of(ada, "Decisions, CSV", tmp_path / "gold.csv")
    assert (gold["annotator"], gold["label"], gold["lines"], gold["note"]) == ("adjudicated", "partial", "4", NOTE)
    assert gold["was_blind"] == "True"
    said = {row["label"] for row in labels if row["item"] == gold["item"]}
    assert said == {"none", "partial"}


def test_key_points_are_decided_by_the_same_keys_also_on_a_small_screen(
    sit: Callable[[str], Page], site: Site
) -> None:
    ada = sit("ada")
    ada.set_viewport_size({"width": 390, "height": 800})
    ada.goto(f"/studies/{site.scenes['scene_agreement.prepare']['points']}/points/disagreements/")
    main = ada.get_by_role("main")
    expect(main).to_contain_text("0 of 2 decided")
    bar, button = (
        box.bounding_box()
        for box in (main.get_by_role("progressbar"), main.get_by_role("link", name="Decide the next"))
    )
    assert max(button["x"] - bar["x"] - bar["width"], button["y"] - bar["y"] - bar["height"]) >= 12, (
        "they are apart"
    )
    assert serious(ada) == []
    press(ada, "j Enter")
    expect(main).to_contain_text("Is it found in the text")
    first = ada.url
    press(ada, "?")
    expect(main).to_contain_text("Look before you judge.")
    assert serious(ada) == []
    press(ada, "ArrowRight")
    ada.wait_for_url(lambda address: address != first)
    press(ada, "s")
    ada.keyboard.type(NOTE)
    press(ada, "Escape 4 2 Enter")
    ada.wait_for_url(first)
    press(ada, "Enter")
    assert ada.url == first, "nothing was chosen"
    ada.set_viewport_size({"width": 390, "height": 480})
    main.get_by_role("radio").first.evaluate("radio => { radio.form.noValidate = true; }")
    press(ada, "Enter")
    expect(main.get_by_role("alert")).to_contain_text("Choose an answer.")
    expect(main.get_by_role("alert")).to_be_in_viewport()
    press(ada, "4 Enter")
    expect(main).to_contain_text("2 of 2 decided")
    ada.get_by_role("link", name="Show decisions").click()
    for shown in ("key: neutral", "found: no"):
        expect(main.locator("tbody td:last-child", has_text=shown)).to_have_count(1)


def test_a_jury_is_made_of_judges_and_its_verdicts_stand_beside_theirs(
    sit: Callable[[str], Page], site: Site, study: str
) -> None:
    ada = sit("ada")
    ada.goto("/judges/")
    assert ada.locator("main .spread :is(button, .button):visible").count() == 3
    ada.locator("main .menu > summary").click()
    ada.get_by_role("link", name="New jury").click()
    ada.get_by_role("heading", name="New jury").wait_for()
    assert serious(ada) == []
    ada.get_by_label("Name", exact=True).fill("bench")
    ada.get_by_label("strict").check()
    ada.get_by_role("button", name="Save and judge").click()
    expect(ada.get_by_role("alert")).to_contain_text("2 to 20 members, not 1")
    ada.get_by_label("kind").check()
    ada.get_by_role("button", name="Save and judge").click()
    expect(ada.get_by_role("heading", level=1)).to_contain_text("Run of")
    site.manage("run_judge", "bench")
    expect(ada.locator("#status")).to_contain_text("2 of 2 summaries judged")

    ada.get_by_role("link", name="bench").first.click()
    main = ada.get_by_role("main")
    expect(main).to_contain_text("partial from a mean of 0.25, full from 0.75")
    expect(main.get_by_role("link", name="strict")).to_be_visible()
    assert serious(ada) == []
    ada.get_by_role("button", name="Update from its members' new verdicts").click()
    expect(ada.get_by_text("Nothing is missing")).to_be_visible()

    ada.goto("/corpora/")
    ada.get_by_role("link", name="Ferries decided").click()
    ada.get_by_role("link", name="Subtopic 1").first.click()
    ada.get_by_role("link", name="system-a").first.click()
    expect(ada.locator("table.verdicts thead")).to_contain_text("bench")
    cells = ada.locator("table.verdicts tbody tr").nth(1).locator("td")
    heads = ada.locator("table.verdicts thead th").all_inner_texts()
    cell = cells.nth(heads.index("bench"))
    expect(cell).to_contain_text("partial")
    expect(cell).to_contain_text("expected 0.25")
    expect(cell.get_by_role("link", name="line 4")).to_be_visible()
    assert serious(ada) == []
