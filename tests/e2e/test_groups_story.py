"""An admin makes a research group, adds a researcher and gives it a study, which nobody else finds then."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Site, copied, seated

pytestmark = pytest.mark.browser
STUDY = "Study of terns"


@pytest.fixture
def institute(tmp_path_factory: pytest.TempPathFactory, bare: Path) -> Iterator[Site]:
    with copied(bare, tmp_path_factory).served("scene_groups.prepare") as made:
        yield made


@pytest.fixture
def people(institute: Site, browser: Browser) -> Iterator[list[Page]]:
    with ExitStack() as stack:
        yield [stack.enter_context(seated(browser, institute, name)) for name in ("eve", "rita", "robin")]


def test_a_study_that_goes_to_a_group_is_found_by_its_members_only(institute: Site, people: list[Page]) -> None:
    address = f"/studies/{institute.scenes['scene_groups.prepare']['study']}/"
    eve, rita, robin = people
    for page in (rita, robin):
        page.goto("/studies/")
        expect(page.get_by_role("link", name=STUDY)).to_be_visible()

    eve.goto("/people/groups/")
    eve.get_by_label("Name").fill("Terns")
    eve.get_by_role("button", name="Make the group").click()
    expect(eve.get_by_role("heading", name="Terns")).to_be_visible()
    eve.get_by_role("group", name="Researchers").get_by_label("rita").check()
    eve.get_by_role("button", name="Save").click()
    expect(eve.get_by_text("Saved.")).to_be_visible()
    expect(eve.get_by_label("rita")).to_be_checked()
    expect(eve.get_by_label("robin")).not_to_be_checked()

    eve.goto(f"{address}settings/")
    eve.get_by_role("link", name="Give this study to another research group").click()
    expect(eve.get_by_text(f"“{STUDY}” is shared with the whole site.")).to_be_visible()
    eve.get_by_label("Research group").select_option("Terns")
    eve.get_by_role("button", name="Move").click()
    expect(eve.get_by_text(f"“{STUDY}” now belongs to Terns.")).to_be_visible()
    expect(eve.get_by_role("link", name="group Terns")).to_be_visible()

    robin.goto("/studies/")
    expect(robin.get_by_role("heading", name="Studies", exact=True)).to_be_visible()
    expect(robin.get_by_role("link", name=STUDY)).to_have_count(0)
    refused = robin.goto(address)
    assert refused.status == 404
    rita.goto("/studies/")
    rita.get_by_role("link", name=STUDY).click()
    expect(rita.get_by_role("heading", name=STUDY)).to_be_visible()
    expect(rita.get_by_role("link", name="group Terns")).to_be_visible()
