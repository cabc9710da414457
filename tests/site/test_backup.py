"""Backup and restore, on a database of their own in a folder of their own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.own_database
ROOT = Path(__file__).resolve().parents[2]


def _environment(folder: Path) -> dict[str, str]:
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith("PYTEST")},
        "DATA_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "summhay_site.settings",
        "DEBUG": "1",  # nothing was collected here
    }


VERBS = """
import contextlib, io, json, sys
from django.core.management import execute_from_command_line
for line in sys.stdin:
    code, out, err = 0, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            execute_from_command_line(["manage.py", *json.loads(line)])
        except SystemExit as ended:
            code = ended.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture
def run(tmp_path: Path, empty_database: Path) -> Iterator[object]:
    """Run a command of `manage.py`, all in one process; or a program of Python, in a process of its own."""
    folder = tmp_path / "data"
    shutil.copytree(empty_database.parent, folder)
    folder.chmod(0o700)
    with subprocess.Popen(
        [sys.executable, "-c", VERBS],
        cwd=ROOT,
        env=_environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as verbs:
        assert verbs.stdin is not None
        assert verbs.stdout is not None
        told, answers = verbs.stdin, verbs.stdout

        def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
            if arguments[0] == "python":
                program = [sys.executable, "-c", *arguments[1:]]
                return subprocess.run(
                    program, cwd=ROOT, env=_environment(folder), capture_output=True, text=True, check=False
                )
            told.write(json.dumps(arguments) + "\n")
            told.flush()
            code, out, err = json.loads(answers.readline())
            return subprocess.CompletedProcess(arguments, code, out, err)

        yield _run


def test_what_was_backed_up_comes_back(run: object, tmp_path: Path) -> None:
    assert callable(run)
    file = tmp_path / "site.backup"
    assert run("create_account", "nora", "--role", "researcher").returncode == 0

    assert run("backup", str(file)).returncode == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "site.backup"]

    assert run("create_account", "paul").returncode == 0
    assert "--yes" in run("restore", str(file)).stderr
    assert run("restore", str(file), "--yes").returncode == 0
    assert "exists already" in run("create_account", "nora").stderr
    assert run("create_account", "paul").returncode == 0


LINK = re.compile(r"/password/set/\S+")
LOG_IN = """
import django, sys
django.setup()
from django.test import Client
from axes.models import AccessAttempt
from django.utils import timezone
from summhay_site.models import User
client = Client(headers={"host": "localhost"})
client.force_login(User.objects.get(username="nora"), "summhay_site.authentication.AccountBackend")
AccessAttempt.objects.create(
    username="nora", ip_address="203.0.113.9", user_agent="", failures_since_start=1, attempt_time=timezone.now()
)
print(client.session.session_key)
"""
OPEN = """
import django, sys
django.setup()
from django.test import Client
client = Client(headers={"host": "localhost"})
print(client.get(sys.argv[1], follow=True).status_code)
"""


def _python(run: object, code: str, *arguments: str) -> str:
    done = run("python", code, *arguments)  # type: ignore[operator]
    assert done.returncode == 0, done.stderr
    return str(done.stdout.strip())


def test_a_backup_holds_no_log_in_and_no_network_address(run: object, tmp_path: Path) -> None:
    assert callable(run)
    file = tmp_path / "site.backup"
    run("create_account", "nora")
    session_key = _python(run, LOG_IN)
    assert len(session_key) == 32
    assert run("backup", str(file)).returncode == 0
    content = file.read_bytes()
    assert b"nora" in content
    assert session_key.encode() not in content
    assert b"203.0.113.9" not in content


def test_a_password_link_from_before_a_restore_stays_dead(run: object, tmp_path: Path) -> None:
    assert callable(run)
    file = tmp_path / "site.backup"
    link = LINK.search(run("create_account", "nora").stdout)
    assert link is not None
    assert _python(run, OPEN, link[0]) == "200"
    assert run("backup", str(file)).returncode == 0
    assert run("restore", str(file), "--yes").returncode == 0
    assert _python(run, OPEN, link[0]) == "410"


def test_a_new_database_can_be_read_by_its_owner_only_even_in_an_open_folder(
    run: object, empty_database: Path, tmp_path: Path
) -> None:
    assert callable(run)

    def modes(folder: Path) -> set[int]:
        return {path.stat().st_mode & 0o777 for path in folder.iterdir() if path.is_file()}

    assert empty_database.parent.stat().st_mode & 0o777 == 0o755
    assert modes(empty_database.parent) == {0o600}
    file = tmp_path / "site.backup"
    assert run("backup", str(file)).returncode == 0
    (tmp_path / "data" / "db.sqlite3").unlink()
    assert run("restore", str(file), "--yes").returncode == 0
    assert modes(tmp_path / "data") == {0o600}


def test_an_open_folder_and_open_files_from_before_are_named_by_the_check(run: object, tmp_path: Path) -> None:
    assert callable(run)
    folder = tmp_path / "data"
    assert "summhay.W00" not in run("check").stderr
    (folder / "db.sqlite3").chmod(0o644)
    (folder / "secret_key").touch()
    (folder / "secret_key").chmod(0o640)
    assert "summhay.W003" not in run("check").stderr  # nobody else comes into the folder
    folder.chmod(0o755)
    said = run("check").stderr
    assert f"chmod 700 {folder}\n" in said
    assert f"chmod 600 {folder / 'db.sqlite3'}\n" in said
    assert f"chmod 600 {folder / 'secret_key'}\n" in said


def test_a_backup_never_replaces_a_file_unasked_and_a_wrong_file_is_refused(run: object, tmp_path: Path) -> None:
    assert callable(run)
    file = tmp_path / "notes.txt"
    file.write_text("not a database " * 100)

    assert "exists" in run("backup", str(file)).stderr
    assert file.read_text().startswith("not a database")
    assert "not a backup" in run("restore", str(file), "--yes").stderr
    assert "There is no file" in run("restore", str(tmp_path / "none"), "--yes").stderr
    assert run("create_account", "nora").returncode == 0
