"""Drafts of about 2 KB saved, each writer in a session of their own, and the page of a session."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from bench.driver import Case, Figure, Row, percentile
from bench.processes import Member
from bench.site import Site

BARE = "bare view, one SELECT and one UPDATE"
LOCKED = "database is locked"


def figures(kind: str, what: str) -> list[Figure]:
    """The figures of `saving`, with keys and names that begin so."""
    floor, rate = f"{kind}bare_p50", f"{kind}bare_rate"
    return [
        Figure(f"{kind}p50", f"{what}, one client, p50", "ms", 5, None, floor, BARE, of_floor=True),
        Figure(f"{kind}rate", f"{what}, all clients", "/s", None, 0.3, rate, BARE, of_floor=True),
        Figure(f"{kind}p99", f"{what}, all clients, p99", "ms", most=100),
        Figure(f"{kind}failures", f"{what}: answers other than 200", most=0),
        Figure(f"{kind}locked", f"{what}: “{LOCKED}” in the log", most=0),
    ]


def saving(site: Site, server: Member, people: Sequence[dict[str, Any]], kind: str = "") -> Row:
    """What one of these people waits for, and all of them at once, beside the floor."""
    rows = [{"headers": {}, "requests": [[f"/__floor__/{person['pk']}/", None]]} for person in people]
    alone, bare_alone = (load(site, server, clients[:1]) for clients in (people, rows))
    crowd, bare_crowd = (load(site, server, clients) for clients in (people, rows))
    if bare_alone["failures"] or bare_crowd["failures"]:
        raise RuntimeError("the floor did not hold")
    row = {
        "p50": median(alone["times_ms"]),
        "bare_p50": median(bare_alone["times_ms"]),
        "rate": len(crowd["times_ms"]) / crowd["seconds"],
        "bare_rate": len(bare_crowd["times_ms"]) / bare_crowd["seconds"],
        "p99": percentile(crowd["times_ms"], 0.99),
        "failures": alone["failures"] + crowd["failures"],
        "locked": server.log.read_text(errors="replace").count(LOCKED),
    }
    return {f"{kind}{key}": value for key, value in row.items()}


def load(site: Site, server: Member, clients: Sequence[dict[str, Any]]) -> Any:
    """Let each client send as many requests as a round has."""
    return site.load(server, [{**client, "count": site.size.requests} for client in clients])


def prepare(site: Site) -> Any:
    """People in the middle of their sessions."""
    return site.call("bench.world", "writers", site.size.clients)


def measure(site: Site, writers: Sequence[dict[str, Any]]) -> Row:
    """Save, then load the page."""
    pages = [{"headers": row["headers"], "requests": [[row["page"], None]]} for row in writers]
    with site.serve() as server:
        saved = saving(site, server, writers)
        alone, crowd = load(site, server, pages[:1]), load(site, server, pages)
    rate = len(crowd["times_ms"]) / crowd["seconds"]
    return {**saved, "page": median(alone["times_ms"]), "page_rate": rate, "started": server.ready_after_s}


CASE = Case(
    "haystack",
    [
        *figures("", "saves"),
        Figure("page", "page of a session, 100 documents, p50", "ms", most=25),
        Figure("page_rate", "the same, all clients", "/s", least=100),
        Figure("started", "start of the server", "s", most=1),
    ],
    measure,
    prepare,
)
