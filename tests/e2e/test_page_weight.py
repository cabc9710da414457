"""What the page of a session with 100 documents weighs, and that its files are kept, on a server of production."""

import gzip
import re
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import Page

from bench.client import OK, Client
from tests.e2e.conftest import Site, begin

pytestmark = pytest.mark.browser

LINK = re.compile(r'<(?:link|script|img)[^>]*?(?:href|src)="([^"]+)"')
INNER = re.compile(r'(?:from|import)\s*"(\.[^"]+)"|url\("?([^)"]+)"?\)')
TEXTS = re.compile(r'(<div class="reading"[^>]*>).*?(?=</div>)', re.DOTALL)


def test_the_page_of_a_session_is_light_and_its_files_are_kept_for_a_year(
    site: Site, desk: Callable[[str], Page]
) -> None:
    page = desk("weighed")
    begin(page)
    cookies = "; ".join(f"{row['name']}={row['value']}" for row in page.context.cookies())
    headers = {"Cookie": cookies, "Accept-Encoding": "gzip", "Host": urlsplit(site.url).netloc}
    browser = Client(HTTPConnection("127.0.0.1", site.port), {"headers": headers})
    sizes, passing = _weigh(browser, urlsplit(page.url).path)
    fonts = {path: sizes.pop(path) for path in list(sizes) if path.endswith(".woff2")}
    assert 0 < sum(fonts.values()) <= 165 * 1024  # once for all pages; the italic comes only where there is some
    assert sum(sizes.values()) <= 150 * 1024
    assert 5 < len(sizes) <= 27  # each is asked for once a year, and all at once: they are preloaded
    assert passing == []


def _weigh(browser: Client, page: str) -> tuple[dict[str, int], list[str]]:
    """Compressed bytes of a page without its documents and of all that it loads; what is not kept by its hash."""
    html = _text(browser.ask(page))
    assert len(TEXTS.findall(html)) == 100
    sizes, passing = {page: len(gzip.compress(TEXTS.sub(r"\1", html).encode(), 6))}, []
    waiting = [urljoin(page, link) for link in LINK.findall(html)]
    while waiting:
        path = waiting.pop()
        if path in sizes or path.startswith("data:"):
            continue
        answer = browser.ask(path)
        assert answer[0] == OK
        sizes[path] = len(answer[2])
        if "immutable" not in (answer[1]["Cache-Control"] or ""):
            passing.append(path)
        if path.endswith((".js", ".css")):
            waiting += [urljoin(path, one or other) for one, other in INNER.findall(_text(answer))]
    return sizes, passing


def _text(answer: tuple[int, Any, bytes]) -> str:
    return (gzip.decompress(answer[2]) if answer[1]["Content-Encoding"] == "gzip" else answer[2]).decode()
