"""A backup of SQLite restores on PostgreSQL, one of PostgreSQL on SQLite, and each row is what it was."""

import gzip
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection

from benchmarks.audit import record
from benchmarks.models import AuditEvent, JudgeRun, Result
from summhay_site.operations import backups, engines
from summhay_site.operations.backups import LEFT_OUT
from tests.conftest import ON_POSTGRESQL
from tests.makers import make_session
from tests.makers_recall import make_judge
from tests.site.test_foreign_postgresql import on_server
from tests.verbs import one_process, site_in

ROOT = Path(__file__).resolve().parents[2]
RELEASED = ROOT / "tests" / "released" / "0.2.0.sql.gz"


@contextmanager
def site(folder: Path, address: str) -> Iterator[Callable[..., str]]:
    """Give what runs commands on a site of its own; each must succeed."""
    folder.mkdir(mode=0o700)
    with one_process(site_in(folder, DATABASE_URL=address)) as verb:

        def manage(*command: str) -> str:
            done = verb(*command)
            assert not done.returncode, done.stderr
            return str(done.stdout)

        yield manage


@pytest.fixture
def on_postgresql() -> Iterator[str]:
    """The address of an empty database."""
    name = f"test_engines_{os.getpid()}"
    on_server(f'DROP DATABASE IF EXISTS "{name}"')
    on_server(f'CREATE DATABASE "{name}"')
    yield urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
    on_server(f'DROP DATABASE "{name}"')


def rows_of(file: Path) -> dict[str, list[str]]:
    """All rows of all tables, but who was logged in, when migrations ran, and how many links were made.

    PostgreSQL keeps JSON without its spaces and order of keys, and whole numbers without a point.
    """
    found = {}
    with closing(sqlite3.connect(file)) as opened:
        names = [name for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in set(names) - {*LEFT_OUT, "sqlite_sequence", "django_migrations"}:
            columns = [column[1] for column in opened.execute(f'PRAGMA table_info("{name}")')]
            kept = ", ".join(f'"{column}"' for column in sorted(columns) if column != "links_made")
            rows = opened.execute(f'SELECT {kept} FROM "{name}"')  # noqa: S608
            found[name] = sorted(repr([same(value) for value in row]) for row in rows)
    return found


def same(value: object) -> object:
    if isinstance(value, str) and value[:1] in {"{", "["}:
        with suppress(ValueError):
            return json.dumps(json.loads(value, parse_float=Decimal), sort_keys=True, default=float)
    return value


NEEDS_POSTGRESQL = pytest.mark.skipif(
    not ON_POSTGRESQL or shutil.which("pg_dump") is None, reason="needs PostgreSQL"
)


@NEEDS_POSTGRESQL
@pytest.mark.django_db(transaction=True)
def test_a_backup_of_postgresql_goes_to_sqlite_and_back_with_every_row(
    ada, ben, now: datetime, tmp_path: Path
) -> None:
    make_session(annotator=ben.annotator, state="submitted", revisions=[(1000, "tab\t, \\N and “ü”\nline")])
    kinds = {"n": 1.0, "nothing": None, "list": [1.5, {"b": 1, "a": 2}]}
    record(actor=ada, action="study.opened", target=ben, now=now, **kinds)
    moments = dict.fromkeys(("asked_at", "checked_at", "looked_at"), now)
    Result.objects.create(
        name="x", key="k", wanted="w", version="w", figures=b"\x00\\\xff", computed_at=now, **moments
    )
    JudgeRun.objects.create(judge=make_judge("lexical"), budget=Decimal("1.5000"), created_at=now)
    before = sums()
    file = tmp_path / "site.backup"
    backups.backup(to=file)
    AuditEvent.objects.update(object_name="changed since")
    Result.objects.all().delete()
    with backups.as_sqlite(file, backups._check(file)) as copy:
        read = engines.sqlite_to_postgresql(copy)
    before.compare(sums())
    assert read.n_rows == before.n_rows > 100
    record(actor=ada, action="study.opened", target=ben, now=now)  # sequences go on after the last row


def sums() -> engines.Sums:
    found = engines.Sums()
    for model in engines._models():
        for row in engines.read_rows(connection, model):
            found.add(model._meta.db_table, row)
    return found


@NEEDS_POSTGRESQL
@pytest.mark.broker
@pytest.mark.nightly  # by day the one above, with fewer kinds of rows
def test_sqlite_to_postgresql_to_sqlite_is_equal_row_by_row(on_postgresql: str, tmp_path: Path) -> None:
    """Rows of every kind, as a release stored them."""
    first, last = tmp_path / "first.sqlite3", tmp_path / "last.sqlite3"
    with closing(sqlite3.connect(first)) as made:
        made.executescript(gzip.decompress(RELEASED.read_bytes()).decode())
    with site(tmp_path / "a", f"sqlite:///{first}") as manage:
        manage("migrate", "--verbosity", "0")
        manage("backup", str(tmp_path / "of-sqlite"))
    with site(tmp_path / "b", on_postgresql) as manage:
        assert "Restored" in manage("restore", str(tmp_path / "of-sqlite"), "--yes")
        manage("backup", str(tmp_path / "of-postgresql"))
        manage("create_account", "nora")  # sequences go on after the last row
    with site(tmp_path / "c", f"sqlite:///{last}") as manage:
        manage("restore", str(tmp_path / "of-postgresql"), "--yes")
    before, after = rows_of(first), rows_of(last)
    assert sum(map(len, before.values())) > 1000
    assert before.keys() == after.keys()
    assert {name: len(rows) for name, rows in before.items()} == {name: len(rows) for name, rows in after.items()}
    different = {
        name: [*set(rows) - set(after[name]), *set(after[name]) - set(rows)] for name, rows in before.items()
    }
    assert {name: rows[:4] for name, rows in different.items() if rows} == {}


ARCHIVE = b"""
SET client_encoding = 'UTF8';
COPY public.summhay_site_user (id, "order", note) FROM stdin;
1\tTrue\\tor not\\\\\tline\\none
2\t\\N\t\xc3\xbcber
\\.

COPY public.empty (id) FROM stdin;
\\.
"""


def test_an_archive_is_read_as_postgresql_printed_it() -> None:
    lines = ARCHIVE.splitlines(keepends=True)
    tables = [(table, names, list(rows)) for table, names, rows in engines._copied(lines)]
    assert tables == [
        (
            "summhay_site_user",
            ["id", "order", "note"],
            [["1", "True\tor not\\", "line\none"], ["2", None, "über"]],
        ),
        ("empty", ["id"], []),
    ]


def test_rows_that_differ_are_told_by_their_table() -> None:
    one, other = engines.Sums(), engines.Sums()
    rows = [(1, "a", {"x": 1.0, "y": [None, True]}), (2, "b", {})]
    for row in rows:
        one.add("study", row)
    other.add("study", rows[1])
    other.add("study", (1, "a", {"y": [None, True], "x": 1}))  # jsonb keeps another order, and whole numbers
    one.compare(other)
    assert one.n_rows == 2
    other.add("study", (3, "c", {}))
    with pytest.raises(engines.Differs, match="study has 2 rows in the backup, and 3"):
        one.compare(other)
    changed = engines.Sums()
    for row in [(1, "A", rows[0][2]), rows[1]]:
        changed.add("study", row)
    with pytest.raises(engines.Differs, match="study has 2 rows in the backup, and 2 or other ones"):
        one.compare(changed)
