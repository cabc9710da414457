"""What goes wrong, drawn by a seed: which fault comes next, whom it hits, how long it lasts.

The seed fixes what is tried; what a process is doing at that moment is up to the machine.
"""

from __future__ import annotations

import heapq
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import psycopg

from bench.chaos.browser import Person
from bench.chaos.crew import Crew
from bench.processes import Member

GAP_S = (0.1, 0.7)
"""Between two faults."""
FREEZE_S, DOWN_S, HOLD_S = (0.2, 2.0), (0.0, 1.5), (0.2, 1.5)
TOLD_EVERY = 100
GROWN_UP_S = 3.0
"""A process that started more recently than this is left alone, or nothing would ever be up."""

WEIGHTS = {
    "web process killed": 16, "web server killed": 4, "web server replaced": 2, "web process frozen": 10,
    "web server frozen": 4, "worker process killed": 8, "worker killed": 3, "worker frozen": 8, "beat killed": 2,
    "beat frozen": 2, "broker killed": 5, "broker frozen": 5, "database connections cut": 10,
    "database held": 6, "client connection cut": 12, "page closed and opened again": 9,
}  # fmt: skip


@dataclass
class Faults:
    """Makes faults until there were enough; what it undoes later waits in `due`."""

    crew: Crew
    people: Sequence[Person]
    database: str
    dice: random.Random
    done: Counter[str] = field(default_factory=Counter)
    due: list[tuple[float, int, Callable[[], object]]] = field(default_factory=list)
    n_planned: int = 0
    replacing: list[threading.Thread] = field(default_factory=list)

    def make(self, number: int) -> None:
        """Make so many faults, some moments apart."""
        kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
        while self.done.total() < number:
            kind = self.dice.choices(kinds, weights)[0]
            is_made = self._try(kind)
            self.done[kind] += is_made
            if is_made and self.done.total() % TOLD_EVERY == 0:
                self.crew.site.say(f"{self.done.total()} faults")
            self._wait(self.dice.uniform(*GAP_S) if is_made else GAP_S[0])

    def settle(self) -> None:
        """Undo at once what would be undone later."""
        while self.due:
            heapq.heappop(self.due)[2]()
        for thread in self.replacing:
            thread.join()

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self.due and self.due[0][0] <= until:
            at, _number, undo = heapq.heappop(self.due)
            time.sleep(max(0.0, at - time.monotonic()))
            undo()
        time.sleep(max(0.0, until - time.monotonic()))

    def _later(self, seconds: float, undo: Callable[[], object]) -> None:
        self.n_planned += 1
        heapq.heappush(self.due, (time.monotonic() + seconds, self.n_planned, undo))

    def _try(self, kind: str) -> bool:
        """Make one fault; false where there is nobody whom it could hit now."""
        if kind == "client connection cut":
            return self.dice.choice(self.people).line.cut()
        if kind == "page closed and opened again":
            self.dice.choice(self.people).close_page()
            return True
        if kind == "database connections cut":
            return self._cut()
        if kind == "database held":
            return self._hold()
        who, what = kind.split(" ", 1)
        member = self._one_of(who)
        return member is not None and self._hit(member, what)

    def _one_of(self, who: str) -> Member | None:
        """A process of this part of the site that is up."""
        parts = {"web": ("web-1", "web-2"), "worker": ("worker", "figures", "models")}.get(who, (who,))
        members = [self.crew.members[name] for name in parts if name in self.crew.members]
        grown = [each for each in members if time.monotonic() - each.started > GROWN_UP_S and each.is_up()]
        return self.dice.choice(grown) if grown else None

    def _hit(self, member: Member, what: str) -> bool:
        if what == "process killed" or (what == "process frozen"):
            return self._hit_child(member, what)
        if what.endswith("killed"):
            member.kill()
            self._later(self.dice.uniform(*DOWN_S), member.start)
        elif what.endswith("frozen"):
            member.freeze()
            self._later(self.dice.uniform(*FREEZE_S), member.thaw)
        else:  # replaced, as by an update: it ends what it has begun
            self.replacing.append(threading.Thread(target=member.replace, daemon=True))
            self.replacing[-1].start()
        return True

    def _hit_child(self, member: Member, what: str) -> bool:
        children = member.children()
        if not children:
            return False
        child = self.dice.choice(children)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL if what.endswith("killed") else signal.SIGSTOP)
        if what.endswith("frozen"):
            self._later(self.dice.uniform(*FREEZE_S), lambda: _thaw(child))
        return True

    def _cut(self) -> bool:
        """End some of the connections to PostgreSQL."""
        if not self.database.startswith("postgres"):
            return False
        with psycopg.connect(self.database, autocommit=True) as line:
            cut = line.execute(
                "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE datname ="
                " current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT %s) AS chosen",
                (self.dice.randint(1, 8),),
            )
            return cut.rowcount > 0

    def _hold(self) -> bool:
        """Keep everybody else from writing for a while."""
        seconds = self.dice.uniform(*HOLD_S)
        if self.database.startswith("postgres"):
            line: psycopg.Connection | sqlite3.Connection = psycopg.connect(
                self.database, options="-c lock_timeout=1s"
            )
            statement = "LOCK TABLE annotation_session, annotation_labeltask IN EXCLUSIVE MODE"
        else:
            line = sqlite3.connect(self.database.removeprefix("sqlite:///"), timeout=1)
            statement = "BEGIN IMMEDIATE"
        try:
            line.execute(statement)
        except (psycopg.OperationalError, sqlite3.OperationalError):  # somebody who is frozen holds it
            line.close()
            return False
        self._later(seconds, line.close)
        return True


def _thaw(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)
