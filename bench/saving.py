"""Saving a draft: how soon one writer has an answer, how many a server takes, whether anyone is turned away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from bench.cases import Measurement, case, least, most, percentile, times_floor
from bench.stage import Load, Stage


@case("draft_save")
def draft_save(stage: Stage) -> Iterator[Measurement]:
    """Drafts of about 2 KB, each writer in a session of their own, on a durable database."""
    writers: Sequence[dict[str, Any]] = stage.scene["few"]
    locked_before = stage.server.count_in_log("database is locked")
    failures = 0

    def one_round() -> dict[str, float]:
        nonlocal failures
        alone, bare_alone = _save(stage, writers[:1]), bare_rows(stage, writers[:1])
        crowd, bare_crowd = _save(stage, writers), bare_rows(stage, writers)
        failures += alone.failures + crowd.failures
        commits = stage.run_module("commits", str(writers[0]["person"]), str(4 * stage.effort.requests))
        return {
            "p50": median(alone.latencies_ms),
            "bare_p50": median(bare_alone.latencies_ms),
            "rate": crowd.per_second,
            "bare_rate": bare_crowd.per_second,
            "p99": percentile(crowd.latencies_ms, 0.99),
            "bare_p99": percentile(bare_crowd.latencies_ms, 0.99),
            "commits": commits["per_second"],
        }

    found = stage.rounds(one_round)
    bare, n = "bare view, one SELECT and one UPDATE", len(writers)
    yield Measurement("1 client, p50", found["p50"], "ms", times_floor(5), found["bare_p50"], bare)
    yield Measurement(f"{n} clients, saves", found["rate"], "/s", least(270), found["bare_rate"], bare)
    yield Measurement(
        f"{n} clients, saves", found["rate"], "/s", None, found["commits"], "raw commits, one connection"
    )
    yield Measurement(f"{n} clients, p99", found["p99"], "ms", most(100), found["bare_p99"], bare)
    locked = stage.server.count_in_log("database is locked") - locked_before
    yield Measurement("answers other than 200", failures, "", most(0))
    yield Measurement("“database is locked” in the log", locked, "", most(0))


def _save(stage: Stage, writers: Sequence[dict[str, Any]]) -> Load:
    return stage.load(save_clients(writers, count=stage.effort.requests))


def save_clients(writers: Sequence[dict[str, Any]], *, count: int) -> list[dict[str, Any]]:
    """Clients that each save so often in a session of their own."""
    return [
        {
            "kind": "draft",
            "path": f"{writer['page']}draft/",
            "claim": f"{writer['page']}claim/",
            "headers": {
                "Cookie": f"sessionid={writer['sessionid']}; csrftoken={writer['csrftoken']}",
                "X-CSRFToken": writer["csrftoken"],
                "Content-Type": "application/json",
            },
            "count": count,
        }
        for writer in writers
    ]


def bare_rows(stage: Stage, writers: Sequence[dict[str, Any]]) -> Load:
    """The floor of a save: clients that each read and change a row of their own."""
    return stage.load(
        [
            {
                "kind": "get",
                "path": f"/__floor__/row/{w['person']}/",
                "headers": {},
                "count": stage.effort.requests,
            }
            for w in writers
        ]
    ).checked()
