"""Every kind of page that each role reaches by links, on the demo beside the haystack; time and queries."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import Resolver404, resolve

from bench.client import OK, REDIRECT
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
        if row["status"] > REDIRECT or row["ms"] > MOST_MS or row["queries"] > MOST_QUERIES:
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
        "errors": sum(row["status"] > REDIRECT for row in walked["pages"]),
        "mib": walked["mib"],
    }


def walk(
    roles: Sequence[str] = ROLES, say: Callable[[dict[str, Any]], None] = lambda _row: None
) -> dict[str, Any]:
    """Breadth first from each home; of each kind of page some, each asked for three times."""
    rows = []
    for name in roles:
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
                say(row)
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


def _cpu_ms() -> float:
    """Processor time of this process, and of that of PostgreSQL that serves it, where it is on this machine."""
    here, there = time.process_time() * 1000, 0.0
    if connection.vendor == "postgresql" and connection.connection:
        stat = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
        there = int(stat.read_text().split()[0]) / 1e6 if stat.exists() else 0.0
    return here + there


def _visit(client: Client, path: str) -> tuple[dict[str, Any], list[str]]:
    """A first look, a timed one and one whose queries are counted; the links of the page.

    `cpu_ms` is the processor time of the timed look, here and in the database: on a busy machine it says more.
    """
    times = []
    for _ in range(2):
        began, cpu_began = time.perf_counter(), _cpu_ms()
        response = client.get(path)
        times.append((time.perf_counter() - began) * 1000)
        cpu_ms = _cpu_ms() - cpu_began
    with CaptureQueriesContext(connection) as queries:
        client.get(path)
    status = response.status_code
    links = _LINK.findall(response.content.decode()) if status == OK and not response.streaming else []
    row = {
        "path": path,
        "status": status,
        "first_ms": times[0],
        "ms": times[1],
        "cpu_ms": cpu_ms,
        "queries": len(queries),
    }
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
