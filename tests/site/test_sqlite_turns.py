"""Writers of the SQLite file take turns: nobody waits for long, nobody waits for the dead."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from django.db import connection

from summhay_site import env
from summhay_site.sqlite.base import DatabaseWrapper, Turn

pytestmark = pytest.mark.own_database

HOLDER = """
import sys, time
from summhay_site.sqlite.base import Turn

turn = Turn(sys.argv[1], wait_s=5)
print("mine", flush=True)
time.sleep(60)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "db.sqlite3")


def test_a_plain_installation_queues_its_writers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    config = env.database("DATABASE_URL", default_path=tmp_path / "db.sqlite3")
    assert config["ENGINE"] == "summhay_site.sqlite"
    assert config["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


def test_threads_write_one_after_the_other(path: str) -> None:
    inside: list[int] = []
    most: list[int] = []

    def write() -> None:
        for _ in range(20):
            turn = Turn(path, wait_s=10)
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.0002)
            inside.pop()
            turn.give_back()

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (max(most), len(most)) == (1, 120)


def test_the_turn_of_a_killed_process_is_free_at_once(path: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "mine\n"
    threading.Timer(0.3, process.send_signal, [signal.SIGKILL]).start()
    began = time.monotonic()
    Turn(path, wait_s=30).give_back()
    assert 0.1 < time.monotonic() - began < 10
    process.wait()


def test_who_waited_long_enough_goes_on_and_leaves_it_to_the_database(path: str) -> None:
    first = Turn(path, wait_s=5)
    late = Turn(path, wait_s=0.05)
    late.give_back()
    late.give_back()
    first.give_back()
    began = time.monotonic()
    Turn(path, wait_s=30).give_back()
    assert time.monotonic() - began < 10


def test_a_folder_that_takes_no_file_is_no_obstacle(tmp_path: Path) -> None:
    Turn(str(tmp_path / "missing" / "db.sqlite3"), wait_s=5).give_back()


@pytest.mark.django_db
def test_a_transaction_holds_its_turn_until_it_is_over_however_it_ends(path: str) -> None:
    settings = connection.settings_dict | {
        "ENGINE": "summhay_site.sqlite",
        "NAME": path,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 5},
    }
    writer = DatabaseWrapper(settings, alias="turns")
    for finish in (writer.commit, writer.rollback, writer.close):
        writer.ensure_connection()
        writer.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
        assert writer._turn is not None
        finish()
        assert writer._turn is None
        if writer.connection is not None:
            writer.set_autocommit(True)
