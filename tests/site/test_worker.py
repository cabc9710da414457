"""A real worker on the configured broker (a folder; Redis where the suite has it) does what it is told of."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.verbs import site_in

pytestmark = pytest.mark.broker
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
WRITE = """
import django
django.setup()
from annotation.models import Annotator
from tests.makers import NOW, fill_missing, make_session
ben = Annotator.objects.create(label="Ben", created_at=NOW)
session = make_session(annotator=ben, state="submitted", revisions=[(300_000, "- the ferry leaves at six [1]")])
fill_missing(session=session, now=NOW)
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A site of its own: database and folders here, the broker as configured."""
    return site_in(tmp_path, LOG_LEVEL="INFO")


@pytest.fixture
def worker(environment: dict[str, str], tmp_path: Path, empty_database: Path) -> Iterator[subprocess.Popen[bytes]]:
    shutil.copy(empty_database, tmp_path)
    celery = ["celery", "-A", "summhay_site", "worker", "--pool", "solo", "--loglevel", "INFO"]
    command = [sys.executable, "-m", *celery]
    with (tmp_path / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def count(tmp_path: Path, table: str) -> int:
    with sqlite3.connect(tmp_path / "db.sqlite3", timeout=10) as database:
        (found,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
    return int(found)


def test_a_snapshot_is_judged_by_the_worker_without_being_asked_for(
    worker: subprocess.Popen[bytes], environment: dict[str, str], tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-c", WRITE], cwd=ROOT, env=environment, check=True)
    assert count(tmp_path, "annotation_snapshot") == 1
    wanted = {"benchmarks_verdict": 3, "annotation_copycheck": 1}  # tasks of two queues, in any order
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and {table: count(tmp_path, table) for table in wanted} != wanted:
        assert worker.poll() is None, (tmp_path / "worker.log").read_text()[-2000:]
        time.sleep(0.3)
    log = (tmp_path / "worker.log").read_text()[-2000:]
    assert {table: count(tmp_path, table) for table in wanted} == wanted, log
    with sqlite3.connect(tmp_path / "db.sqlite3", timeout=10) as database:
        [(name, queues)] = database.execute("SELECT name, queues FROM summhay_site_workerheartbeat").fetchall()
    assert name.startswith("celery@")
    assert json.loads(queues) == sorted(settings.QUEUES)
