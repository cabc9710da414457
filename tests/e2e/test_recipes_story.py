"""A study as in a paper: a click on its recipe, a form that is filled in, what it takes, and there it is."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Site

pytestmark = pytest.mark.browser
RECIPES = {
    "People against the clock": "±",
    "Coverage as people see it": "±",
    "Labels to compare judges with": "No figure of agreement",
    "Verified key points": "±",
    "Is the evaluator right?": "±",
    "Ratings of summaries": "±",
}
"""What the form of each says of how narrow the headline will be: one person a summary agrees with nobody."""
PEOPLE = """
    SELECT coalesce(w.sessions_per_subtopic, l.people_per_item, k.people_per_question, v.people_per_item,
                    r.people_per_item)
    FROM annotation_study s
    LEFT JOIN annotation_writingplan w ON w.study_id = s.id
    LEFT JOIN annotation_linkingplan l ON l.study_id = s.id
    LEFT JOIN annotation_verificationplan k ON k.study_id = s.id
    LEFT JOIN annotation_validationplan v ON v.study_id = s.id
    LEFT JOIN annotation_ratingplan r ON r.study_id = s.id
    WHERE s.name = ?
"""
AS_IN_THE_PAPERS = (1, 4, 1, 1, 2, 3)


@pytest.mark.parametrize(("title", "people"), zip(RECIPES, AS_IN_THE_PAPERS, strict=True))
def test_a_recipe_is_a_click_away_from_a_study(
    title: str, people: int, desk: Callable[[str], Page], site: Site
) -> None:
    ada = desk("ada")
    ada.goto("/studies/recipes/")
    ada.get_by_role("link", name=f"Fill in the form: {title}").click()
    expect(ada.get_by_label("Name", exact=True)).to_have_value(title)
    said = "which had no such study" if title == "Ratings of summaries" else "Filled in as in"
    expect(ada.get_by_text(said)).to_be_visible()
    expect(ada.get_by_text("of active time in all").first).to_be_visible()
    expect(ada.get_by_text(RECIPES[title]).first).to_be_visible()
    ada.get_by_role("button", name="Set up the study").click()
    expect(ada.get_by_text("The study is set up")).to_be_visible()
    assert site.rows(PEOPLE, title) == [(people,)]
