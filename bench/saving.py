"""Saving a draft: how soon one writer has an answer, how many a server takes, whether anyone is turned away."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from statistics import median
from typing import Any

from django.db import connection, transaction

from annotation.models import Annotator
from bench.cases import Measurement, case, least, most, percentile, times_floor
from bench.stage import Load, Stage

People = Sequence[dict[str, Any]]
Save = Callable[[People], Load]
LOCKED = "database is locked"


@case("draft_save")
def draft_save(stage: Stage) -> Iterator[Measurement]:
    """Drafts of about 2 KB, each writer in a session of their own, on a durable database."""
    writers: People = stage.scene["few"]

    def commits(_: Save) -> dict[str, float]:
        return stage.elsewhere(commit, writers[0]["person"], 4 * stage.effort.requests)

    found = yield from measure_saves(stage, writers, save_clients, what="saves", further=commits)
    yield Measurement(
        f"{len(writers)} clients, saves",
        found["rate"],
        "/s",
        None,
        found["commits"],
        "raw commits, one connection",
    )


def save_clients(writers: People, *, count: int) -> list[dict[str, Any]]:
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


def commit(pk: int, count: int) -> dict[str, float]:
    """The floor of writing: so many transactions of one row each, on one connection with the site's settings."""
    table = connection.ops.quote_name(Annotator._meta.db_table)
    statement = f"UPDATE {table} SET accommodation_note = %s WHERE id = %s"  # noqa: S608 - our own table
    began = time.perf_counter()
    with connection.cursor() as cursor:
        for number in range(count):
            with transaction.atomic():
                cursor.execute(statement, [f"note {number}", pk])
    return {"commits": count / (time.perf_counter() - began)}


def measure_saves(
    stage: Stage,
    people: People,
    clients: Callable[..., list[dict[str, Any]]],
    *,
    what: str,
    further: Callable[[Save], dict[str, float]] = lambda save: {},
) -> Generator[Measurement, None, dict[str, float]]:
    """What one of these people waits for, and all of them at once, beside the floor; gives the medians.

    `clients` of people save as often as it is told; `further` measures something else in every round.
    """
    locked_before = stage.server.count_in_log(LOCKED)
    failures = 0

    def save(some: People) -> Load:
        nonlocal failures
        load = stage.load(clients(some, count=stage.effort.requests))
        failures += load.failures
        return load

    def one_round() -> dict[str, float]:
        alone, bare_alone = save(people[:1]), _bare_rows(stage, people[:1])
        crowd, bare_crowd = save(people), _bare_rows(stage, people)
        return {
            "p50": median(alone.latencies_ms),
            "bare_p50": median(bare_alone.latencies_ms),
            "rate": crowd.per_second,
            "bare_rate": bare_crowd.per_second,
            "p99": percentile(crowd.latencies_ms, 0.99),
            "bare_p99": percentile(bare_crowd.latencies_ms, 0.99),
            **further(save),
        }

    found = stage.rounds(one_round)
    bare, n = "bare view, one SELECT and one UPDATE", len(people)
    yield Measurement("1 client, p50", found["p50"], "ms", times_floor(5), found["bare_p50"], bare)
    yield Measurement(f"{n} clients, {what}", found["rate"], "/s", least(270), found["bare_rate"], bare)
    yield Measurement(f"{n} clients, p99", found["p99"], "ms", most(100), found["bare_p99"], bare)
    yield Measurement("answers other than 200", failures, "", most(0))
    locked = stage.server.count_in_log(LOCKED) - locked_before
    yield Measurement(f"“{LOCKED}” in the log", locked, "", most(0))
    return found


def _bare_rows(stage: Stage, people: People) -> Load:
    """The floor of a save: clients that each read and change a row of their own."""
    return stage.load(
        [
            {
                "kind": "get",
                "path": f"/__floor__/row/{person['person']}/",
                "headers": {},
                "count": stage.effort.requests,
            }
            for person in people
        ]
    ).checked()
