"""Every kind of page that some people reach by links: time, queries, memory."""

from __future__ import annotations

import re
import resource
import time
from collections import Counter
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
from bench.driver import percentile

DEMO = ("", "ben", "ada", "eve")
"""Nobody, an annotator, a researcher and an admin of the demo."""
MOST_MS, MOST_QUERIES, EACH, N_WORST = 300, 25, 3, 10
TOLD = ("cpu_ms", "ms", "queries")
_LINK = re.compile(r'<a\b[^>]*? href="([^"#]+)')


def walk(people: Sequence[str], say: Callable[[dict[str, Any]], None] = lambda _row: None) -> list[dict[str, Any]]:
    """Breadth first from each home; of each kind of page some, each asked for three times."""
    rows = []
    for name in people:
        client = Client(raise_request_exception=False, headers={"host": "127.0.0.1"})
        queue, n_seen = ["/"], Counter[str | None]()
        if name:
            user = get_user_model().objects.get(username=name)
            client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[-1])
        for path in queue:
            kind = _kind(path)
            n_seen[kind] += 1
            if kind is not None and n_seen[kind] <= EACH:
                row, links = _visit(client, path)
                rows.append(row)
                say(row)
                queue += dict.fromkeys(link for link in links if link not in queue)
    return rows


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
    `mib` is the most memory of this process so far.
    """
    client.get(path)
    began, cpu_began = time.perf_counter(), _cpu_ms()
    response = client.get(path)
    times = {"ms": (time.perf_counter() - began) * 1000, "cpu_ms": _cpu_ms() - cpu_began}
    with CaptureQueriesContext(connection) as queries:
        client.get(path)
    status, mib = response.status_code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    links = _LINK.findall(response.content.decode()) if status == OK and not response.streaming else []
    row = {"path": path, "status": status, **times, "queries": len(queries), "mib": mib}
    return row, [urljoin(path, unescape(link)) for link in links]


def is_notable(row: dict[str, Any], time: str) -> bool:
    """Whether a page is over the budget, or no page."""
    return bool(row["status"] > REDIRECT or row[time] > MOST_MS or row["queries"] > MOST_QUERIES)


def in_words(row: dict[str, Any]) -> str:
    about = "{cpu_ms:6.0f} ms of processor, {ms:6.0f} in all, {queries:3d} queries {status} {path}"
    return about.format(**row)


def summed_up(walked: list[dict[str, Any]]) -> dict[str, Any]:
    """p50, p95 and the most of processor time, time and queries of all pages, and the worst pages of each."""
    pages = [row for row in walked if row["status"] == OK]
    whole = {
        f"{name}_p{share}": round(percentile([row[name] for row in pages], share / 100))
        for name in TOLD
        for share in (50, 95, 100)
    }
    worst = {
        name: [f"{row[name]:.0f} {row['path']}" for row in sorted(pages, key=lambda row: -row[name])[:N_WORST]]
        for name in TOLD
    }
    errors = [f"{row['status']} {row['path']}" for row in walked if row["status"] > REDIRECT]
    return {"pages": len(pages), **whole, "errors": errors, "worst": worst}
