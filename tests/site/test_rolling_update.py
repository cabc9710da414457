"""Two web servers, one after the other replaced under load: each request is answered, at once or by the other."""

import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

from bench.site import WEB, Member, free_port
from tests.verbs import site_in

PEOPLE = 6
pytestmark = [pytest.mark.own_database, pytest.mark.nightly]  # by day `test_web_worker` stops one


def server_of(database: Path, folder: Path) -> Member:
    """One web server of a site, on a port of its own."""
    port = free_port()
    folder.mkdir(mode=0o700)
    more = {"SECRET_KEY": "two servers of one site" * 3, "CELERY_BROKER_URL": "memory://", "PORT": str(port)}
    environment = site_in(folder, DATABASE_URL=f"sqlite:///{database}", **more)
    return Member(folder.name, WEB, environment, folder / "log", port)


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
def servers(empty_database: Path, tmp_path: Path) -> Iterator[list[Member]]:
    database = tmp_path / "db.sqlite3"
    shutil.copy(empty_database, database)
    made = [server_of(database, tmp_path / name) for name in ("one", "two")]
    try:
        for server in made:
            server.start()
            server.wait()
        yield made
    finally:
        for server in made:
            server.end_for_good()


def test_servers_are_replaced_under_load_and_no_request_is_lost(servers: list[Member]) -> None:
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
        server.process.terminate()
        assert server.process.wait(60) == 0
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
