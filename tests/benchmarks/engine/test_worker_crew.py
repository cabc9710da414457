"""Worker processes side by side at one server: one limit, one budget, nothing asked twice."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from benchmarks.engine import judging
from benchmarks.models import JudgeCall, JudgeRun, KeyPoint, Response
from tests.benchmarks.engine.budgeted import Till, make_judge, price, request, uneven
from tests.fake_openai import Answer, serving
from tests.makers import make_haystack
from tests.makers_recall import make_response

pytestmark = pytest.mark.contended
ROOT = Path(__file__).resolve().parents[3]
WORKER = """
from django.utils import timezone
from benchmarks.engine import judging
from benchmarks.models import JudgeRun
judging.BATCH_OF_MODELS = 2
for run in JudgeRun.objects.select_related("judge").order_by("-pk" if TURN % 2 else "pk"):
    judging.run_pending(run=run, clock=timezone.now)
"""


class Crew:
    """Worker processes on the test's data: on a copy in a file with SQLite, else on the test's own database."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address, self.file = folder, address, folder / "db.sqlite3"
        at = connection.settings_dict
        if connection.vendor == "sqlite":
            self.url = f"sqlite:///{self.file}"
            with closing(sqlite3.connect(self.file)) as copy:
                connection.connection.backup(copy)
        else:
            self.url = f"postgres://{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{at['PORT']}/{at['NAME']}"

    def start(self, n: int, **settings: str) -> list[subprocess.Popen[str]]:
        """Workers that take up all runs; every other one begins with the newest."""
        env = {**os.environ, "DATA_DIR": str(self.folder), "DATABASE_URL": self.url, "PYTHONPATH": str(ROOT)}
        env |= {"OPENAI_BASE_URLS": self.address, **settings}
        command = [sys.executable, "manage.py", "shell", "-v0", "-c"]
        return [
            subprocess.Popen(
                [*command, f"TURN = {turn}\n{WORKER}"], cwd=ROOT, env=env, text=True, stderr=subprocess.PIPE
            )
            for turn in range(n)
        ]

    def finish(self, workers: list[subprocess.Popen[str]]) -> None:
        """Wait for them, and bring their rows back to the test."""
        for process in workers:
            _out, err = process.communicate(timeout=300)
            assert process.returncode == 0, err
        if connection.vendor == "sqlite":
            with closing(sqlite3.connect(self.file)) as copy:
                copy.backup(connection.connection)


@pytest.mark.django_db(transaction=True)
def test_two_workers_on_one_run_keep_its_cap_and_so_does_the_one_after_a_kill(tmp_path: Path, settings) -> None:
    with serving(delay_s=0.05) as server:
        settings.OPENAI_BASE_URLS = [server.address]
        till, peak = Till(share=0.5, lose=lambda n: n % 7 == 0), [Decimal(0)]

        def behave(number: int, body: dict[str, Any]) -> Answer:
            answer = till(number, body)
            peak[0] = max(peak[0], till.taken)
            return answer

        server.behaviour = behave
        price()
        uneven(make_haystack().subtopics.get(number=1), 10)
        request(make_judge(server), budget=Decimal("0.5"), concurrency=4)
        crew = Crew(tmp_path, server.address)
        victim, other = crew.start(2)
        deadline = time.monotonic() + 120
        while server.n_asked < 4 and time.monotonic() < deadline:
            time.sleep(0.005)
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        crew.finish([other])
        crew.finish(crew.start(1))
    assert JudgeRun.objects.get().state == JudgeRun.State.PAUSED
    assert server.n_asked >= 4
    assert peak[0] <= Decimal("0.5")
    n_claimed = sum(JudgeCall.objects.values_list("n_sent", flat=True))
    assert server.n_asked <= n_claimed <= server.n_asked + 4, (
        "on record before it is sent; four died unsent at most"
    )


@pytest.mark.django_db(transaction=True)
def test_judges_tasks_and_workers_at_one_server_keep_one_limit_and_ask_everything_once(
    tmp_path: Path, settings
) -> None:
    yes = {"content": [{"top_logprobs": [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -3}]}]}
    with serving(delay_s=0.02) as server:
        settings.OPENAI_BASE_URLS = [server.address]
        server.behaviour = lambda n, body: Answer("yes", logprobs=yes) if "logprobs" in body else None
        uneven(make_haystack().subtopics.get(number=1), 10)
        for at in range(6):
            make_response(f"q{at}", system="heron", n_points=2, text="Alpha holds. " * (at + 1))
        judge, twin = make_judge(server), make_judge(server, "twin", model="other")
        request(judge, concurrency=6)
        request(twin, concurrency=6)
        asked: dict[str, Any] = {"reason": "test", "now": timezone.now()}
        judging.request_run(judge=judge, task="recall", subjects=Response.objects.all(), **asked)
        points = KeyPoint.objects.select_related("question")
        judging.request_run(judge=twin, task="autods", subjects=points, **asked)
        crew = Crew(tmp_path, server.address)
        crew.finish(crew.start(2, OPENAI_MAX_IN_FLIGHT="3"))
    assert server.most_at_a_time <= 3
    assert set(JudgeRun.objects.values_list("state", flat=True)) == {"done"}
    bodies = [json.dumps(body, sort_keys=True) for body in server.bodies]
    assert len(set(bodies)) == len(bodies) == 2 * 30 + 12 + 12
    assert KeyPoint.objects.exclude(autods=None).count() == 12
    shapes = {body["response_format"]["type"] for body in server.bodies if "logprobs" not in body}
    assert shapes == {"json_schema"}
