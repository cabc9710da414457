"""A researcher takes in files of other tools by a mapping that is remembered, and files made for one of them."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Site
from tests.e2e.test_every_page import BOTH, faults

pytestmark = pytest.mark.browser
STUDIO = (Path(__file__).parents[1] / "benchmarks" / "io" / "tools" / "label_studio_full.json").read_text()
BY_OMAR = STUDIO.replace('{"id": 1, "email": "nora', '{"id": 2, "email": "omar')
"""The same file by a second person."""


def upload(page: Page, text: str, study: str, name: str = "export.json") -> None:
    """Send a file as labels of another tool, and wait until it is checked."""
    page.goto("/corpora/import/")
    page.get_by_label("Format", exact=True).select_option("Labels of other tools")
    page.get_by_label("Name of the study").fill(study)
    file = {"name": name, "mimeType": "application/json", "buffer": text.encode()}
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def said(table: Locator) -> list[str]:
    """The rows of a table as the page shows them."""
    return [" ".join(row.split()) for row in table.locator("tbody tr").all_inner_texts()]


def confirm(page: Page, study: str) -> None:
    """Import what the page shows, and open the study."""
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("link", name=f"Open “{study}”").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(study)


def test_labels_of_another_tool_come_in_as_shown_and_the_next_file_without_a_click(
    desk: Callable[[str], Page],
) -> None:
    page = desk("ada")
    page.emulate_media(reduced_motion="reduce")
    upload(page, STUDIO, "From elsewhere")
    imported, first = (
        page.get_by_role("table", name="What would be imported"),
        page.get_by_role("table", name="The first labels"),
    )
    assert said(imported) == ["labels 6 0 0", "verdicts 4 0 0"]
    assert said(first)[:3] == ["1 1 supported yes", "1 1 importance 4", "tiny-judge judge 1 supported yes"]
    assert faults(page, BOTH) == []
    page.get_by_label("Item", exact=True).select_option("data.point (p1)")
    page.get_by_label("Label for No").fill("refuted")
    page.get_by_role("group", name="importance").get_by_label("Take these labels").uncheck()
    page.get_by_label("Remember as").fill("Points")
    page.get_by_role("button", name="Read it this way").click()
    expect(page.get_by_text("are read: as “Points”")).to_be_visible()
    assert said(imported) == ["labels 3 0 0", "verdicts 4 0 0"]
    assert said(first)[1:3] == ["tiny-judge judge p1 supported yes", "1 p2 supported refuted"]
    confirm(page, "From elsewhere")

    upload(page, BY_OMAR, "From elsewhere", "by_omar.json")
    expect(page.get_by_text("are read: as “Points”")).to_be_visible()
    assert said(imported) == ["labels 3 0 0", "verdicts 0 4 0"]
    confirm(page, "From elsewhere")
    people = page.locator(".card").filter(has_text="Agreement (%)")
    expect(people).to_contain_text("100.0")
    page.get_by_role("link", name="Judges", exact=True).click()
    expect(page.get_by_role("table", name="Judges")).to_contain_text("tiny-judge imported")

    upload(page, STUDIO.replace('"was_cancelled": true', '"was_cancelled": "yes"'), "Broken")
    error = "[3].annotations[0].was_cancelled: expected true or false, got the text “yes”."
    expect(page.get_by_text("1 error. Nothing was imported.")).to_be_visible()
    expect(page.get_by_text(error)).to_be_visible()


def test_files_made_for_nuggetizer_are_taken_in_again_with_as_many_labels(
    desk: Callable[[str], Page], site: Site
) -> None:
    page, study = desk("ada"), site.scenes["scene_stored_results.prepare"]["study"]
    page.emulate_media(reduced_motion="reduce")
    [[n_labels]] = site.rows(
        "SELECT count(*) FROM annotation_coveragelabel l JOIN annotation_study s ON s.id = l.study_id"
        " WHERE l.is_current AND s.uid = ?",
        study.replace("-", ""),
    )
    page.goto(f"/studies/{study}/")
    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("link", name="Files for other programs").click()
    page.get_by_label("For", exact=True).select_option("nuggetizer")
    assert faults(page, BOTH) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    with zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())) as zipped:
        files = [zipped.read(name).decode() for name in zipped.namelist() if name.endswith(".jsonl")]
    lines = [json.loads(line) for file in files for line in file.splitlines()]
    assert sum(len(line["nuggets"]) for line in lines) == n_labels > 0
    upload(page, "".join(files), "From nuggetizer", "nuggets.jsonl")
    assert said(page.get_by_role("table", name="What would be imported")) == [
        "labels 0 0 0",
        f"verdicts {n_labels} 0 0",
    ]
    confirm(page, "From nuggetizer")
