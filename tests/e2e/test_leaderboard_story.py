"""From the published file of a haystack to a leaderboard in LaTeX with a row of people, by a researcher."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Site
from tests.e2e.test_session_looks import serious

pytestmark = pytest.mark.browser


def latex_of(page: Page, folder: Path) -> dict[tuple[str, str], list[str]]:
    """The rows of the downloaded table, by system and retriever; its further columns come in a second part."""
    page.locator("#files > summary").click()
    with page.expect_download() as download:
        page.locator("#files").get_by_role("link", name="LaTeX", exact=True).click()
    file = folder / "leaderboard.tex"
    download.value.save_as(file)
    first = file.read_text().partition(r"\end{longtable}")[0]
    lines = [line.removesuffix(r" \\").split(" & ") for line in first.splitlines() if " & " in line]
    return {(row[0], row[1]): row[2:] for row in lines}


def test_from_the_published_file_to_a_leaderboard_in_latex_with_people(
    ada: Page, site: Site, published: Path, tmp_path: Path
) -> None:
    ada.goto("/corpora/import/")
    ada.get_by_label("Format", exact=True).select_option("summhay")
    ada.get_by_label("File", exact=True).set_input_files(published / "topic_news1.json")
    ada.get_by_role("button", name="Upload and check").click()
    ada.get_by_role("button", name="Import").click()
    expect(ada.get_by_role("main")).to_contain_text("What was imported", timeout=90_000)

    ada.goto("/leaderboard/?judge=")
    title = json.loads((published / "topic_news1.json").read_bytes())["topic"]
    ada.locator(".conditions > summary").click()
    ada.locator("#look [name=haystack]").select_option(label=title)
    expect(ada.locator(".conditions summary")).to_contain_text(title)
    ada.locator("#look [name=judge]").select_option(label="published")
    expect(ada.locator("#board")).to_contain_text("by judge published")
    assert serious(ada) == []
    rows = latex_of(ada, tmp_path)
    expected = json.loads((published / "expected_figures.json").read_text())
    scores = expected["topic_news1_leaderboard_pooled_over_insights"]
    checked = 0
    for column, figure in enumerate(("coverage_score", "citation_score", "joint_score")):
        for system, of_system in scores[figure].items():
            for retriever, value in of_system.items():
                if value is not None:
                    assert rows[system, retriever][column].startswith(f"{100 * value:.1f} ")
                    checked += 1
    assert checked == 3 * (len(rows) - 1)  # the head
    assert ("people", "oracle") not in rows

    site.play("scene_leaderboard.prepare")
    ada.goto("/judges/")
    ada.get_by_role("button", name="Run the offline judge").click()
    ada.get_by_role("button", name="See what a run would judge").click()
    ada.get_by_role("button", name="Start the run").click()
    expect(ada.get_by_role("heading", level=1)).to_contain_text("Run of")
    site.manage("run_judge", "lexical-2", "--all")
    expect(ada.locator("#status")).to_contain_text(re.compile(r"(\d+) of \1 summaries judged"))

    ada.goto("/leaderboard/")
    ada.locator(".conditions > summary").click()
    ada.locator("#look [name=judge]").select_option(label="lexical-2")
    board = ada.locator("#board")
    expect(board).to_contain_text("People: 12 sessions (writers: 2, subtopics: 6).")
    assert serious(ada) == []
    people = latex_of(ada, tmp_path)["people", "oracle"]
    score, low, high = map(float, re.findall(r"[\d.]+", people[0]))
    assert 0 < low <= score <= high <= 100
    people_row = board.locator("tr.is-human").last
    expect(people_row).to_contain_text(f"{score:.1f}")

    # The dot of a system says its figures under the mouse, and leads to its rows.
    ada.locator("#look [name=haystack]").select_option(label=title)
    expect(ada.locator(".conditions summary")).to_contain_text(title)
    ada.locator("#board-chart").scroll_into_view_if_needed()
    chart = ada.locator("#board-chart[data-state=interactive]")
    dot = chart.locator("path[aria-label*='gpt-4o']").first
    dot.hover()
    expect(ada.locator("#vg-tooltip-element")).to_contain_text("95 % interval")
    dot.click()
    expect(ada.get_by_role("heading", level=1)).to_contain_text("gpt-4o · ")
    expect(ada.get_by_role("table").first).to_contain_text("Joint")
    ada.get_by_text("Insight by insight", exact=True).first.click()
    expect(ada.locator("#insights tbody tr").first).to_be_visible()
    assert serious(ada) == []
