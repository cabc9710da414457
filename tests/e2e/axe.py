"""axe-core on the page as it is."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

ALL_RULES: dict[str, Any] = {"resultTypes": ["violations"]}
CONTRAST: dict[str, Any] = ALL_RULES | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""What another theme of the same page can change: its colours."""
SECONDS = 120
WITHIN = """([options, ms]) => Promise.race([
  axe.run(options).then(({ violations }) => violations),
  new Promise((resolve) => setTimeout(() => resolve(null), ms)),
])"""


def violations(page: Page, options: dict[str, Any]) -> list[dict[str, Any]]:
    """What axe-core finds wrong; its script is loaded into each document once.

    After a click that leads to another page, wait for something of that page first: axe runs on what is there.

    Raises:
        AssertionError: axe did not end in time, which `evaluate` would wait for without an end.
    """
    page.wait_for_load_state()
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] | None = page.evaluate(WITHIN, [options, SECONDS * 1000])
    assert found is not None, f"axe did not end within {SECONDS} s on {page.url}"
    return found
