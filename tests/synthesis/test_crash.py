"""A synthesis that is killed again and again: it ends as one that was left alone, and asks nothing twice."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import orjson
import pytest

from tests.fake_openai import MODEL, FakeServer, serving
from tests.synthesis.scripted import Script

pytestmark = [pytest.mark.own_database, pytest.mark.nightly]  # by day runs are stopped between requests
ROOT = Path(__file__).resolve().parents[2]
AT_A_TIME = 4
SMALL = (
    *("--subtopics", "3", "--insights", "4", "--documents", "12", "--words", "60"),
    *("--in-documents", "3", "--in-document", "3", "5", "--audit", "20", "--concurrency", str(AT_A_TIME)),
)
TEXTS = """
    SELECT kind, number, state, text FROM benchmarks_synthesispart ORDER BY kind, number, generation
"""


class Home:
    """A database of its own, and the command on it."""

    def __init__(self, folder: Path, empty: Path, server: FakeServer) -> None:
        folder.mkdir()
        shutil.copy(empty, folder)
        self.folder, self.server = folder, server

    def start(self) -> subprocess.Popen[bytes]:
        """Begin, or go on with what another process began."""
        env = {**os.environ, "DATA_DIR": str(self.folder), "DATABASE_URL": f"sqlite:///{self.folder}/db.sqlite3"}
        env |= {"OPENAI_BASE_URLS": self.server.address, "PYTHONPATH": str(ROOT)}
        found = self.rows("SELECT uid FROM benchmarks_synthesis")
        what = ("--resume", found[0][0]) if found else ("--topic", "A small town", "--model", MODEL)
        command = [sys.executable, "manage.py", "synthesize", "haystack", *what, *SMALL]
        return subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self) -> None:
        """Run to the end."""
        process = self.start()
        _out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err.decode()[-2000:]

    def rows(self, query: str) -> list[tuple[str, ...]]:
        """What the database holds."""
        with sqlite3.connect(self.folder / "db.sqlite3", timeout=20) as book:
            return book.execute(query).fetchall()


def test_killed_at_random_moments_nothing_stored_is_asked_for_again_and_the_result_is_the_same(
    tmp_path: Path, empty_database: Path
) -> None:
    with serving(behaviour=Script(breaks=23, busy=29, fails=31)) as server:
        whole = Home(tmp_path / "whole", empty_database, server)
        whole.finish()
        expected = whole.rows(TEXTS)
    dice = random.Random(22)
    n_kills = 6
    with serving(behaviour=Script(), delay_s=0.05) as server:
        broken = Home(tmp_path / "broken", empty_database, server)
        for _kill in range(n_kills):
            process, until = broken.start(), server.n_asked + dice.randint(1, 20)
            deadline = time.monotonic() + 120
            while server.n_asked < until and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        broken.finish()
        assert broken.rows(TEXTS) == expected
        asked = Counter(orjson.dumps(body, option=orjson.OPT_SORT_KEYS) for body in server.bodies)
        n_again = sum(n - 1 for n in asked.values())
        assert n_again <= n_kills * AT_A_TIME, "only what was in flight may be lost"
        n_before = server.n_asked
        broken.finish()
        assert server.n_asked == n_before
