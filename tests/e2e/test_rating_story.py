"""Somebody rates summaries by keyboard, beside their documents; every rating is stored, and one is undone."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Site, at_item, press, saved
from tests.e2e.test_session_looks import serious
from tests.e2e.test_verification_story import open_work

pytestmark = pytest.mark.browser
QUERY = """
    SELECT l.ratings, l.is_complete
    FROM annotation_ratinglabel l JOIN annotation_labeltask t ON t.id = l.task_id
    JOIN annotation_study s ON s.id = t.study_id WHERE t.position = ? AND s.uid = ? AND l.is_current
"""


def rated(site: Site, at: int, study: str) -> list[int | None]:
    """The ratings of an item by aspect, and whether that is all."""
    [(ratings, is_complete)] = site.rows(QUERY, at, study)
    return [*json.loads(ratings).values(), is_complete]


def test_summaries_are_rated_by_digits_and_cited_documents_are_a_key_away(
    desk: Callable[[str], Page], site: Site
) -> None:
    study = site.scenes["scene_rating.prepare"]["study"].replace("-", "")
    ruth = desk("ruth")
    open_work(ruth)
    at_item(ruth, "1 / 2")
    assert "secret-" not in ruth.content()
    ruth.locator("[data-rated]").evaluate("each => { each.style.height = '80%'; }")
    assert ruth.evaluate("document.documentElement.scrollHeight - innerHeight") == 0  # panes scroll
    current = ruth.locator(".aspect.is-current")
    expect(current).to_have_attribute("data-aspect", "overall")
    press(ruth, "Enter")
    expect(ruth.locator("[data-announce]")).to_contain_text("needs a rating")
    press(ruth, "4 3 9 5")
    expect(current).to_have_attribute("data-aspect", "coherence")
    saved(ruth)
    assert rated(site, 1, study) == [4, 3, 5, None, None, 0]
    press(ruth, "u")
    expect(ruth.locator("[data-announce]")).to_contain_text("Undone: quality 5 on item 1.")
    press(ruth, "k j F6")
    expect(current.get_by_role("radio").first).to_be_focused()
    press(ruth, "ArrowDown F6")
    expect(current).to_have_attribute("data-aspect", "attributability")
    expect(ruth.locator("[data-rated]")).to_be_focused()
    press(ruth, "ArrowUp F6")
    expect(ruth.locator("[data-reading]")).to_be_focused()
    press(ruth, "ArrowUp F6 ArrowUp")  # arrows scroll what is read
    expect(current).to_have_attribute("data-aspect", "coherence")
    ruth.locator("[data-cited='3']").first.click()
    expect(ruth.locator("[data-jump='3']")).to_have_attribute("aria-current", "true")
    assert serious(ruth) == []
    ruth.reload()
    at_item(ruth, "1 / 2")
    expect(current).to_have_attribute("data-aspect", "quality")
    press(ruth, "2 2 1")
    expect(ruth.locator(".rating.is-complete")).to_be_attached()
    saved(ruth)
    press(ruth, "Enter")
    at_item(ruth, "2 / 2")
    for name in ("overall", "informativeness"):  # a press of a hand, at what comes next where it stands
        pointed = ruth.locator(f"[data-aspect='{name}'] .level").last
        box = pointed.bounding_box() or {}
        ruth.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        ruth.mouse.down()
        ruth.wait_for_timeout(90)
        ruth.mouse.up()
        expect(pointed.locator("input")).to_be_checked()
    press(ruth, "j")
    ruth.locator("[data-cited]").first.click()
    press(ruth, "5 5 5")
    expect(ruth.locator(".rating.is-complete")).to_be_attached()
    saved(ruth)
    press(ruth, "Enter")
    expect(ruth.get_by_role("heading", name="All done")).to_be_visible()
    assert [rated(site, at, study) for at in (1, 2)] == [[4, 3, 2, 2, 1, 1], [5, 5, 5, 5, 5, 1]]
