"""Tokens are made on the profile; a program reads with one, has a summary scored with another, until revoked."""

import importlib.util
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.axe import ALL_RULES, violations
from tests.e2e.conftest import SECONDS, Site, seated
from tests.e2e.test_every_page import demo_site  # noqa: F401 - a fixture
from tests.e2e.walking import log_in

pytestmark = pytest.mark.browser
NAME = "Island ferry: what do the summaries cover?"
NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "api.ipynb"


def token(page: Page, name: str, scope: str) -> str:
    """Make a token by the form; it is shown once."""
    page.get_by_label("Name").fill(name)
    page.get_by_label("Scope").select_option(label=scope)
    page.get_by_role("button", name="Make a token").click()
    return page.locator("code.secret").inner_text()


def reader(site: Site, folder: Path):
    """The module that the site serves."""
    path = folder / "summhay_reader.py"
    path.write_bytes(urllib.request.urlopen(f"{site.url}/api/summhay_reader.py").read())  # noqa: S310
    spec = importlib.util.spec_from_file_location("summhay_reader", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    with seated(browser, site, "ada", seconds=4 * SECONDS) as made:
        yield made


def test_a_program_reads_and_scores_until_its_tokens_are_revoked(site: Site, page: Page, tmp_path: Path) -> None:
    page.goto("/profile/")
    page.get_by_role("link", name="API tokens").click()
    assert violations(page, ALL_RULES) == []
    reading, scoring = token(page, "notebook", "Read"), token(page, "evaluation", "Score summaries")
    page.goto("/profile/tokens/")
    expect(page.locator("main")).not_to_contain_text("shy_")

    module = reader(site, tmp_path)
    program = module.Site(site.url, reading, library="list")
    uid = site.scenes["scene_charts.prepare"]["study"]
    study = program.study(uid)
    labels = study.labels()
    assert len(labels) > 10
    assert len(study.file("labels.csv")) == len(labels)
    assert study.figures()["data_version"]
    assert study.chart("forest")["$schema"].endswith(".json")
    haystack = next(row for row in program.haystacks() if program.rows(f"haystacks/{row['id']}/summaries"))
    summary = program.rows(f"haystacks/{haystack['id']}/summaries")[0]
    about = {"haystack": haystack["key"], "subtopic": summary["subtopic"]}
    with pytest.raises(module.ReadError, match=r"403.*score"):
        program.score(summary["text"], **about)
    sender = module.Site(site.url, scoring)
    assert sender.json("scores", {"summary": summary["text"], **about})["state"] == "waiting"
    site.work().result()
    scored = sender.score(summary["text"], **about, wait_s=SECONDS)
    assert 0 <= scored["scores"]["coverage"] <= 1

    page.goto("/profile/tokens/")
    expect(page.locator("main")).not_to_contain_text("never")
    for row in ("notebook", "evaluation"):
        page.locator("tr", has_text=row).get_by_role("button", name="Revoke").click()
        expect(page.locator("tr", has_text=row)).to_contain_text("revoked")
    with pytest.raises(module.ReadError, match="401"):
        study.labels()
    with pytest.raises(module.ReadError, match="401"):
        sender.score(summary["text"], **about)


def test_every_cell_of_the_notebook_runs_on_the_demo_until_the_token_is_revoked(
    demo_site: Site,  # noqa: F811
    browser: Browser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context = browser.new_context(base_url=demo_site.url, locale="en-GB")
    context.set_default_timeout(4 * SECONDS * 1000)
    page = context.new_page()
    log_in(page, "ada")
    page.goto("/profile/tokens/")
    plain = token(page, "notebook", "Read")
    for name, value in (("SITE", demo_site.url), ("TOKEN", plain), ("STUDY", NAME)):
        monkeypatch.setenv(f"SUMMHAY_{name}", value)
    space: dict[str, Any] = {}
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)  # noqa: S102  it is our own
    n_people = space["labels"]["annotator"].nunique()
    assert len(space["kappas"]) == n_people * (n_people - 1) / 2 >= 3
    assert {"labels", "annotators", "figures"} <= set(space["tables"])
    assert isinstance(space["chart"], altair.LayerChart | altair.Chart | altair.HConcatChart | altair.VConcatChart)
    assert space["figures"]["data_version"]
    page.goto("/profile/tokens/")
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator("tr", has_text="notebook")).to_contain_text("revoked")
    with pytest.raises(Exception, match="401"):
        space["study"].labels()
    context.close()
