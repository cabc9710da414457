"""A worker that is killed in the middle of a run of a model: the next one repeats at most what was in flight."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fake_openai import MODEL, serving

pytestmark = [pytest.mark.own_database, pytest.mark.nightly]  # by day `test_worker_crew` kills one, on PostgreSQL
ROOT = Path(__file__).resolve().parents[3]
AT_A_TIME = 8
PER_CALL = (100 * 2 + 10 * 9) / 1_000_000
"""US dollars for the tokens that the server counts, at the price of `SCENE`."""
SCENE = """
from django.utils import timezone
from datetime import date
from benchmarks.engine import versions
from benchmarks.models import ModelPrice
from tests.makers import make_haystack, make_summary
for subtopic in make_haystack().subtopics.all():
    for n in range(20):
        make_summary(subtopic=subtopic, text=f"- Remark {n}.", system=f"s{n}")
ModelPrice.objects.create(model=MODEL, valid_from=date(2020, 1, 1), input_per_million=2, output_per_million=9)
versions.ensure_judge(name="sparrow", kind="openai", now=timezone.now(),
                            config={"base_url": ADDRESS, "model": MODEL})
"""


@pytest.fixture
def manage(tmp_path: Path):
    def start(*args: str, address: str = "") -> subprocess.Popen[str]:
        env = {**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3"}
        env |= {"OPENAI_BASE_URLS": address or "http://127.0.0.1:9/v1", "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [sys.executable, "manage.py", *args], cwd=ROOT, env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return start


def _run(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def test_killing_the_worker_repeats_at_most_the_requests_in_flight(
    manage, tmp_path: Path, empty_database: Path
) -> None:
    shutil.copy(empty_database, tmp_path)
    with serving(delay_s=0.1) as server:
        scene = f"ADDRESS, MODEL = {server.address!r}, {MODEL!r}\n{SCENE}"
        _run(manage("shell", "-v0", "-c", scene, address=server.address))
        command = ("run_judge", "sparrow", "--json", "--concurrency", str(AT_A_TIME))
        victim = manage(*command, address=server.address)
        deadline = time.monotonic() + 60
        while server.n_asked < 40 and time.monotonic() < deadline:
            time.sleep(0.01)
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        time.sleep(0.3)
        asked_before = server.n_asked
        with sqlite3.connect(tmp_path / "db.sqlite3") as book:
            kept = book.execute("SELECT count(*) FROM benchmarks_verdict").fetchone()[0]
        assert 0 < kept < 100
        assert asked_before - kept <= AT_A_TIME
        report = json.loads(_run(manage(*command, address=server.address)))
        assert (report["calls"], report["cached"]) == (100 - kept, kept)
        assert (report["failed"], report["held_elsewhere"]) == (0, 0)
        assert report["cost"] == pytest.approx((100 - kept) * PER_CALL)
        with sqlite3.connect(tmp_path / "db.sqlite3") as book:
            of_calls = "SELECT count(*), sum(prompt_tokens) FROM benchmarks_judgecall WHERE state = 'answered'"
            assert book.execute(of_calls).fetchone() == (100, 100 * 100)
            assert book.execute("SELECT count(*) FROM benchmarks_verdict").fetchone() == (100,)
        assert server.n_asked - 100 <= AT_A_TIME
        again = json.loads(_run(manage(*command, address=server.address)))
        assert (again["calls"], again["cached"], again["cost"]) == (0, 100, 0.0)
        assert server.n_asked - 100 <= AT_A_TIME
