"""Every kind of page that each role reaches by links, on the demo beside the haystack; time and queries."""

from __future__ import annotations

import re
import resource
import time
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import Resolver404, resolve

from bench.client import FOUND, OK
from bench.driver import Case, Figure, Row, percentile
from bench.site import Site

ROLES = ("", "ben", "ada", "eve")
"""Nobody, an annotator, a researcher and an admin of the demo."""
MOST_MS, MOST_QUERIES, EACH = 300, 25, 3
HOST = {"host": "127.0.0.1"}
_LINK = re.compile(r'<a\b[^>]*? href="([^"#]+)')


def measure(site: Site, _prepared: Any) -> Row:
    """Walk in one process; says which pages are over the budget."""
    walked = site.call(__name__, "walk")
    for row in sorted(walked["pages"], key=lambda row: -row["ms"]):
        if row["status"] > FOUND or row["ms"] > MOST_MS or row["queries"] > MOST_QUERIES:
            site.say("{path}: {status}, {ms:.0f} ms, {queries} queries".format(**row))
    pages = [row for row in walked["pages"] if row["status"] == OK]
    times = [row["ms"] for row in pages]
    return {
        "pages": len(pages),
        "p50": percentile(times, 0.5),
        "p95": percentile(times, 0.95),
        "first": max(row["first_ms"] for row in pages),
        "queries": max(row["queries"] for row in pages),
        "many": sum(row["queries"] > MOST_QUERIES for row in pages),
        "errors": sum(row["status"] > FOUND for row in walked["pages"]),
        "mib": walked["mib"],
    }


def walk() -> dict[str, Any]:
    """Breadth first from each home; of each kind of page some, each asked for three times."""
    rows = []
    for name in ROLES:
        client, queue, n_seen = Client(raise_request_exception=False, headers=HOST), ["/"], dict[str | None, int]()
        if name:
            user = get_user_model().objects.get(username=name)
            client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[-1])
        for path in queue:
            kind = _kind(path)
            n_seen[kind] = n_seen.get(kind, 0) + 1
            if kind is not None and n_seen[kind] <= EACH:
                row, links = _visit(client, path)
                rows.append(row)
                queue += dict.fromkeys(link for link in links if link not in queue)
    return {"pages": rows, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10}


def _kind(path: str) -> str | None:
    """The pattern of an address; None for files and Django's admin, and where nothing is."""
    if "." in path.rsplit("/", 1)[-1] or path.startswith("/admin/") or "download" in path:
        return None
    try:
        return resolve(urlsplit(path).path).route
    except Resolver404:
        return None


def _visit(client: Client, path: str) -> tuple[dict[str, Any], list[str]]:
    """A first look, a timed one and one whose queries are counted; the links of the page."""
    times = []
    for _ in range(2):
        began = time.perf_counter()
        response = client.get(path)
        times.append((time.perf_counter() - began) * 1000)
    with CaptureQueriesContext(connection) as queries:
        client.get(path)
    status = response.status_code
    links = _LINK.findall(response.content.decode()) if status == OK and not response.streaming else []
    row = {"path": path, "status": status, "first_ms": times[0], "ms": times[1], "queries": len(queries)}
    return row, [urljoin(path, unescape(link)) for link in links]


CASE = Case(
    "demo",
    [
        Figure("pages", "pages"),
        Figure("p50", "warm, p50", "ms"),
        Figure("p95", "warm, p95", "ms", most=MOST_MS),
        Figure("first", "the slowest first look", "ms"),
        Figure("queries", "most queries of a page", most=MOST_QUERIES),
        Figure("many", f"pages with more than {MOST_QUERIES} queries", most=0),
        Figure("errors", "answers that are no page", most=0),
        Figure("mib", "memory of the process after them", "MiB", most=250),
    ],
    measure,
)
