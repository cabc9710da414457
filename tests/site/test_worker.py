"""A real worker on the configured broker (a folder; Redis where the suite has it) does what it is told of."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from bench.site import ROOT, Member
from tests.running import wait_for
from tests.verbs import site_in

pytestmark = pytest.mark.broker
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
def worker(environment: dict[str, str], tmp_path: Path, empty_database: Path) -> Iterator[Member]:
    shutil.copy(empty_database, tmp_path)
    celery = ["celery", "-A", "summhay_site", "worker", "--pool", "solo", "--loglevel", "INFO"]
    member = Member("worker", [sys.executable, "-m", *celery], environment, tmp_path / "worker.log")
    member.start()
    yield member
    member.kill()


def count(tmp_path: Path, table: str) -> int:
    with sqlite3.connect(tmp_path / "db.sqlite3", timeout=10) as database:
        (found,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
    return int(found)


def test_a_snapshot_is_judged_by_the_worker_without_being_asked_for(
    worker: Member, environment: dict[str, str], tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-c", WRITE], cwd=ROOT, env=environment, check=True)
    assert count(tmp_path, "annotation_snapshot") == 1
    wanted = {"benchmarks_verdict": 3, "annotation_copycheck": 1}  # tasks of two queues, in any order

    def is_done() -> bool:
        assert worker.is_running(), worker.last_words()
        return {table: count(tmp_path, table) for table in wanted} == wanted

    wait_for(is_done, seconds=60)
    with sqlite3.connect(tmp_path / "db.sqlite3", timeout=10) as database:
        [(name, queues)] = database.execute("SELECT name, queues FROM summhay_site_workerheartbeat").fetchall()
    assert name.startswith("celery@")
    assert json.loads(queues) == sorted(settings.QUEUES)
