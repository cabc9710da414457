"""Saving a linking choice: how soon one person has an answer, how many a server takes, whatever came before."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from bench import label_scene
from bench.cases import Measurement, case, times_floor
from bench.saving import People, Save, measure_saves
from bench.stage import Stage

N_EARLIER = 5000


@case("label_save")
def label_save(stage: Stage) -> Iterator[Measurement]:
    """Choices of coverage linking, each person on tasks of their own, on a durable database."""
    _ = stage.server
    stage.say(f"people who link, and one with {N_EARLIER:,} earlier answers")
    people = stage.elsewhere(label_scene.prepare, "linker", stage.effort.clients, 0)
    veteran = stage.elsewhere(label_scene.prepare, "veteran", 1, N_EARLIER)

    def late(save: Save) -> dict[str, float]:
        return {"late_p50": median(save(veteran).latencies_ms)}

    found = yield from measure_saves(stage, people, form_clients, what="choices", further=late)
    yield Measurement(
        f"after {N_EARLIER:,} answers, p50", found["late_p50"], "ms", times_floor(1.25), found["p50"], "after none"
    )


def form_clients(people: People, *, count: int) -> list[dict[str, Any]]:
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
