"""PostgreSQL that is frozen: health is answered, pages say so instead of hanging, and a thaw mends it all."""

import json
import os
import pwd
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from bench.site import WEB, free_port
from summhay_site.postgresql import limits
from tests.conftest import ON_POSTGRESQL
from tests.running import wait_for

ROOT = Path(__file__).resolve().parents[2]
VISITOR = {"cookie": "sessionid=abcdefghijklmnopqrstuvwxyz012345"}
"""Somebody who has to be looked up, and is not there."""
JSON = VISITOR | {"accept": "application/json"}
THREADS = 4
pytestmark = [
    pytest.mark.broker,
    pytest.mark.django_db,  # else there is no database of the suite to copy where these run alone
    pytest.mark.skipif(not ON_POSTGRESQL or shutil.which("initdb") is None, reason="needs PostgreSQL's programs"),
]


def as_postgres(folder: Path) -> dict[str, Any]:
    """How programs of PostgreSQL are started, which never run as root; the folder becomes theirs."""
    if os.getuid() != 0:
        return {}
    account = pwd.getpwnam("postgres")
    os.chown(folder, account.pw_uid, account.pw_gid)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


class Postgres:
    """A PostgreSQL of our own, which can be frozen."""

    def __init__(self, folder: Path) -> None:
        self.port, self.folder = free_port(), folder
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        whose = as_postgres(folder)
        data = f"{folder}/data"
        made = ["initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", data]
        subprocess.run(made, check=True, capture_output=True, cwd=folder, **whose)
        options = ("listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", "fsync=off")
        bindir = subprocess.run(
            ["pg_config", "--bindir"], check=True, capture_output=True, text=True
        ).stdout.strip()
        command = [f"{bindir}/postgres", "-D", data, "-p", f"{self.port}"]
        command += [part for option in options for part in ("-c", option)]
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, **whose)
        wait_for(self.answers, seconds=60)

    def answers(self) -> bool:
        with suppress(psycopg.Error), psycopg.connect(self.url, connect_timeout=5) as line:
            return line.execute("SELECT 1").fetchone() == (1,)
        return False

    def freeze(self) -> None:
        """Stop every process, the one that starts others first."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        self.process.send_signal(number)
        for child in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(child), number)

    def stop(self) -> None:
        self.thaw()
        self.process.send_signal(signal.SIGINT)  # its fast way to end
        self.process.wait(timeout=60)


@pytest.fixture(scope="module")
def postgres(django_db_setup: None) -> Iterator[Postgres]:
    """A server with the tables of the suite and no data."""
    known = connection.settings_dict
    source = {f"PG{name}": str(known[name]) for name in ("HOST", "PORT", "USER", "PASSWORD") if known[name]}
    dump = ["pg_dump", "--no-owner", "--no-privileges", str(known["NAME"])]
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    server = Postgres(folder)
    try:
        tables = subprocess.run(dump, env=os.environ | source, check=True, capture_output=True).stdout
        load = ["psql", "--quiet", "--set=ON_ERROR_STOP=1", server.url.replace("postgres://", "postgresql://")]
        subprocess.run(load, input=tables, check=True, stdout=subprocess.DEVNULL)
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def environment(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """That of a site with two web processes of two threads, whose pages wait three seconds."""
    return {key: value for key, value in os.environ.items() if key != "CELERY_BROKER_URL"} | {
        "DJANGO_SETTINGS_MODULE": "summhay_site.settings",
        "DATA_DIR": str(tmp_path_factory.mktemp("frozen")),
        "DATABASE_URL": f"{postgres.url}?connect_timeout=3",
        "DATABASE_PAGE_TIMEOUT_S": "3",
        "DATABASE_LOCK_TIMEOUT_S": "1",
        "WEB_WORKERS": "2",
        "WEB_THREADS": f"{THREADS // 2}",
        "PORT": f"{free_port()}",
    }


@pytest.fixture(scope="module")
def site(environment: dict[str, str]) -> Iterator[int]:
    """The port of the site, served as it is in production."""
    port = int(environment["PORT"])
    collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
    subprocess.run(collect, cwd=ROOT, env=environment, check=True)
    with subprocess.Popen(WEB, cwd=ROOT, env=environment) as server:
        wait_for(lambda: ask(port, "/health/").status == 200, seconds=120)
        yield port
        server.terminate()


@pytest.fixture(scope="module")
def worker(environment: dict[str, str]) -> Iterator[None]:
    """A worker, with beat in it."""
    command = ["celery", "-A", "summhay_site", "worker", "--beat", "--concurrency", "1", "--loglevel", "ERROR"]
    with subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT, env=environment) as process:
        yield
        process.terminate()


class Answer:
    """What came for a request, and after how many seconds; status 0 where nothing came."""

    status, text, seconds = 0, "", 0.0


def ask(port: int, path: str, headers: dict[str, str] | None = None) -> Answer:
    answer, began = Answer(), time.monotonic()
    with suppress(OSError, HTTPException):
        line = HTTPConnection("127.0.0.1", port, timeout=60)
        line.request("GET", path, headers=headers or {})
        response = line.getresponse()
        answer.status, answer.text = response.status, response.read().decode()
    answer.seconds = time.monotonic() - began
    return answer


def last_heartbeat(postgres: Postgres) -> float:
    with psycopg.connect(postgres.url) as line:
        row = line.execute("SELECT extract(epoch FROM max(at)) FROM summhay_site_workerheartbeat").fetchone()
    return float(row[0] or 0) if row else 0.0


@pytest.mark.nightly  # by day `test_unavailable` cuts connections
def test_health_is_answered_while_every_thread_waits_and_all_goes_on_when_the_database_thaws(
    postgres: Postgres, site: int, worker: None
) -> None:
    wait_for(lambda: ask(site, "/", VISITOR).status == 302, seconds=60)
    wait_for(lambda: last_heartbeat(postgres) > 0, seconds=180)
    assert ask(site, "/health/").status == 200
    answers: list[Answer] = []
    threads = [
        threading.Thread(
            target=lambda n=n: answers.append(ask(site, "/", JSON if n % 2 else VISITOR)), daemon=True
        )
        for n in range(3 * THREADS)
    ]
    postgres.freeze()
    try:
        for thread in threads:
            thread.start()
        time.sleep(1)
        assert not answers, "all wait for the database"
        known = [ask(site, "/health/") for _ in range(7)]
        ready = [ask(site, "/ready/") for _ in range(5)]
        for thread in threads:
            thread.join(60)
    finally:
        postgres.thaw()
        thawed = time.time()
    assert {answer.status for answer in known} == {503}
    assert statistics.median(answer.seconds for answer in known) < 2
    assert {answer.status for answer in ready} == {503}
    assert max(answer.seconds for answer in ready) < 2
    ages = [json.loads(answer.text)["answered_s_ago"] for answer in known]
    assert max(age or 0 for age in ages) > 0, "how old is what is known; null from a process never asked before"
    assert [answer.status for answer in answers] == [503] * len(threads), "a page, not a hang"
    pages = [answer.text for answer in answers if "<h1>" in answer.text]
    assert len(pages) == len(threads) / 2
    assert all("cannot be reached right now" in page for page in pages)
    assert sum('"code": "unavailable"' in answer.text for answer in answers) == len(threads) / 2
    wait_for(lambda: ask(site, "/health/").status == 200, seconds=60)
    for _ in range(2 * THREADS):
        wait_for(lambda: ask(site, "/", VISITOR).status == 302, seconds=60)
    wait_for(lambda: last_heartbeat(postgres) > thawed, seconds=180)


def test_a_page_does_not_wait_long_for_a_lock(postgres: Postgres, site: int) -> None:
    with psycopg.connect(postgres.url) as other:
        other.execute("LOCK TABLE django_session IN ACCESS EXCLUSIVE MODE")
        answer = ask(site, "/", VISITOR)
        wait_for(lambda: ask(site, "/health/").status == 200, seconds=30)
    assert answer.status == 503
    assert "took too long" in answer.text
    assert ask(site, "/", VISITOR).status == 302


def _shown(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])


def test_commands_have_longer_and_migrations_have_no_limit(db: None) -> None:
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    assert [_shown(name) for name in names] == ["15min", "15min", "15min"]
    with limits.lifted():
        assert [_shown(name) for name in names] == ["0", "0", "0"]
    assert [_shown(name) for name in names] == ["15min", "15min", "15min"]
