"""Saving a linking choice: how soon one person has an answer, how many a server takes, whatever came before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from bench.cases import Measurement, case, least, most, percentile, times_floor
from bench.saving import bare_rows
from bench.stage import Load, Stage

N_EARLIER = 5000


@case("label_save")
def label_save(stage: Stage) -> Iterator[Measurement]:
    """Choices of coverage linking, each person on tasks of their own, on a durable database."""
    _ = stage.server
    stage.say(f"people who link, and one with {N_EARLIER:,} earlier answers")
    people = stage.run_module("label_scene", "linker", str(stage.effort.clients), "0")
    [veteran] = stage.run_module("label_scene", "veteran", "1", str(N_EARLIER))
    locked_before = stage.server.count_in_log("database is locked")
    failures = 0

    def one_round() -> dict[str, float]:
        nonlocal failures
        alone, bare_alone, late = _save(stage, people[:1]), bare_rows(stage, people[:1]), _save(stage, [veteran])
        crowd, bare_crowd = _save(stage, people), bare_rows(stage, people)
        failures += alone.failures + late.failures + crowd.failures
        return {
            "p50": median(alone.latencies_ms),
            "bare_p50": median(bare_alone.latencies_ms),
            "late_p50": median(late.latencies_ms),
            "rate": crowd.per_second,
            "bare_rate": bare_crowd.per_second,
            "p99": percentile(crowd.latencies_ms, 0.99),
            "bare_p99": percentile(bare_crowd.latencies_ms, 0.99),
        }

    found = stage.rounds(one_round)
    bare, n = "bare view, one SELECT and one UPDATE", len(people)
    yield Measurement("1 client, p50", found["p50"], "ms", times_floor(5), found["bare_p50"], bare)
    yield Measurement(f"{n} clients, choices", found["rate"], "/s", least(270), found["bare_rate"], bare)
    yield Measurement(f"{n} clients, p99", found["p99"], "ms", most(100), found["bare_p99"], bare)
    yield Measurement(
        f"after {N_EARLIER:,} answers, p50", found["late_p50"], "ms", times_floor(1.25), found["p50"], "after none"
    )
    locked = stage.server.count_in_log("database is locked") - locked_before
    yield Measurement("answers other than 200", failures, "", most(0))
    yield Measurement("“database is locked” in the log", locked, "", most(0))


def _save(stage: Stage, people: Sequence[dict[str, Any]]) -> Load:
    return stage.load(form_clients(people, count=stage.effort.requests))


def form_clients(people: Sequence[dict[str, Any]], *, count: int) -> list[dict[str, Any]]:
    """Clients that send so many of their forms, as the scripts of a page do."""
    return [
        {
            "kind": "forms",
            "forms": person["forms"],
            "headers": {
                "Cookie": f"sessionid={person['sessionid']}; csrftoken={person['csrftoken']}",
                "X-CSRFToken": person["csrftoken"],
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            },
            "count": count,
        }
        for person in people
    ]
