"""The cases of `manage.py bench`; what they measure in a process of the checkout is named by `site.call`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import cycle
from statistics import median
from typing import Any

from bench import walk
from bench.driver import Case, Figure, Row, percentile
from bench.site import Member, Site

LOCKED = "database is locked"
PACE_S, FLOOR_S = 0.5, 30
"""Eight clients at this pace send what some sixty writers do; seconds of the bare view at most."""
N_READERS, READ_EVERY_S = 20, 2.0
"""Programs that read, and how often each asks for a page: one that reads all of a study does so for a minute."""
CROWD = {"saves": ("writers", 0.6, 5.0), "choices": ("linkers", 0.3, 4.0), "pages": ("readers", 0.1, 6.0)}
"""Which part of the people of the case `load` does what, and about how often each does it (seconds)."""


def saving_figures(kind: str, what: str) -> list[Figure]:
    """The figures of `saving`, with keys and names that begin so."""
    return [
        Figure(f"{kind}p50", f"{what}, one client, p50", "ms", "≤ 5 × floor", f"{kind}bare_p50"),
        Figure(f"{kind}rate", f"{what}, all clients", "/s", "≥ 0.3 × floor", f"{kind}bare_rate"),
        Figure(f"{kind}p99", f"{what}, all clients, p99", "ms", "≤ 100"),
        Figure(f"{kind}failures", f"{what}: answers other than 200", "", "≤ 0"),
        Figure(f"{kind}locked", f"{what}: “{LOCKED}” in the log", "", "≤ 0"),
    ]


def saving(site: Site, server: Member, people: Sequence[dict[str, Any]], kind: str = "") -> Row:
    """Time that one of these people waits, and all of them at once, beside the floor."""
    rows = [{"headers": {}, "requests": [[f"/__floor__/{person['pk']}/", None]]} for person in people]
    alone, bare_alone = (sending(site, server, clients[:1]) for clients in (people, rows))
    crowd, bare_crowd = (sending(site, server, clients) for clients in (people, rows))
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


def sending(site: Site, server: Member, clients: Sequence[dict[str, Any]]) -> Any:
    """Let each client send as many requests as a round has."""
    return site.load(server, [{**client, "count": site.size.requests} for client in clients])


def drafts(site: Site, writers: Sequence[dict[str, Any]]) -> Row:
    """Drafts of about 2 KB saved, each writer in a session of their own, and the page of a session."""
    pages = [{"headers": row["headers"], "requests": [[row["page"], None]]} for row in writers]
    with site.serve() as server:
        saved = saving(site, server, writers)
        alone, crowd = sending(site, server, pages[:1]), sending(site, server, pages)
    rate = len(crowd["times_ms"]) / crowd["seconds"]
    return {**saved, "page": median(alone["times_ms"]), "page_rate": rate, "started": server.ready_after_s}


def choices(site: Site, teams: list[list[dict[str, Any]]]) -> Row:
    """Choices of linking and of verification stored, each person on tasks of their own."""
    row: Row = {}
    for kind, team in zip(("linked_", "verified_"), teams, strict=True):
        with site.serve() as server:
            row |= saving(site, server, team, kind)
    return row


def paced(kind: str, pace_s: float, seconds: int, job: dict[str, Any]) -> dict[str, Any]:
    """As many requests as there can be time for; the pause before one is at least half of the pace."""
    return {**job, "kind": kind, "pace_s": pace_s, "count": round(2 * seconds / pace_s) + 1}


def load(site: Site, people: dict[str, Sequence[dict[str, Any]]]) -> Row:
    """A hundred people at work at once, at the pace of people, for as long as `--seconds` says."""
    wanted, short = site.size.seconds, min(site.size.seconds, FLOOR_S)
    crowd = [paced(kind, CROWD[kind][2], wanted, job) for kind, rows in people.items() for job in rows]
    writers = cycle([{"headers": {}, "requests": [[f"/__floor__/{row['pk']}/", None]]} for row in people["saves"]])
    bare = [paced("bare", job["pace_s"], short, writer) for writer, job in zip(writers, crowd, strict=False)]
    with site.serve() as server:
        seen, floor = site.load(server, crowd, seconds=wanted), site.load(server, bare, seconds=short)
        lines = [line.partition(" ERROR ")[2] for line in server.log.read_text(errors="replace").splitlines()]
    for line in dict.fromkeys(filter(None, lines)):
        site.say(line)
    times = {**seen["by_kind"], **floor["by_kind"]}
    shares = {f"{kind}_p{share}": percentile(times[kind], share / 100) for kind in times for share in (50, 95, 99)}
    n_sent, failures = len(seen["times_ms"]), seen["failures"] + floor["failures"]
    counts = {"requests": n_sent, "rate": n_sent / seen["seconds"], "errors": sum(map(bool, lines))}
    return {**shares, **counts, "failures": failures}


def at_their_pace(site: Site) -> Any:
    """Writers, linkers and readers, with what each of them sends."""
    return {
        kind: site.call("bench.world", maker, max(1, round(part * site.size.crowd)))
        for kind, (maker, part, _pace) in CROWD.items()
    }


def programs(site: Site, prepared: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> Row:
    """People who save drafts, alone and beside twenty programs that read labels over the API, page by page."""
    writers, readers = prepared
    saves = [paced("saves", PACE_S, site.size.seconds, writer) for writer in writers]
    reads = [paced("reads", READ_EVERY_S, site.size.seconds, reader) for reader in readers]
    with site.serve() as server:
        alone, beside = (site.load(server, jobs, seconds=site.size.seconds) for jobs in (saves, [*saves, *reads]))
    times = {"alone": alone["by_kind"]["saves"], **beside["by_kind"]}
    shares = {kind: percentile(times[kind], 0.95) for kind in times}
    return {**shares, "pages": len(times["reads"]), "failures": alone["failures"] + beside["failures"]}


def logins(site: Site, prepared: tuple[dict[str, Any], list[dict[str, Any]]]) -> Row:
    """60 people log in at once, whose page sends itself again while it has to wait; others save beside them."""
    early, writers = prepared
    savers = [{**writer, "count": 10_000} for writer in writers]
    with site.serve() as server:
        before = server.cpu_s()
        seen = site.load(server, [*savers, *early["clients"]], pace_s=PACE_S)
        cpu = server.cpu_s() - before
    hashing = early["hash_s"] * len(early["clients"])
    times = {"last": max(seen["in_after_s"], default=0.0), "saves": percentile(seen["times_ms"], 0.95)}
    floors = {"hashing": hashing, "hashing_on_cores": hashing / (os.cpu_count() or 1)}
    return {**times, "cpu": cpu, **floors, **{name: seen[name] for name in ("refused", "n_forms", "failures")}}


def before_login(site: Site) -> Any:
    """People with a password, hashed as on a site, and writers."""
    n_people, n_writers = site.size.people, site.size.clients
    return site.call("bench.world", "early", n_people), site.call("bench.world", "writers", n_writers)


def pages(site: Site, _prepared: Any) -> Row:
    """Every kind of page that each role reaches by links, on the demo beside the haystack; time and queries."""
    rows = site.call("bench.walk", "walk", walk.DEMO)
    for row in sorted(rows, key=lambda row: -row["ms"]):
        if walk.is_notable(row, "ms"):
            site.say(walk.in_words(row))
    whole = walk.summed_up(rows)
    return {**whole, "errors": len(whole["errors"]), "mib": rows[-1]["mib"]}


CASES = [
    Case(drafts, "haystack", [
        *saving_figures("", "saves"),
        Figure("page", "page of a session, 100 documents, p50", "ms", "≤ 25"),
        Figure("page_rate", "the same, all clients", "/s", "≥ 100"),
        Figure("started", "start of the server", "s", "≤ 1"),
    ], lambda site: site.call("bench.world", "writers", site.size.clients)),
    Case(choices, "demo", [*saving_figures("linked_", "links"), *saving_figures("verified_", "key points")],
        lambda site: [site.call("bench.world", team, site.size.clients) for team in ("linkers", "verifiers")]),
    Case(load, "haystack", [
        *(Figure(f"{kind}_p{share}", f"{kind}, p{share}", "ms", target if share == 95 else "", f"bare_p{share}")
          for kind, target in (("saves", "≤ 100"), ("choices", "≤ 100"), ("pages", "≤ 300"))
          for share in (50, 95, 99)),
        Figure("failures", "answers other than 200", "", "≤ 0"),
        Figure("errors", "errors in the log", "", "≤ 0"),
        Figure("requests", "requests in all"),
        Figure("rate", "requests", "/s"),
    ], at_their_pace),
    Case(programs, "haystack", [
        Figure("saves", "saves beside programs, p95", "ms", "≤ 1.5 × floor", "alone"),
        Figure("reads", "pages of labels, p95", "ms"),
        Figure("pages", "pages read"),
        Figure("failures", "answers other than 200", "", "≤ 0"),
    ], lambda site: (site.call("bench.world", "writers", site.size.clients),
                     site.call("bench.world", "programs", N_READERS, site.size.summaries // 7))),
    Case(logins, "haystack", [
        Figure("last", "until the last is in", "s", "≤ 15", "hashing_on_cores"),
        Figure("cpu", "processor time of the server", "s", "≤ 1.5 × floor", "hashing"),
        Figure("refused", "refused, or never in", "", "≤ 0"),
        Figure("n_forms", "forms sent in all"),
        Figure("saves", "saves beside them, p95", "ms", "≤ 500"),
        Figure("failures", "saves that failed", "", "≤ 0"),
    ], before_login),
    Case(pages, "demo", [
        Figure("pages", "pages"),
        Figure("ms_p50", "warm, p50", "ms"),
        Figure("ms_p95", "warm, p95", "ms", f"≤ {walk.MOST_MS}"),
        Figure("queries_p100", "most queries of a page", "", f"≤ {walk.MOST_QUERIES}"),
        Figure("errors", "answers that are no page", "", "≤ 0"),
        Figure("mib", "memory of the process after them", "MiB", "≤ 250"),
    ]),
]  # fmt: skip
