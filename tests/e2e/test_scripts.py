"""Every script of ours is read by the browser itself, also those that no other story comes across."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from bench.site import ROOT
from tests.e2e.conftest import Site

pytestmark = pytest.mark.browser

SCRIPTS = [path.relative_to(ROOT).as_posix() for path in sorted(Path(ROOT, "static", "js").rglob("*.js"))]
# On a page that it is not made for a script may stop with an error of its own; one that cannot be read, or that
# imports what is not there, may not.
LOAD = """async (addresses) => {
  const wrong = {};
  for (const address of addresses) {
    try {
      await import(address);
    } catch (error) {
      const isMissing = String(error).includes("Failed to fetch");
      if (error instanceof SyntaxError || isMissing) wrong[address] = String(error);
    }
  }
  return wrong;
}"""


def test_every_script_can_be_read_and_finds_what_it_imports(browser: Browser, site: Site) -> None:
    assert SCRIPTS
    page = browser.new_page(base_url=site.url)
    page.goto("/login/")
    wrong = page.evaluate(LOAD, [f"/{script}" for script in SCRIPTS])
    page.close()
    assert wrong == {}
