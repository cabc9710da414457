"""A database that this program cannot bring up to date is recognised, refused in a sentence and left alone."""

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench.site import ROOT, WEB
from summhay_site.operations.upgrading import ForeignDatabase, check
from tests.verbs import Run, one_process, site_in

pytestmark = pytest.mark.own_database
MIGRATE, DEMO = ("manage.py", "migrate"), ("manage.py", "demo", "--port", "18763")
SERVER = WEB[1:]
OLDER = """
CREATE TABLE django_migrations (id integer PRIMARY KEY, app text, name text, applied text);
INSERT INTO django_migrations (app, name, applied) VALUES
  ('summhay_site', '0001_initial', '2026-01-01'), ('annotation', '0001_initial', '2026-01-01'),
  ('annotation', '0002_labels_of_questions', '2026-01-01'), ('forgotten', '0009_app_of_long_ago', '2026-01-01');
CREATE TABLE summhay_site_user (id integer PRIMARY KEY, username text);
INSERT INTO summhay_site_user (username) VALUES ('nora');
"""


def make_older(file: Path, *, journal: str = "wal") -> Path:
    """A database of a version whose migrations had other names."""
    with closing(sqlite3.connect(file)) as older:
        older.execute(f"PRAGMA journal_mode={journal}")
        older.executescript(OLDER)
    file.chmod(0o600)
    return file


def contents(folder: Path) -> dict[str, str]:
    """A digest of each file by name, but for the lock of a demo, which holds no data."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "demo.lock"]
    return {f"{path.relative_to(folder)}": hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def environment(folder: Path) -> dict[str, str]:
    return site_in(folder, SECRET_KEY="of the test", PORT="18763")


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Run]]:
    """Where a site has its data, and what runs commands of `manage.py` on it, all in one process."""
    folder = tmp_path_factory.mktemp("foreign") / "data"
    folder.mkdir(mode=0o700)
    with one_process(environment(folder)) as verb:
        yield folder, verb


@pytest.fixture
def folder(process: tuple[Path, Run]) -> Path:
    """The folder of the data, empty."""
    made, _verb = process
    shutil.rmtree(made)
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def run(process: tuple[Path, Run], folder: Path) -> Run:
    """Run a command of `manage.py` there; or Python with other arguments, in a process of its own."""

    def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
        if arguments[0] == "manage.py":
            return process[1](*arguments[1:])
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment(folder),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return _run


@pytest.mark.parametrize(
    ("command", "journal"),
    [
        (MIGRATE, "wal"),
        (MIGRATE, "delete"),
        (DEMO, "wal"),
        (SERVER, "wal"),
        pytest.param(DEMO, "delete", marks=pytest.mark.nightly),
        pytest.param(SERVER, "delete", marks=pytest.mark.nightly),
    ],
)
def test_an_older_database_is_refused_and_not_touched(
    command: tuple[str, ...], journal: str, folder: Path, run: Run
) -> None:
    make_older(folder / "db.sqlite3", journal=journal)
    before = contents(folder)
    done = run(*command)
    assert done.returncode != 0
    assert "annotation.0002_labels_of_questions" in done.stderr
    assert "Nothing was changed" in done.stderr
    assert "forgotten" not in done.stderr, "what an app left that is not installed any more is no reason"
    assert "Traceback" not in done.stderr
    assert contents(folder) == before


def test_what_is_still_in_the_log_of_a_killed_server_counts(folder: Path, run: Run) -> None:
    with closing(sqlite3.connect(folder / "live.sqlite3")) as live:
        live.execute("PRAGMA journal_mode=wal")
        live.executescript(OLDER)
        for end in ("", "-wal"):
            shutil.copy(folder / f"live.sqlite3{end}", folder / f"db.sqlite3{end}")
    before = contents(folder)
    assert "annotation.0002_labels_of_questions" in run("manage.py", "migrate").stderr
    after = contents(folder)
    assert {name: after[name] for name in before} == before


def test_a_backup_of_another_version_replaces_nothing(
    folder: Path, run: Run, tmp_path: Path, empty_database: Path
) -> None:
    shutil.copy(empty_database, folder / "db.sqlite3")
    backup = make_older(tmp_path / "old.backup", journal="delete")
    before = contents(folder) | contents(tmp_path)
    done = run("manage.py", "restore", str(backup), "--yes")
    assert done.returncode != 0
    assert "annotation.0002_labels_of_questions" in done.stderr
    assert "Nothing was changed" in done.stderr
    assert contents(folder) | contents(tmp_path) == before


@pytest.mark.parametrize("name", ["0002_since_0_2_0", "0003_publications", "0004_external_verdicts"])
def test_one_of_a_commit_between_releases_is_refused_with_what_to_do(name: str) -> None:
    released = {("annotation", "0001_initial"), ("benchmarks", "0001_initial")}
    check(released, what="This database")
    with pytest.raises(
        ForeignDatabase, match=rf"annotation\.{name}: go on with .* export archives .* a new database"
    ):
        check({*released, ("annotation", name)}, what="This database")


def test_the_doctor_does_not_send_to_migrate_what_migrate_refuses(folder: Path, run: Run) -> None:
    make_older(folder / "db.sqlite3")
    done = run("manage.py", "doctor")
    assert done.returncode != 0
    assert "annotation.0002_labels_of_questions" in done.stdout
    assert "Run migrate" not in done.stdout
