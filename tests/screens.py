"""Screenshots of every kind of page: four roles, light and dark, two widths, with an index to look at them.

Run as `python -m tests.screens [FOLDER]`; the demo is loaded into a temporary folder and served from there.
"""

import html
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import django
from playwright.sync_api import Page, sync_playwright

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")
django.setup()

from tests.e2e.conftest import Site  # noqa: E402
from tests.e2e.walking import CAST, begin_session, log_in, walk  # noqa: E402

WIDTHS = (1366, 390)
THEMES = ("light", "dark")


def shoot(page: Page, folder: Path, name: str) -> list[Path]:
    """One picture of the page as it is for each theme and width."""
    made = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme in THEMES:
            page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
            path = folder / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}-{theme}-{width}.png"
            page.screenshot(path=path, full_page=True)
            made.append(path)
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})  # charts are laid out when a page loads
    return made


def pictures(page: Page, folder: Path, role: str, username: str, seen: set[str]) -> list[str]:
    """Walk as one person; return a row of the index for each page."""
    folder.mkdir(parents=True, exist_ok=True)
    if username:
        log_in(page, username)
    rows = [_row(role, name, page.url, shoot(page, folder, name)) for name in walk(page, role, seen=seen)]
    if username == "cleo":
        begin_session(page)
        rows.append(_row(role, "session", page.url, shoot(page, folder, "session running")))
    return rows


def _row(role: str, name: str, url: str, paths: list[Path]) -> str:
    images = "".join(
        f'<a href="{role}/{path.name}"><img loading="lazy" src="{role}/{path.name}" title="{path.stem}"></a>'
        for path in paths
    )
    return f"<h2>{html.escape(role)}: {html.escape(name)}</h2><p>{html.escape(url)}</p><div>{images}</div>"


STYLE = (
    "body { font: 14px sans-serif } div { display: flex; gap: 8px }"
    "img { height: 420px; max-width: 420px; object-fit: cover; object-position: top; border: 1px solid #888 }"
)


def main(folder: Path) -> None:
    """Make all pictures anew in `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        site = Site(Path(data))
        site.manage("migrate", "--no-input", "--verbosity", "0")
        site.manage("collectstatic", "--no-input", "--verbosity", "0")
        site.manage("load_demo", "--no-logins")
        site.start()
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            for role, usernames in CAST.items():
                seen: set[str] = set()
                for username in usernames:
                    context = browser.new_context(base_url=site.url, locale="en-GB", reduced_motion="reduce")
                    rows += pictures(context.new_page(), folder / role, role, username, seen)
                    context.close()
                print(f"{role}: {len(seen)} pages", flush=True)
        finally:
            browser.close()
            site.end()
    (folder / "index.html").write_text(
        f"<!doctype html><title>Screens</title><style>{STYLE}</style>{''.join(rows)}"
    )
    print(f"Look at {folder / 'index.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "var/screens"))
