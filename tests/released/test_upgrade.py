"""A database of each release, with rows of every kind, becomes one of today and keeps every row."""

import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import ON_POSTGRESQL
from tests.site.test_foreign_postgresql import on_server
from tests.verbs import one_process, site_in

FOLDER = Path(__file__).parent
RELEASES = sorted(FOLDER.glob("*.sql.gz"))
OWN = ("annotation_", "benchmarks_", "summhay_site_")
MARKED = {
    "0.2.0": """
UPDATE annotation_coveragelabel SET coverage = '', lines = '[]', is_linked = 0 WHERE id = 1;
UPDATE annotation_coveragelabel SET is_training = 1 WHERE id IN (3, 4);
"""
}
"""Rows of a release that migrations read: a cleared label, and two that were hidden checks."""
FILL = """
import os
from pathlib import Path
from django.core.management.color import no_style
from django.db import connection, transaction
from summhay_site.operations import engines
from summhay_site.operations.upgrading import read_file

file = Path(os.environ["STORED"])
source = engines.open_sqlite(file)
models = engines._tables_of(connection, read_file(file))
with transaction.atomic(), connection.cursor() as cursor:
    for model in models:
        engines._empty(connection, model)
    for model in models:
        engines._copy_in(connection, cursor, model, engines.read_rows(source, model), engines.Sums())
    for statement in connection.ops.sequence_reset_sql(no_style(), models):
        cursor.execute(statement)
"""
LOOK = """
import json
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from summhay_site.models import User
from annotation.models import CoverageLabel, Study
from benchmarks.models import Haystack

call_command("migrate", check_unapplied=True)  # ends the program if something is left to do
client = Client()
client.force_login(User.objects.get(username="eve"))
pages = ["/", "/studies/", "/agreement/", "/corpora/", "/judges/"]
pages += [f"/studies/{uid}/" for uid in Study.objects.values_list("uid", flat=True)]
print(json.dumps({
    "counts": {m._meta.db_table: m._base_manager.count() for m in apps.get_models(include_auto_created=True)},
    "pages": {page: client.get(page, follow=True, headers={"host": "localhost"}).status_code for page in pages},
    "incomplete": list(CoverageLabel.objects.filter(is_complete=False).values_list("pk", flat=True)),
    "checks": sorted(CoverageLabel.objects.filter(is_check=True).values_list("pk", flat=True)),
    "owned": Haystack.objects.exclude(created_by=None).count(),
}))
"""


def test_a_release_is_stored() -> None:
    assert RELEASES


@pytest.fixture(params=RELEASES, ids=lambda path: path.name.removesuffix(".sql.gz"))
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A database as a release left it, in a folder of the release's name."""
    version = request.param.name.removesuffix(".sql.gz")
    (tmp_path / version).mkdir()
    database = tmp_path / version / "stored.sqlite3"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(gzip.decompress(request.param.read_bytes()).decode() + MARKED.get(version, ""))
    return database


def upgrade(stored: Path, address: str, *, fill: str = "") -> None:
    """Migrate a database on either engine, and look at its rows and pages."""
    with closing(sqlite3.connect(stored)) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        own = {
            name: connection.execute(f'select count(*) from "{name}"').fetchone()[0]  # noqa: S608
            for name in tables
            if name.startswith(OWN)
        }
    assert [name for name, n in own.items() if not n] == []
    more = {"CELERY_BROKER_URL": "memory://", "ALLOWED_HOSTS": "localhost", "STORED": str(stored)}
    with one_process(site_in(stored.parent, DATABASE_URL=address, **more)) as run:
        for command in (*((("shell", "-v", "0", "-c", fill),) if fill else ()), ("migrate", "--no-input")):
            done = run(*command)
            assert done.returncode == 0, done.stderr
        looked = run("shell", "-v", "0", "-c", LOOK)
        assert looked.returncode == 0, looked.stderr
    found = json.loads(looked.stdout)
    assert {name: n for name, n in own.items() if found["counts"].get(name) != n} == {}
    assert {page: code for page, code in found["pages"].items() if code != 200} == {}
    if stored.parent.name in MARKED:
        assert found["incomplete"] == [1], "a cleared label is incomplete now, and no other"
        assert found["checks"] == [3, 4]
        assert found["owned"] == 2, "whoever imported a haystack owns it"


@pytest.mark.needs("synthesis")  # of whose rows a stored database has some
@pytest.mark.own_database
def test_a_stored_database_is_migrated_with_every_row(stored: Path) -> None:
    upgrade(stored, f"sqlite:///{stored}")
    assert checked(stored) == ["ok", "ok"]


@pytest.mark.broker
@pytest.mark.skipif(not ON_POSTGRESQL, reason="needs PostgreSQL")
def test_the_same_rows_on_postgresql_are_migrated_too(stored: Path) -> None:
    name = f"test_upgrade_{os.getpid()}"
    on_server(f'DROP DATABASE IF EXISTS "{name}"')
    on_server(f'CREATE DATABASE "{name}"')
    try:
        upgrade(stored, urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl(), fill=FILL)
    finally:
        on_server(f'DROP DATABASE "{name}"')


@pytest.mark.own_database
def test_any_sqlite_checks_a_new_database(empty_database: Path, tmp_path: Path) -> None:
    assert checked(Path(shutil.copy(empty_database, tmp_path))) == ["ok", "ok"]


def checked(database: Path) -> list[str]:
    """What SQLite itself says of a file, without any function of ours or Django's."""
    with closing(sqlite3.connect(database)) as plain:
        return [plain.execute(f"PRAGMA {check}").fetchone()[0] for check in ("quick_check", "integrity_check")]
