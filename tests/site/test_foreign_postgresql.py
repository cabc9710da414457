"""On PostgreSQL too, a database or backup of a version that this one cannot upgrade is refused and left alone."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.conftest import ON_POSTGRESQL

ROOT = Path(__file__).resolve().parents[2]
OLDER = """
CREATE TABLE django_migrations (id serial PRIMARY KEY, app text, name text, applied timestamptz DEFAULT now());
INSERT INTO django_migrations (app, name) VALUES
  ('summhay_site', '0001_initial'), ('annotation', '0001_initial'), ('annotation', '0002_labels_of_questions');
CREATE TABLE summhay_site_user (id serial PRIMARY KEY, username text);
INSERT INTO summhay_site_user (username) VALUES ('nora');
"""
pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(not ON_POSTGRESQL or shutil.which("pg_dump") is None, reason="needs PostgreSQL"),
]


def on_server(statement: str) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(statement.encode())


@pytest.fixture
def older() -> Iterator[str]:
    """The address of a database of an older version."""
    name = f"test_older_{os.getpid()}"
    on_server(f'DROP DATABASE IF EXISTS "{name}"')
    on_server(f'CREATE DATABASE "{name}"')
    address = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
    with psycopg.connect(address) as made:
        made.execute(OLDER.encode())
    yield address
    on_server(f'DROP DATABASE "{name}"')


def dump(address: str, *options: str) -> bytes:
    name = address.replace("postgres://", "postgresql://")
    out = subprocess.run(["pg_dump", *options, name], check=True, capture_output=True).stdout
    return out if options else b"\n".join(line for line in out.splitlines() if b"restrict " not in line)


@pytest.mark.parametrize("command", ["migrate", "restore", "the web server"])
def test_it_is_refused_and_not_touched(command: str, older: str, tmp_path: Path) -> None:
    backup = tmp_path / "old.backup"
    backup.write_bytes(dump(older, "--format=custom"))
    before = dump(older)
    arguments = {
        "migrate": ["manage.py", "migrate"],
        "restore": ["manage.py", "restore", str(backup), "--yes"],
        "the web server": ["-m", "gunicorn", "-c", "python:summhay_site.gunicorn", "summhay_site.wsgi"],
    }[command]
    environment = os.environ | {
        "DATABASE_URL": older,
        "DATA_DIR": str(tmp_path / "data"),
        "DEBUG": "1",
        "PORT": "18764",
    }
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "annotation.0002_labels_of_questions" in done.stderr
    assert "Nothing was changed" in done.stderr
    assert "Traceback" not in done.stderr
    assert dump(older) == before
