"""60 people log in at once, whose page sends itself again while it has to wait, and others save beside them."""

from __future__ import annotations

import os
from typing import Any

from bench.driver import Case, Figure, Row, percentile
from bench.site import Site

PACE_S = 0.5
"""Eight clients at this pace send what some sixty writers do."""


def prepare(site: Site) -> Any:
    """People with a password, hashed as on a site, and writers."""
    n_people, n_writers = site.size.people, site.size.clients
    return site.call("bench.world", "early", n_people), site.call("bench.world", "writers", n_writers)


def measure(site: Site, prepared: tuple[dict[str, Any], list[dict[str, Any]]]) -> Row:
    """Let all of them log in while the writers save."""
    early, writers = prepared
    savers = [{**writer, "count": 10_000} for writer in writers]
    with site.serve() as server:
        before = server.cpu_s()
        seen = site.load(server, [*savers, *early["clients"]], pace_s=PACE_S)
        cpu = server.cpu_s() - before
    hashing = early["hash_s"] * len(early["clients"])
    times = {"last": max(seen["in_after_s"], default=0.0), "saves": percentile(seen["times_ms"], 0.95)}
    floors = {"hashing": hashing, "hashing_on_cores": hashing / (os.cpu_count() or 1)}
    counts = {name: seen[name] for name in ("refused", "n_forms", "failures")}
    return {**times, "cpu": cpu, **floors, **counts}


HASHES = "their hashes alone"
CASE = Case(
    "haystack",
    [
        Figure("last", "until the last is in", "s", 15, None, "hashing_on_cores", f"{HASHES}, on all cores"),
        Figure("cpu", "processor time of the server", "s", 1.5, None, "hashing", HASHES, of_floor=True),
        Figure("refused", "refused, or never in", most=0),
        Figure("n_forms", "forms sent in all"),
        Figure("saves", "saves beside them, p95", "ms", most=500),
        Figure("failures", "saves that failed", most=0),
    ],
    measure,
    prepare,
)
