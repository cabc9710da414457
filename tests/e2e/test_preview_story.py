"""A researcher looks at the page of annotators in each kind of study, works on it, and nothing of it is kept.

But for this: whoever previews linking has seen the insights of a haystack, and cannot write on it then.
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Site, at_item, press, ready, saved, write

pytestmark = pytest.mark.browser
KEPT = ("session", "sessionevent", "draftrevision", "labeltask", "coveragelabel", "pointlabel", "entailmentlabel")
LABELS = {"links": "1", "points": "n", "pairs": "y"}


SEEN = """
    SELECT user.username, exposure.haystack_id, exposure.reason FROM annotation_exposure exposure
    JOIN summhay_site_user user ON user.id = exposure.user_id
"""


def rows_of(site: Site) -> list[int]:
    """How many rows there are of what annotators do."""
    return [site.rows(f"SELECT COUNT(*) FROM annotation_{name}")[0][0] for name in KEPT]  # noqa: S608


def test_every_kind_is_previewed_with_its_own_items_and_keeps_nothing(
    desk: Callable[[str], Page], site: Site
) -> None:
    studies = {**site.scene["studies"], "pairs": site.scenes["scene_preview.prepare"]["study"]}
    before, seen_before = rows_of(site), set(site.rows(SEEN))
    ada = desk("ada")

    def look(name: str) -> None:
        ada.goto(f"/studies/{studies[name]}/")
        ada.get_by_role("link", name="Preview as annotator").click()
        expect(ada.get_by_role("note")).to_contain_text("Nothing you enter is kept")

    for name, key in LABELS.items():
        look(name)
        ada.locator("[data-label-task].has-scripts").wait_for()
        press(ada, key)
        saved(ada)
        ada.get_by_role("link", name="Next item").click()
        ada.wait_for_url(f"**/studies/{studies[name]}/preview/2/")
        expect(ada.locator("[data-all] summary strong")).to_contain_text("2 / ")
        expect(ada.get_by_role("note")).to_contain_text("Item 2 of")
        assert ada.locator("input[type=radio]:checked").count() == 0

    look("points")
    at_item(ada, "1 / 6")
    press(ada, "n")
    saved(ada)
    press(ada, "Enter")
    at_item(ada, "2 / 6")
    ada.get_by_role("link", name="Back to the study").click()
    ada.wait_for_url(f"**/studies/{studies['points']}/")

    look("looks")
    ready(ada)
    write(ada, "- Ferries leave at six. [5]")
    saved(ada)
    ada.get_by_role("link", name="Back to the study").click()
    ada.wait_for_url(f"**/studies/{studies['looks']}/")
    look("looks")
    ready(ada)
    expect(ada.locator("#editor")).to_have_value("")
    ada.locator("[data-submit]").click()
    ada.locator("[data-submit-yes]").click()
    ada.wait_for_url(f"**/studies/{studies['looks']}/")
    left: list[str] = ada.evaluate(
        "Object.keys(localStorage).filter((key) => /session:|notes:|preview/.test(key))"
    )
    assert left == []
    assert rows_of(site) == before
    seen = set(site.rows(SEEN))
    assert {(name, reason) for name, _, reason in seen - seen_before} <= {("ada", "page")}
    assert ("ada", "page") in {(name, reason) for name, _, reason in seen}
