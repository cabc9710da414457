"""One run: set up, let people work, make faults, calm down, compare."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from pydantic import TypeAdapter

from bench.chaos.checking import Log, Stored, problems
from bench.chaos.people import Labeller, Person, Reviewer, Writer
from bench.site import WEB, Member, Site, fake_model, free_port

QUIET_S, DELIVER_S = 2.0, 150.0
"""Work before the first and after the last fault; in which everything that was kept has to arrive afterwards."""
MODEL_DELAY_S, READY_S = 0.05, 180.0
GAP_S = (0.1, 0.7)
"""Between two faults."""
FREEZE_S, DOWN_S, HOLD_S = (0.2, 2.0), (0.0, 1.5), (0.2, 1.5)
TOLD_EVERY = 100
GROWN_UP_S = 3.0
"""A process that started more recently than this is left alone, or nothing would ever be up."""
QUEUES = {
    "worker": "summhay-short,summhay-imports",
    "figures": "summhay-figures",
    "models": "summhay-models",
}
WEIGHTS = {
    "web process killed": 16, "web server killed": 4, "web server replaced": 2, "web process frozen": 10,
    "web server frozen": 4, "worker process killed": 8, "worker killed": 3, "worker frozen": 8, "beat killed": 2,
    "beat frozen": 2, "broker killed": 5, "broker frozen": 5, "database connections cut": 10,
    "database held": 6, "client connection cut": 12, "page closed and opened again": 9,
}  # fmt: skip


@dataclass
class Crew:
    """Two web servers, a worker for each kind of queue or one for all, beat, and Redis where this machine has it.

    On PostgreSQL and Redis each process has a data folder of its own, as if it ran on a machine of its own.
    """

    site: Site
    model: str
    has_one_worker: bool = False
    members: dict[str, Member] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        broker: dict[str, str] = {}
        if redis := shutil.which("redis-server"):
            port = free_port()
            at = ["--port", str(port), "--bind", "127.0.0.1"]
            self._add("broker", [redis, *at, "--save", "", "--dir", str(self.site.folder)], {}, port)
            broker = {"CELERY_BROKER_URL": f"redis://127.0.0.1:{port}/0"}
        shared = self.shared = broker | {"OPENAI_BASE_URLS": self.model, "LOG_LEVEL": "WARNING"}
        for name in ("web-1", "web-2"):
            port = free_port()
            self._add(name, WEB, shared | {"PORT": str(port), "HOST": "127.0.0.1"}, port)
        celery = [sys.executable, "-m", "celery", "-A", "summhay_site"]
        queues_of = {"worker": ",".join(QUEUES.values())} if self.has_one_worker else QUEUES
        for name, queues in queues_of.items():
            self._add(name, [*celery, "worker", "-n", f"{name}@chaos", "-Q", queues, "--concurrency", "1"], shared)
        schedule = ["--schedule", str(self.site.folder / "beat"), "--pidfile="]
        self._add("beat", [*celery, "beat", *schedule], shared)

    def _add(self, name: str, command: Sequence[str], more: Mapping[str, str], port: int = 0) -> None:
        folder = self.site.folder
        environment = {**self.site.environment, **more}
        if self.site.database_url and "CELERY_BROKER_URL" in more:
            environment |= {"DATA_DIR": str(folder / name), "STATIC_ROOT": str(folder / "static")}
        self.members[name] = Member(name, command, environment, folder / f"{name}.log", port)

    @property
    def web(self) -> list[Member]:
        return [member for name, member in self.members.items() if name.startswith("web")]

    def start(self) -> None:
        """Thaw and start whatever is not up, and wait for the web servers; RuntimeError if one does not answer."""
        for member in self.members.values():
            member.thaw()
            member.start()
        for member in self.web:
            member.wait(within_s=READY_S)

    def stop(self) -> None:
        """End everything for good."""
        for member in self.members.values():
            member.end_for_good()


@dataclass
class Faults:
    """Faults, drawn by a seed: which fault comes next, whom it hits, how long it lasts.

    The seed fixes what is tried; what a process is doing at that moment is up to the machine. What ends a fault
    later, or replaces a server meanwhile, is a thread.
    """

    crew: Crew
    people: Sequence[Person]
    dice: random.Random
    done: Counter[str] = field(default_factory=Counter)
    threads: list[threading.Thread] = field(default_factory=list)

    def make(self, number: int) -> None:
        """Make so many faults, some moments apart, and wait until each of them is over."""
        kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
        while self.done.total() < number:
            kind = self.dice.choices(kinds, weights)[0]
            is_made = self._try(kind)
            self.done[kind] += is_made
            if is_made and self.done.total() % TOLD_EVERY == 0:
                self.crew.site.say(f"{self.done.total()} faults")
            time.sleep(self.dice.uniform(*GAP_S) if is_made else GAP_S[0])
        for thread in self.threads:
            thread.join()

    def _meanwhile(self, thread: threading.Thread) -> bool:
        thread.daemon = True
        thread.start()
        self.threads.append(thread)
        return True

    def _later(self, seconds: tuple[float, float], undo: Callable[[], object]) -> bool:
        return self._meanwhile(threading.Timer(self.dice.uniform(*seconds), undo))

    def _try(self, kind: str) -> bool:
        """Make one fault; false where there is nobody whom it could hit now."""
        if kind == "client connection cut":
            return self.dice.choice(self.people).line.cut()
        if kind == "page closed and opened again":
            self.dice.choice(self.people).is_closed = True
            return True
        if kind.startswith("database"):
            return self._cut() if kind.endswith("cut") else self._hold()
        who, what = kind.split(" ", 1)
        parts = {"web": ("web-1", "web-2"), "worker": ("worker", "figures", "models")}.get(who, (who,))
        members = [self.crew.members[name] for name in parts if name in self.crew.members]
        grown = [each for each in members if time.monotonic() - each.started > GROWN_UP_S and each.is_up()]
        return bool(grown) and self._hit(self.dice.choice(grown), what)

    def _hit(self, member: Member, what: str) -> bool:
        if what.startswith("process"):
            children = member.children()
            if not children:
                return False
            child = self.dice.choice(children)
            _signal(child, signal.SIGKILL if what.endswith("killed") else signal.SIGSTOP)
            return what.endswith("killed") or self._later(FREEZE_S, lambda: _signal(child, signal.SIGCONT))
        if what.endswith("killed"):
            member.kill()
            return self._later(DOWN_S, member.start)
        if what.endswith("frozen"):
            member.freeze()
            return self._later(FREEZE_S, member.thaw)
        return self._meanwhile(threading.Thread(target=member.replace))

    def _cut(self) -> bool:
        """End some of the connections to PostgreSQL."""
        if not self.crew.site.database_url:
            return False
        with psycopg.connect(self.crew.site.database, autocommit=True) as line:
            cut = line.execute(
                "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE datname ="
                " current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT %s) AS chosen",
                (self.dice.randint(1, 8),),
            )
            return cut.rowcount > 0

    def _hold(self) -> bool:
        """Keep everybody else from writing for a while."""
        database = self.crew.site.database
        line: psycopg.Connection | sqlite3.Connection
        if self.crew.site.database_url:
            line = psycopg.connect(database, options="-c lock_timeout=1s")
            statement = "LOCK TABLE annotation_session, annotation_labeltask IN EXCLUSIVE MODE"
        else:
            line = sqlite3.connect(database.removeprefix("sqlite:///"), timeout=1, check_same_thread=False)
            statement = "BEGIN IMMEDIATE"
        try:
            line.execute(statement)
        except (psycopg.OperationalError, sqlite3.OperationalError):  # somebody who is frozen holds it
            line.close()
            return False
        return self._later(HOLD_S, line.close)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Sizes of what is drawn; labellers are of each of two kinds.

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
    """Result of a run; `problems` is empty if all is well."""

    vendor: str
    faults: Counter[str]
    logs: list[Log]
    stored: Stored
    problems: list[str]


def run(
    site: Site,
    numbers: Numbers,
    *,
    empty: Path | None = None,
    static: Path | None = None,
    disturb: Callable[[Crew, list[Person]], Counter[str]] | None = None,
) -> Outcome:
    """Work on a site of its own under faults, which are drawn if nothing else shall happen.

    What `empty` and `static` name, a file with all tables and a folder of collected files, is copied and not made.
    `disturb` gives how often what happened. RuntimeError if the site does not start or come back.
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
                if "broker" in crew.members:  # it keeps what is sent until there are workers
                    crew.members["broker"].start()
                jobs = call("bench.chaos.scene", "set_up", *many, address)
                crew.start()
                people, faults = _work(crew, jobs, numbers, disturb)
            finally:
                crew.stop()
            stored = TypeAdapter(Stored).validate_python(call("bench.chaos.scene", "stored"))
    logs = [person.log for person in people]
    vendor = "PostgreSQL" if site.database_url else "SQLite"
    return Outcome(vendor, faults, logs, stored, problems(logs, stored))


def _work(
    crew: Crew,
    jobs: dict[str, Any],
    numbers: Numbers,
    disturb: Callable[[Crew, list[Person]], Counter[str]] | None,
) -> tuple[list[Person], Counter[str]]:
    dice, over = random.Random(numbers.seed), threading.Event()  # noqa: S311 - no secret
    kinds: dict[str, type[Person]] = {"writers": Writer, "labellers": Labeller, "reviewers": Reviewer}
    ports = [member.port for member in crew.web]
    people = [
        kind(job, ports, random.Random(dice.random()), over)  # noqa: S311 - no secret
        for name, kind in kinds.items()
        for job in jobs[name]
    ]
    threads = [threading.Thread(target=person.run, daemon=True) for person in people]
    for thread in threads:
        thread.start()
    time.sleep(QUIET_S)
    if disturb:
        done = disturb(crew, people)
    else:
        faults = Faults(crew, people, dice)
        faults.make(numbers.faults)
        done = faults.done
    crew.start()
    time.sleep(QUIET_S)
    until = time.monotonic() + DELIVER_S
    for person in people:
        person.until = until
    over.set()
    for thread in threads:
        thread.join(DELIVER_S + 30)
    return people, done
