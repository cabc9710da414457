"""Two web servers, one after the other replaced under load: each request is answered, at once or by the other."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PEOPLE = 6
pytestmark = [pytest.mark.own_database, pytest.mark.nightly]  # by day `test_web_worker` stops one


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """One web server of a site, on a port of its own."""

    def __init__(self, database: Path, folder: Path) -> None:
        self.port = free_port()
        folder.mkdir(mode=0o700)
        self.environment = os.environ | {
            "DATA_DIR": str(folder),
            "DATABASE_URL": f"sqlite:///{database}",
            "SECRET_KEY": "two servers of one site" * 3,
            "CELERY_BROKER_URL": "memory://",
            "DJANGO_SETTINGS_MODULE": "summhay_site.settings",
            "DEBUG": "1",
            "PORT": str(self.port),
        }
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "-c", "python:summhay_site.gunicorn", "summhay_site.wsgi"]
        self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stderr=subprocess.DEVNULL)

    def wait(self) -> None:
        until = time.monotonic() + 180
        while time.monotonic() < until:
            try:
                if ask(self.port, "GET", "/ready/") == 200:
                    return
            except (OSError, HTTPException):
                time.sleep(0.3)
        raise AssertionError("the server did not start")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0


def ask(port: int, method: str, path: str) -> int:
    """One request on a connection of its own, as a proxy sends it; gives the status."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.connect()  # refused here means that nothing was sent
    try:
        connection.request(method, path, body=b"x=1" if method == "POST" else None)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


@pytest.fixture
def servers(empty_database: Path, tmp_path: Path) -> Iterator[list[Server]]:
    database = tmp_path / "db.sqlite3"
    shutil.copy(empty_database, database)
    made = [Server(database, tmp_path / name) for name in ("one", "two")]
    try:
        for server in made:
            server.wait()
        yield made
    finally:
        for server in made:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()


def test_servers_are_replaced_under_load_and_no_request_is_lost(servers: list[Server]) -> None:
    over = threading.Event()
    counted: Counter[str] = Counter()
    lock = threading.Lock()

    def note(what: str) -> None:
        with lock:
            counted[what] += 1

    def person(number: int) -> None:
        turn = number
        while not over.is_set():
            method = "POST" if turn % 3 == 0 else "GET"
            for attempt in range(2):  # the other server, as `proxy_next_upstream` does
                try:
                    status = ask(servers[(turn + attempt) % 2].port, method, "/login/")
                except ConnectionRefusedError:
                    note("sent to the other one")
                except (OSError, HTTPException) as error:
                    note(f"lost: {type(error).__name__}")
                    break
                else:
                    note(f"{method} {status}")
                    break
            else:
                note("lost: refused by both")
            turn += 1

    people = [threading.Thread(target=person, args=(number,), daemon=True) for number in range(PEOPLE)]
    for thread in people:
        thread.start()
    for server in (*servers, *servers):
        time.sleep(2)
        server.stop()
        server.start()
        server.wait()
    time.sleep(2)
    over.set()
    for thread in people:
        thread.join(60)
    print(dict(counted))
    assert {what for what in counted if what.startswith("lost")} == set(), counted
    assert set(counted) == {"GET 200", "POST 403", "sent to the other one"}
    assert counted["sent to the other one"] > 0
    assert counted["GET 200"] > 100
