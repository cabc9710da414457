"""Verifying key points: how soon the page of a long question is there, the next one, and a choice stored."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from bench import verify_scene
from bench.cases import Measurement, case, most, percentile
from bench.labelling import form_clients
from bench.pages import fetch, reader_headers
from bench.saving import measure_saves
from bench.stage import Stage
from bench.verify_scene import N_DOCUMENTS, N_WORDS

N_LONG = 24
N_NEXT = 12


@case("verify_page")
def verify_page(stage: Stage) -> Iterator[Measurement]:
    """The page of a key point beside long documents: opened for the first time, again, and the next one."""
    _ = stage.server
    stage.say("one who verifies, and long documents")
    [person] = stage.elsewhere(verify_scene.prepare, "checker", 1, N_LONG)
    pages, others = person["pages"][0], person["pages"][1:]
    first = _once(stage, person, [each[0] for each in others])
    following = _once(stage, person, [page for each in others for page in each[1 : 1 + N_NEXT // 4]])
    body = fetch(stage, pages[0], reader_headers(person)).body

    def one_round() -> dict[str, float]:
        again = stage.load(
            [{"kind": "get", "path": pages[0], "headers": reader_headers(person), "count": stage.effort.requests}]
        )
        following.extend(_once(stage, person, pages[1:N_NEXT]))
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
    people = stage.elsewhere(verify_scene.prepare, "verifier", stage.effort.clients, 0)
    yield from measure_saves(stage, people, form_clients, what="choices")


def _once(stage: Stage, person: dict[str, Any], pages: Sequence[str]) -> list[float]:
    """The time (ms) of each of these pages, asked for once."""
    times = []
    for page in pages:
        began = time.perf_counter()
        fetch(stage, page, reader_headers(person))
        times.append((time.perf_counter() - began) * 1000)
    return times
