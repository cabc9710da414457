"""Logging in when everybody does, and saving beside it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.hashers import make_password
from django.utils import timezone

from bench import scene
from bench.cases import Measurement, case, most, percentile, times_floor
from bench.saving import save_clients
from bench.stage import PRODUCTION, Stage
from summhay_site.models import User

N_PEOPLE = 60
PASSWORD = "correct horse battery"  # noqa: S105 - of people who live for minutes


@case("login_rush")
def login_rush(stage: Stage) -> Iterator[Measurement]:
    """60 people log in at once, whose page sends itself again while it has to wait; saves beside them."""
    _ = stage.scene  # the tables are there
    people = stage.elsewhere(prepare, N_PEOPLE)
    rounds: list[dict[str, float]] = []

    def one_round() -> dict[str, float]:
        rounds.append(rush(stage, people))
        return rounds[-1]

    found = stage.rounds(one_round)
    hashing = people["hash_s"] * N_PEOPLE
    alone, on_all_cores = "their hashes alone", "their hashes alone, on all cores"
    yield Measurement("the last of 60 is in", found["last"], "s", most(15), hashing / _cores(), on_all_cores)
    yield Measurement("half of them are in", found["half"], "s")
    yield Measurement("processor time of the server", found["cpu"], "s", times_floor(1.5), hashing, alone)
    yield Measurement("forms sent in all", found["tries"], "")
    yield Measurement("refused or never in", sum(row["refused"] for row in rounds), "", most(0))
    yield Measurement("saves beside, p95", found["saves"], "ms", most(500))
    yield Measurement("saves that failed", sum(row["failed"] for row in rounds), "", most(0))


def rush(stage: Stage, people: dict[str, Any]) -> dict[str, float]:
    """Start the server of production and let these people log in all at once."""
    writers = stage.scene["few"]
    stage.static_files()
    with stage.another_server(PRODUCTION) as server:
        job = {
            "port": server.port,
            "people": [[name, PASSWORD] for name in people["names"]],
            "writers": save_clients(writers, count=0),
        }
        before = server.cpu_s()
        seen = stage.run_module("rush", job=job)
        cpu = server.cpu_s() - before
    arrived = seen["in_after_s"]
    return {
        "last": max(arrived, default=0.0),
        "half": percentile(arrived or [0.0], 0.5),
        "tries": sum(seen["tries"]),
        "refused": len(people["names"]) - len(arrived) + seen["refused"],
        "saves": percentile(seen["save_ms"] or [0.0], 0.95),
        "failed": seen["saves_failed"],
        "cpu": cpu,
    }


def _cores() -> int:
    return os.cpu_count() or 1


def prepare(n_people: int) -> dict[str, Any]:
    """Make people with a password, hashed as on a site; gives their names and the processor time of a hash."""
    began = time.process_time()
    password = make_password(PASSWORD)
    hash_s = time.process_time() - began
    people = scene.people_named("early", n_people, now=timezone.now())
    User.objects.filter(pk__in=[user.pk for user in people]).update(password=password)
    return {"names": [user.username for user in people], "hash_s": hash_s}
