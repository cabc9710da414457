"""Backup and restore, on a database of their own in a folder of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(tmp_path: Path) -> object:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("PYTEST")},
        "DATA_DIR": str(tmp_path / "data"),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'data' / 'db.sqlite3'}",
    }

    def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return _run


def test_what_was_backed_up_comes_back(run: object, tmp_path: Path) -> None:
    assert callable(run)
    file = tmp_path / "site.backup"
    assert run("migrate", "-v0").returncode == 0
    assert run("create_account", "nora", "--role", "researcher").returncode == 0

    assert run("backup", str(file)).returncode == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "site.backup"]

    assert run("create_account", "paul").returncode == 0
    assert "--yes" in run("restore", str(file)).stderr
    assert run("restore", str(file), "--yes").returncode == 0
    assert "exists already" in run("create_account", "nora").stderr
    assert run("create_account", "paul").returncode == 0


def test_a_backup_never_replaces_a_file_unasked_and_a_wrong_file_is_refused(run: object, tmp_path: Path) -> None:
    assert callable(run)
    file = tmp_path / "notes.txt"
    file.write_text("not a database " * 100)
    assert run("migrate", "-v0").returncode == 0

    assert "exists" in run("backup", str(file)).stderr
    assert file.read_text().startswith("not a database")
    assert "not a backup" in run("restore", str(file), "--yes").stderr
    assert "There is no file" in run("restore", str(tmp_path / "none"), "--yes").stderr
    assert run("create_account", "nora").returncode == 0
