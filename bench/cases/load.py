"""A hundred people at work at once, at the pace of people, for as long as `--seconds` says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

from bench.driver import Case, Figure, Row, percentile
from bench.site import Site

KINDS = {"saves": (0.6, 5.0), "choices": (0.3, 4.0), "pages": (0.1, 6.0)}
"""Which part of the people does what, and about how often each does it (seconds)."""
FLOOR_S = 30


def prepare(site: Site) -> Any:
    """Writers, linkers and readers, with what each of them sends."""
    makers = {"saves": "writers", "choices": "linkers", "pages": "readers"}
    return {
        kind: site.call("bench.world", makers[kind], max(1, round(part * site.size.crowd)))
        for kind, (part, _pace) in KINDS.items()
    }


def measure(site: Site, people: dict[str, Sequence[dict[str, Any]]]) -> Row:
    """All of them at once, then as many who ask for nothing but the bare view, at the same pace."""
    crowd = [
        {**person, "kind": kind, "pace_s": KINDS[kind][1], "count": _most(site.size.seconds, KINDS[kind][1])}
        for kind, rows in people.items()
        for person in rows
    ]
    seconds = min(site.size.seconds, FLOOR_S)
    writers = cycle([person["pk"] for person in people["saves"]])
    bare = [
        {"headers": {}, "requests": [[f"/__floor__/{pk}/", None]], "kind": "bare", "pace_s": job["pace_s"],
         "count": _most(seconds, job["pace_s"])}
        for pk, job in zip(writers, crowd, strict=False)
    ]  # fmt: skip
    with site.serve() as server:
        seen = site.load(server, crowd, seconds=site.size.seconds)
        floor = site.load(server, bare, seconds=seconds)
        errors = [line for line in server.log.read_text(errors="replace").splitlines() if " ERROR " in line]
    for line in dict.fromkeys(line.partition(" ERROR ")[2] for line in errors):
        site.say(line)
    times = {**seen["by_kind"], **floor["by_kind"]}
    shares = {f"{kind}_p{share}": percentile(times[kind], share / 100) for kind in times for share in (50, 95, 99)}
    failures = {"failures": seen["failures"] + floor["failures"], "errors": len(errors)}
    return {
        **shares,
        **failures,
        "requests": len(seen["times_ms"]),
        "rate": len(seen["times_ms"]) / seen["seconds"],
    }


def _most(seconds: int, pace_s: float) -> int:
    """Requests of one person that there can be time for; the pause before one is at least half of its pace."""
    return round(2 * seconds / pace_s) + 1


def _figures(kind: str, most: float) -> list[Figure]:
    bare = "the bare view, at the same pace"
    return [
        Figure(f"{kind}_p{share}", f"{kind}, p{share}", "ms", bound, None, f"bare_p{share}", bare)
        for share, bound in ((50, None), (95, most), (99, None))
    ]


CASE = Case(
    "haystack",
    [
        *_figures("saves", 100),
        *_figures("choices", 100),
        *_figures("pages", 300),
        Figure("failures", "answers other than 200", most=0),
        Figure("errors", "errors in the log", most=0),
        Figure("requests", "requests in all"),
        Figure("rate", "requests", "/s"),
    ],
    measure,
    prepare,
)
