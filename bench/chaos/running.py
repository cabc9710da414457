"""One run: set up, let people work, make faults, calm down, compare."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from bench.chaos.browser import Person
from bench.chaos.checking import problems
from bench.chaos.crew import Crew
from bench.chaos.faults import Faults
from bench.chaos.logs import Log, Stored
from bench.chaos.people import Labeller, Reviewer, Writer
from bench.processes import fake_model
from bench.site import Site

QUIET_S, DELIVER_S = 2.0, 150.0
"""Work before the first and after the last fault; in which everything that was kept has to arrive afterwards."""
MODEL_DELAY_S = 0.05


@dataclass(frozen=True, slots=True)
class Numbers:
    """What is drawn, and how much of it; labellers are of each of two kinds.

    Each kind of queue has a worker of its own, unless there is one for all.
    """

    seed: int = 1
    faults: int = 60
    writers: int = 12
    labellers: int = 5
    reviewers: int = 2
    has_one_worker: bool = False


@dataclass
class Outcome:
    """What happened; `problems` is empty if all is well."""

    vendor: str
    faults: Counter[str]
    logs: list[Log]
    stored: Stored
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


Disturb = Callable[[Crew, list[Person]], Counter[str]]
"""What happens to a site while people work; gives how often what happened."""


def run(
    site: Site,
    numbers: Numbers,
    *,
    empty: Path | None = None,
    static: Path | None = None,
    disturb: Disturb | None = None,
) -> Outcome:
    """Work on a site of its own under faults, which are drawn if nothing else shall happen.

    What `empty` and `static` name, a file with all tables and a folder of collected files, is copied and not made.
    RuntimeError if the site does not start or come back.
    """
    if empty is None:
        site.world("empty")
    else:
        site.start_from(empty, static)
    with fake_model(MODEL_DELAY_S, seed=numbers.seed) as address:
        many = (numbers.writers, numbers.labellers, numbers.reviewers)
        crew = Crew(site, address, has_one_worker=numbers.has_one_worker)
        with site.calling(**crew.shared) as call:
            try:
                crew.start_broker()
                jobs = call("bench.chaos.scene", "set_up", str(site.folder), *many, address)
                crew.start()
                people, faults = _work(crew, jobs, numbers, disturb)
            finally:
                crew.stop()
            stored = TypeAdapter(Stored).validate_python(call("bench.chaos.scene", "stored"))
    logs = [person.log for person in people]
    vendor = "PostgreSQL" if site.database_url else "SQLite"
    return Outcome(vendor, faults, logs, stored, problems(logs, stored))


def _work(
    crew: Crew, jobs: dict[str, Any], numbers: Numbers, disturb: Disturb | None
) -> tuple[list[Person], Counter[str]]:
    dice, over = random.Random(numbers.seed), threading.Event()  # noqa: S311 - no secret
    kinds: dict[str, type[Person]] = {"writers": Writer, "labellers": Labeller, "reviewers": Reviewer}
    people = [
        kind(job, crew.ports, random.Random(dice.random()), over)  # noqa: S311 - no secret
        for name, kind in kinds.items()
        for job in jobs[name]
    ]
    threads = [threading.Thread(target=person.run, daemon=True) for person in people]
    for thread in threads:
        thread.start()
    time.sleep(QUIET_S)
    done = disturb(crew, people) if disturb else _draw(crew, people, numbers, dice)
    crew.start()
    time.sleep(QUIET_S)
    until = time.monotonic() + DELIVER_S
    for person in people:
        person.until = until
    over.set()
    for thread in threads:
        thread.join(DELIVER_S + 30)
    return people, done


def _draw(crew: Crew, people: list[Person], numbers: Numbers, dice: random.Random) -> Counter[str]:
    faults = Faults(crew, people, crew.site.database, dice)
    faults.make(numbers.faults)
    faults.settle()
    return faults.done
