"""A broker that is frozen, or takes connections and never answers, holds up no request and loses no message."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from bench.site import ROOT, Member, free_port
from tests.running import wait_for
from tests.verbs import site_in

pytestmark = pytest.mark.own_database
REQUESTS = """
import json, sys, threading, time
import django
django.setup()
from django.test import Client
from benchmarks.tasks import resume_runs  # the first message also pays for imports, here not
def at_once(ask):
    took = []
    def timed(number):
        began = time.monotonic()
        took.append((ask(number).status_code, time.monotonic() - began))
    threads = [threading.Thread(target=timed, args=[number], daemon=True) for number in range(20)]
    for thread in threads: thread.start()
    until = time.monotonic() + 60
    for thread in threads: thread.join(max(0, until - time.monotonic()))
    return [s for s, _ in took], max([t for _, t in took], default=99)
host = {"host": "localhost"}
_, floor = at_once(lambda number: Client().get("/password/forgotten/", headers=host))
data = {number: {"email": f"p{number}@example.org"} for number in range(20)}
statuses, longest = at_once(lambda number: Client().post("/password/forgotten/", data[number], headers=host))
print(json.dumps({"statuses": statuses, "longest": longest, "floor": floor}), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def silent_server() -> Iterator[str]:
    """A TCP server that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


class Redis(Member):
    """A Redis of our own, which can be frozen."""

    def ask(self, command: str) -> str:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as line:
                line.sendall(command.encode() + b"\r\n")
                return line.recv(1000).decode().strip()
        except OSError:
            return ""


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server")
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    server = Redis("redis", command, os.environ, tmp_path / "log", port)
    server.start()
    wait_for(lambda: server.ask("PING") == "+PONG", seconds=10)
    yield server
    server.thaw()
    server.kill()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> dict[str, str]:
    """The environment of a site with a database of its own."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(empty_database, folder)
    return site_in(folder, EMAIL_URL="console://")


def start(site: dict[str, str], broker: str) -> subprocess.Popen[str]:
    """Twenty requests at once, each of which enqueues a message."""
    return subprocess.Popen(
        [sys.executable, "-c", REQUESTS],
        cwd=ROOT,
        env=site | {"CELERY_BROKER_URL": broker},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def read(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline()


def all_were_answered(line: str) -> bool:
    """All of them, in less time together than a few attempts to reach the broker take (5 s each).

    On a busy machine as many requests that need no broker (the floor) take long too.
    """
    answer = json.loads(line)
    return answer["statuses"] == [200] * 20 and answer["longest"] < max(10, 3 * answer["floor"])


@pytest.mark.nightly  # by day `test_slices` has a broker that takes nothing
def test_a_broker_that_accepts_and_never_answers_holds_up_no_request(
    silent_server: str, site: dict[str, str]
) -> None:
    process = start(site, silent_server)
    line = read(process)
    began = time.monotonic()
    process.communicate("\n", timeout=90)
    assert all_were_answered(line), line
    assert time.monotonic() - began < 60, "the end of a process waits for the broker, but not for each message"


@pytest.mark.nightly
def test_what_a_frozen_broker_could_not_take_is_delivered_when_it_thaws(
    redis: Redis, site: dict[str, str]
) -> None:
    redis.freeze()
    process = start(site, f"redis://127.0.0.1:{redis.port}/0")
    line = read(process)
    assert all_were_answered(line), line
    redis.thaw()
    wait_for(lambda: redis.ask(f"LLEN {settings.SHORT}") == ":20", seconds=60)
    process.communicate("\n", timeout=60)


def test_the_last_hint_of_a_process_is_delivered_before_it_ends(redis: Redis, site: dict[str, str]) -> None:
    start(site, f"redis://127.0.0.1:{redis.port}/0").communicate("\n", timeout=60)
    assert redis.ask(f"LLEN {settings.SHORT}") == ":20"
