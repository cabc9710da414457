"""Verifying key points: how soon the page of a long question is there, the next one, and a choice stored."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from bench.cases import Measurement, case, least, most, percentile, times_floor
from bench.labelling import form_clients
from bench.pages import fetch, reader_headers
from bench.saving import bare_rows
from bench.stage import Load, Stage
from bench.verify_scene import N_DOCUMENTS, N_WORDS

N_LONG = 24
N_NEXT = 12


@case("verify_page")
def verify_page(stage: Stage) -> Iterator[Measurement]:
    """The page of a key point beside long documents: opened for the first time, again, and the next one."""
    _ = stage.server
    stage.say("one who verifies, and long documents")
    [person] = stage.run_module("verify_scene", "checker", "1", str(N_LONG))
    shelf, rest = person["pages"][0], person["pages"][1:]
    first = _once(stage, person, [pages[0] for pages in rest])
    following = _once(stage, person, [page for pages in rest for page in pages[1 : 1 + N_NEXT // 4]])
    body = fetch(stage, shelf[0], reader_headers(person)).body

    def one_round() -> dict[str, float]:
        again = stage.load(
            [{"kind": "get", "path": shelf[0], "headers": reader_headers(person), "count": stage.effort.requests}]
        )
        following.extend(_once(stage, person, shelf[1:N_NEXT]))
        return {"again": median(again.latencies_ms), "failures": again.failures}

    found = stage.rounds(one_round)
    size = f"{N_DOCUMENTS} × {N_WORDS:,} words"
    yield Measurement(f"{size}, first time anybody opens it, p50", median(first), "ms", most(100))
    yield Measurement("the same page again, p50", found["again"], "ms", most(50))
    yield Measurement("next key point, p50", median(following), "ms", most(50))
    yield Measurement("next key point, p95", percentile(following, 0.95), "ms", most(100))
    yield Measurement("answers other than 200", found["failures"], "", most(0))
    yield Measurement("compressed", len(body) / 1024, "KiB")


@case("verify_save")
def verify_save(stage: Stage) -> Iterator[Measurement]:
    """Judgments on key points, each person on tasks of their own, on a durable database."""
    _ = stage.server
    stage.say("people who verify")
    people = stage.run_module("verify_scene", "verifier", str(stage.effort.clients), "0")
    locked_before = stage.server.count_in_log("database is locked")
    failures = 0

    def one_round() -> dict[str, float]:
        nonlocal failures
        alone, bare_alone = _save(stage, people[:1]), bare_rows(stage, people[:1])
        crowd, bare_crowd = _save(stage, people), bare_rows(stage, people)
        failures += alone.failures + crowd.failures
        return {
            "p50": median(alone.latencies_ms),
            "bare_p50": median(bare_alone.latencies_ms),
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
    locked = stage.server.count_in_log("database is locked") - locked_before
    yield Measurement("answers other than 200", failures, "", most(0))
    yield Measurement("“database is locked” in the log", locked, "", most(0))


def _once(stage: Stage, person: dict[str, Any], pages: Sequence[str]) -> list[float]:
    """The time (ms) of each of these pages, asked for once."""
    times = []
    for page in pages:
        began = time.perf_counter()
        fetch(stage, page, reader_headers(person))
        times.append((time.perf_counter() - began) * 1000)
    return times


def _save(stage: Stage, people: Sequence[dict[str, Any]]) -> Load:
    return stage.load(form_clients(people, count=stage.effort.requests))
