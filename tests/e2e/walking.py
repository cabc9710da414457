"""A walk over all kinds of pages of the demo: what a role can reach by links from its home page."""

import re
from collections.abc import Iterator
from functools import cache
from urllib.parse import urljoin, urlsplit

from django.urls import Resolver404, resolve
from playwright.sync_api import Page

from summhay_site.demo.player import PASSWORD

ID = re.compile(r"[0-9a-f-]{36}|[0-9]+")
CAST = {"nobody": [""], "annotator": ["cleo", "jon", "ben"], "researcher": ["ada"], "admin": ["eve"]}
"""Who walks for each role; annotators in turn, since they have different tasks."""

PER_STUDY = {"study", "study-settings", "study-annotators", "study-figures", "results"}
"""Pages that look different for each kind of study."""

ALSO = {
    "nobody": ["/login/", "/password/forgotten/", "/no-such-page/"],
    "annotator": ["/password/", "/people/"],
    "researcher": ["/corpora/search/?q=ferry", "/corpora/import/", "/password/"],
    "admin": ["/people/new/", "/people/import/"],
}
"""Addresses that no link leads to as they are."""


@cache
def kind_of(path: str) -> str:
    """What kind of page an address has: its words without ids. Empty for files and Django's admin."""
    if "." in path.rsplit("/", 1)[-1] or path.startswith("/admin/") or path.endswith("/download/"):
        return ""
    try:
        match = resolve(path)
    except Resolver404:
        return "not found"
    if match.url_name == "format-example":
        return ""
    words = [word for word in path.split("/") if word and not ID.fullmatch(word)]
    own = [str(match.kwargs["uid"])] if match.url_name in PER_STUDY else []
    return " ".join([*words, match.url_name or "", *own]) if words else "home"


def log_in(page: Page, username: str, password: str = PASSWORD) -> None:
    """Log in by the form."""
    page.goto("/login/")
    page.locator("[name=username]").fill(username)
    page.locator("[name=password]").fill(password)
    page.locator("main form button").first.click()
    page.wait_for_url(lambda url: "/login/" not in url)


def walk(page: Page, role: str, *, seen: set[str]) -> Iterator[str]:
    """Yield a name for each kind of page that the page is at now; breadth first, each kind in `seen` only once."""
    queue = ["/", *ALSO[role]]
    asked = set(queue)
    while queue:
        path = queue.pop(0)
        page.goto(path)
        kind = kind_of(urlsplit(page.url).path)
        if kind and kind not in seen:
            seen.add(kind)
            yield kind
        for href in page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))"):
            parts = urlsplit(urljoin(page.url, href))
            onward = parts.path + (f"?{parts.query}" if parts.query else "")
            kind = kind_of(parts.path) if parts.netloc == urlsplit(page.url).netloc else ""
            known = {"", "not found", *seen, *(kind_of(urlsplit(other).path) for other in queue)}
            if kind not in known and onward not in asked:
                asked.add(onward)
                queue.append(onward)


def begin_session(page: Page) -> None:
    """Start the clock of the first writing task, and stay on its page."""
    page.goto("/work/")
    start = page.locator("a[href*='/work/tasks/'][href$='/start/']").last
    page.goto(str(start.get_attribute("href")))
    page.locator("main form input[type=checkbox]").first.check()
    page.locator("main form button.primary").first.click()
    page.locator("#editor:not([readonly])").wait_for()
