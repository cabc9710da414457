"""PostgreSQL behind PgBouncer, which lends connections for a transaction: nothing passes from one to another."""

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.utils import OperationalError

from bench.site import free_port
from summhay_site import env
from summhay_site.models import User
from summhay_site.operations.backups import BackupFailed, backup
from summhay_site.postgresql import limits
from tests.conftest import ON_POSTGRESQL
from tests.running import wait_for
from tests.site.test_frozen_database import ROOT, VISITOR, Postgres, as_postgres, ask, postgres, site
from tests.site.test_frozen_database import environment as unpooled

__all__ = ["postgres", "site", "unpooled"]
SHOWN = "SELECT " + ", ".join(
    f"current_setting('{name}')"
    for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "search_path")
)
PUBLIC = '"$user", public'
UNLIMITED, OF_WORK = ("0", "0", "0", PUBLIC), ("15min", "15min", "15min", PUBLIC)
pytestmark = [
    pytest.mark.broker,
    pytest.mark.django_db,
    pytest.mark.skipif(not ON_POSTGRESQL, reason="needs PostgreSQL"),
]


@contextmanager
def through_a_pool(**settings) -> Iterator[Any]:
    """The ORM's connection is one of such a site."""
    usual = connection.settings_dict
    made = type(connections[DEFAULT_DB_ALIAS])({**usual, "DISABLE_SERVER_SIDE_CURSORS": True, **settings})
    kept, connections[DEFAULT_DB_ALIAS] = connections[DEFAULT_DB_ALIAS], made
    try:
        yield made
    finally:
        made.close()
        connections[DEFAULT_DB_ALIAS] = kept


def one(sql: str, *params: str):
    with connection.cursor() as cursor:
        cursor.execute(sql, params or None)
        return cursor.fetchone()


def test_limits_are_of_each_transaction_and_leave_nothing_in_the_session() -> None:
    with through_a_pool() as line:
        assert one(SHOWN) == OF_WORK, "a statement alone is a transaction"
        assert line.connection.execute(SHOWN).fetchone() == UNLIMITED
        with transaction.atomic():
            assert one("SELECT %s", "100 %") == ("100 %",)
            assert one(SHOWN) == OF_WORK
        with limits.lifted(), transaction.atomic():
            assert one(SHOWN) == UNLIMITED
        assert line.connection.execute(SHOWN).fetchone() == UNLIMITED


def test_a_statement_is_ended_and_what_was_before_a_savepoint_stays(settings) -> None:
    settings.DATABASE_WORK_LIMITS = limits.Limits(statement_s=1, lock_s=1, idle_s=60)
    with through_a_pool():
        with pytest.raises(OperationalError, match="statement timeout"):
            one("SELECT pg_sleep(5)")
        with transaction.atomic():
            User.objects.create(username="wren")
            with pytest.raises(OperationalError, match="statement timeout"), transaction.atomic():
                one("SELECT pg_sleep(5)")
            assert User.objects.update(username="owl") == 1
            transaction.set_rollback(True)


def test_tools_that_change_their_session_go_to_the_server_itself(tmp_path: Path) -> None:
    direct = {**connection.settings_dict, "NAME": "nowhere"}
    with through_a_pool(DIRECT=direct), pytest.raises(BackupFailed, match='"nowhere" does not exist'):
        backup(to=tmp_path / "a.backup")


@pytest.fixture(scope="module")
def pool(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of PgBouncer, with three connections to that server, which it lends for a transaction."""
    folder, port = Path(tempfile.mkdtemp(prefix="pool-")), free_port()
    (folder / "pool.ini").write_text(
        f"[databases]\npostgres = host=127.0.0.1 port={postgres.port} user=postgres\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\nunix_socket_dir =\n"
        "pool_mode = transaction\ndefault_pool_size = 3\nignore_startup_parameters = options\n"
    )
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    call = [program, folder / "pool.ini"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(call, cwd=folder, stdout=log, stderr=log, **as_postgres(folder))
    url = f"postgres://postgres@127.0.0.1:{port}/postgres"

    try:
        wait_for((folder / "log").read_text, seconds=30)
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def environment(unpooled: dict[str, str], postgres: Postgres, pool: str) -> dict[str, str]:
    """That of a site whose database is behind the pool."""
    return unpooled | {"DATABASE_URL": pool, "DATABASE_DIRECT_URL": postgres.url}


def in_sessions(url: str) -> set[Any]:
    """What the server's connections are set to, each looked at once."""
    lines = [psycopg.connect(url) for _ in range(3)]  # a transaction in each holds on to a connection of its own
    try:
        return {line.execute(SHOWN).fetchone() for line in lines}
    finally:
        for line in lines:
            line.close()


@pytest.mark.nightly
def test_rows_are_read_one_by_one_while_others_take_the_connection(
    pool: str, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOL", pool)
    monkeypatch.setenv("SERVER", postgres.url)
    settings = env.database("POOL", direct="SERVER", default_path=Path("none"))
    with through_a_pool(**settings), psycopg.connect(pool) as other:
        User.objects.bulk_create(User(username=f"wren{at}") for at in range(3))
        rows = User.objects.order_by("pk").iterator(chunk_size=1)
        first = next(rows)
        other.execute("SELECT 1")  # in a transaction, which keeps the connection
        assert [user.username for user in (first, *rows)] == ["wren0", "wren1", "wren2"]
        User.objects.all().delete()
    assert in_sessions(pool) == {UNLIMITED}


@pytest.mark.nightly
def test_pages_workers_and_backups_share_few_connections(
    pool: str, postgres: Postgres, environment: dict[str, str], site: int, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(8) as visitors:
        answers = list(visitors.map(lambda _: ask(site, "/", VISITOR).status, range(100)))
    assert set(answers) == {302}
    for command in (["load_demo", "--no-logins"], ["backup", str(tmp_path / "a.backup")], ["settle_sessions"]):
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True)
        assert in_sessions(pool) == {UNLIMITED}, command[0]
    assert {ask(site, "/", VISITOR).status for _ in range(9)} == {302}
