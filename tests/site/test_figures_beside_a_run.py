"""A model runs for minutes; figures, heartbeats and the schedule go on beside it as if it did not.

The workers and beat are those of supervisord.conf, on the kind of broker that is configured; only the model server
is scripted.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from configparser import ConfigParser
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis

from bench.site import ROOT, Member
from summhay_site.operations.system import EVERY_S
from tests.fake_openai import FakeServer, serving
from tests.running import wait_for
from tests.site.beside_a_run import AT_A_TIME, N_REQUESTS
from tests.verbs import site_in

LASTS_S = float(os.environ.get("MODEL_RUN_S", "75"))
"""How long the run goes on: longer than the minute after which its task lets others in."""
pytestmark = [pytest.mark.nightly, pytest.mark.broker, pytest.mark.timeout(LASTS_S + 400)]

STALLS_S = 10.0
PAUSE_S = 3.0
LOOK_S = 20.0
"""More than figures take on a busy machine; behind a task of the run they would wait for a minute and longer."""
SETTLES_EVERY_S = 20.0
SLACK_S = 10.0
WORKERS = ("worker", "figures", "models")
REDIS_OF_THIS_TEST = "/11"
SETTLED = re.compile(r"^(\S+ \S+),\d+ .* Task annotation\.tasks\.settle_due\[\S+\] succeeded", re.MULTILINE)


class Model:
    """A model that stalls for ten seconds at each answer, and at the first for as long as it can, until let go."""

    def __init__(self) -> None:
        self.is_let_go = threading.Event()

    def answer(self, number: int, body: dict[str, Any]) -> None:
        self.is_let_go.wait(LASTS_S if number == 1 else STALLS_S)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[FakeServer]:
    with serving(behaviour=model.answer) as running:
        yield running
    model.is_let_go.set()


@pytest.fixture
def environment(tmp_path: Path, empty_database: Path, server: FakeServer) -> dict[str, str]:
    """A site of its own on the kind of broker that is configured: a folder, or a database of Redis of its own."""
    shutil.copy(empty_database, tmp_path)
    broker = {}
    if os.environ.get("CELERY_BROKER_URL", "").startswith("redis"):
        url = urlsplit(os.environ["CELERY_BROKER_URL"])._replace(path=REDIS_OF_THIS_TEST).geturl()
        redis.Redis.from_url(url).flushdb()
        broker = {"CELERY_BROKER_URL": url}
    return site_in(tmp_path, **broker, LOG_LEVEL="INFO", OPENAI_BASE_URLS=server.address)


@pytest.fixture
def crew(environment: dict[str, str], tmp_path: Path) -> Iterator[list[Member]]:
    """The processes of supervisord.conf but the web server, by their names there."""
    programs = ConfigParser(interpolation=None)
    programs.read(ROOT / "supervisord.conf")
    members = []
    for name in (*WORKERS, "beat"):
        command = programs[f"program:{name}"]["command"].replace("%%", "%")
        command = command.replace(".venv/bin/", f"{Path(sys.executable).parent}/")
        members.append(Member(name, ["/bin/sh", "-c", f"exec {command}"], environment, tmp_path / f"{name}.log"))
        members[-1].start()
    yield members
    for member in members:
        member.kill()


class Pulse:
    """Notes every heartbeat of every worker, beside what else happens."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self.beats: defaultdict[str, set[datetime]] = defaultdict(set)
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self) -> Pulse:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.thread.join(30)

    def watch(self) -> None:
        while not self.is_over.wait(0.5):
            for name, at in rows(self.database, "SELECT name, at FROM summhay_site_workerheartbeat"):
                self.beats[name.partition("@")[0]].add(datetime.fromisoformat(at))


@contextmanager
def looking(program: Sequence[str], study: str, environment: dict[str, str]) -> Iterator[Callable[[], float]]:
    """Somebody who changes labels and looks at their figures: gives after how many seconds they are there."""
    process = subprocess.Popen(
        [*program, "look", study], cwd=ROOT, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip

    def look() -> float:
        process.stdin.write("\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    yield look
    process.communicate(timeout=60)


def rows(database: Path, query: str, *values) -> list[Any]:
    with closing(sqlite3.connect(database, timeout=20)) as connection:
        return connection.execute(query, values).fetchall()


def longest_gap(moments: Sequence[datetime]) -> float:
    """In seconds; without a second moment it never ends."""
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(sorted(moments))]
    return max(gaps, default=float("inf"))


def test_a_long_run_of_a_model_delays_no_figure_and_no_heartbeat(
    crew: list[Member],
    environment: dict[str, str],
    tmp_path: Path,
    model: Model,
    server: FakeServer,
) -> None:
    database = tmp_path / "db.sqlite3"
    program = [sys.executable, "-m", "tests.site.beside_a_run"]
    made = json.loads(
        subprocess.run(
            [*program, "prepare", server.address], cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE
        ).stdout
    )

    def state_of_run() -> str:
        [(state,)] = rows(database, "SELECT state FROM benchmarks_judgerun WHERE uid = ?", made["run"])
        return str(state)

    wait_for(lambda: server.n_asked >= AT_A_TIME)
    took: list[float] = []
    with Pulse(database) as pulse, looking(program, made["study"], environment) as look:
        until = time.monotonic() + LASTS_S
        while time.monotonic() < until:
            took.append(look())
            time.sleep(PAUSE_S)
        assert state_of_run() == "running"
        n_asked = server.n_asked
    ended_at = datetime.now(UTC).replace(tzinfo=None)
    oldest = {name: round(longest_gap([*moments, ended_at]), 1) for name, moments in pulse.beats.items()}
    print(f"A model answered {n_asked} requests in {LASTS_S:.0f} s; each of {len(took)} figures took at most")
    print(f"{max(took):.1f} s, half of them {median(took):.1f} s; the oldest heartbeats, in seconds: {oldest}.")
    assert max(took) < LOOK_S, took
    assert n_asked > AT_A_TIME, "the run went on meanwhile"
    assert set(pulse.beats) == set(WORKERS)
    assert max(oldest.values()) < EVERY_S + SLACK_S, pulse.beats
    settled = [datetime.fromisoformat(at) for at in SETTLED.findall((tmp_path / "worker.log").read_text())]
    assert longest_gap(settled) < SETTLES_EVERY_S + SLACK_S, settled

    model.is_let_go.set()
    wait_for(lambda: state_of_run() == "done")
    assert rows(database, "SELECT count(*) FROM benchmarks_verdict") == [(N_REQUESTS,)]
    assert all(member.is_running() for member in crew)
