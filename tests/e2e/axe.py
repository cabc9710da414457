"""axe-core on the page as it is."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

ALL_RULES: dict[str, Any] = {"resultTypes": ["violations"]}
CONTRAST: dict[str, Any] = ALL_RULES | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""What another theme of the same page can change: its colours."""


def violations(page: Page, options: dict[str, Any]) -> list[dict[str, Any]]:
    """What axe-core finds wrong; its script is loaded into each document once.

    After a click that leads to another page, wait for something of that page first: axe runs on what is there.
    """
    page.wait_for_load_state()
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(
        "options => axe.run(options).then(({ violations }) => violations)", options
    )
    return found
