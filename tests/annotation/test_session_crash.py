"""Real processes on one database: killed in mid-save, saving the same thing at once, sweeping at once."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.annotation.crash_scene import LINE, N_SHARED
from tests.verbs import site_in

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.contended]


class Scene:
    """A database that several processes share, with one session in it."""

    def __init__(self, env: dict[str, str]) -> None:
        self.env = env
        self.session = str(self.result("prepare"))

    def begin(self, verb: str) -> subprocess.Popen[str]:
        args = [sys.executable, "-m", "tests.annotation.crash_scene", verb]
        args += [] if verb == "prepare" else [self.session]
        return subprocess.Popen(args, cwd=ROOT, env=self.env, stdout=subprocess.PIPE, text=True)

    def result(self, verb: str):
        return self.results(self.begin(verb))[-1]

    def results(self, process: subprocess.Popen[str]) -> list[Any]:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    env = site_in(tmp_path)
    if connection.vendor == "postgresql":
        db = connection.settings_dict
        server = f"{db['USER']}:{db['PASSWORD']}@{db['HOST']}:{db['PORT'] or 5432}"
        return Scene(env | {"DATABASE_URL": f"postgres://{server}/{db['NAME']}"})
    shutil.copy(request.getfixturevalue("empty_database"), tmp_path / "db.sqlite3")
    return Scene(env)


@pytest.mark.nightly  # by day a story in the browser kills its server
def test_a_server_killed_in_mid_save_loses_no_accepted_text(scene: Scene) -> None:
    answered = 0
    for enough in (12, 25, 31):
        process = scene.begin("save")
        for line in process.stdout:
            answered = json.loads(line)
            if answered >= enough:
                process.send_signal(signal.SIGKILL)
                break
        answered = max([answered, *(json.loads(line) for line in process.stdout if line.endswith("\n"))])
        assert process.wait() == -signal.SIGKILL
        stored = scene.result("look")
        # One save may have been stored without its answer getting through; its replay would find it.
        assert stored["draft_rev"] in {answered, answered + 1}
        assert stored["revs"] == list(range(1, stored["draft_rev"] + 1))
        assert stored["lengths"] == [len(LINE) * rev for rev in stored["revs"]]
        assert stored["draft_length"] == stored["lengths"][-1]
        assert stored["active"] == sorted(stored["active"])
        assert stored["marks"] == [600_000 * n for n in range(1, 7)][: len(stored["marks"])]


def test_the_same_operations_sent_by_two_processes_at_once_are_stored_once(scene: Scene) -> None:
    both = [scene.begin("share"), scene.begin("share")]
    assert [scene.results(process) for process in both] == [list(range(1, N_SHARED + 1))] * 2
    stored = scene.result("look")
    assert (stored["revs"], stored["rejected"]) == (list(range(1, N_SHARED + 1)), 0)


def test_two_beats_at_once_end_the_session_once_with_every_snapshot(scene: Scene) -> None:
    both = [scene.begin("sweep"), scene.begin("sweep")]
    assert [scene.results(process) for process in both] == [["done"], ["done"]]
    stored = scene.result("look")
    assert stored["state"] == "expired"
    assert stored["marks"] == [600_000 * n for n in range(1, 13)]
