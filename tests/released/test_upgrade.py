"""A database of each release, with rows of every kind, becomes one of today and keeps every row."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.verbs import one_process

pytestmark = pytest.mark.own_database

FOLDER = Path(__file__).parent
RELEASES = sorted(FOLDER.glob("*.sql.gz"))
OWN = ("annotation_", "benchmarks_", "summhay_site_")
CLEARED = "UPDATE annotation_coveragelabel SET coverage = '', lines = '[]', is_linked = 0 WHERE id = 1"
LOOK = """
import json
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from summhay_site.models import User
from annotation.models import Study

call_command("migrate", check_unapplied=True)  # ends the program if something is left to do
client = Client()
client.force_login(User.objects.get(username="eve"))
pages = ["/", "/studies/", "/agreement/", "/corpora/", "/judges/"]
pages += [f"/studies/{uid}/" for uid in Study.objects.values_list("uid", flat=True)]
print(json.dumps({
    "counts": {m._meta.db_table: m._base_manager.count() for m in apps.get_models(include_auto_created=True)},
    "pages": {page: client.get(page, follow=True, headers={"host": "localhost"}).status_code for page in pages},
}))
"""


def test_a_release_is_stored() -> None:
    assert RELEASES


@pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name.removesuffix(".sql.gz"))
def test_a_stored_database_is_migrated_with_every_row(release: Path, tmp_path: Path) -> None:
    database = tmp_path / "db.sqlite3"
    with sqlite3.connect(database) as connection:
        connection.executescript(gzip.decompress(release.read_bytes()).decode())
        connection.execute(CLEARED)
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        before = {name: connection.execute(f'select count(*) from "{name}"').fetchone()[0] for name in tables}  # noqa: S608
    own = {
        name: n for name, n in before.items() if name.startswith(("annotation_", "benchmarks_", "summhay_site_"))
    }
    assert [name for name, n in own.items() if not n] == []
    environment = os.environ | {
        "DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{database}",
        "CELERY_BROKER_URL": "memory://",
        "DJANGO_SETTINGS_MODULE": "summhay_site.settings",
        "ALLOWED_HOSTS": "localhost",
        "DEBUG": "1",  # nothing was collected here
    }
    with one_process(environment) as run:
        migrated = run("migrate", "--no-input")
        assert migrated.returncode == 0, migrated.stderr
        looked = run("shell", "-v", "0", "-c", LOOK)
        assert looked.returncode == 0, looked.stderr
    found = json.loads(looked.stdout)
    assert {name: n for name, n in own.items() if found["counts"].get(name) != n} == {}
    assert {page: code for page, code in found["pages"].items() if code != 200} == {}
    assert checked(database) == ["ok", "ok"]
    with closing(sqlite3.connect(database)) as connection:
        labels = dict(
            connection.execute("SELECT coverage = '', min(is_complete) FROM annotation_coveragelabel GROUP BY 1")
        )
    assert labels == {0: 1, 1: 0}, "a cleared label is incomplete now, and no other"


def test_any_sqlite_checks_a_new_database(empty_database: Path, tmp_path: Path) -> None:
    assert checked(Path(shutil.copy(empty_database, tmp_path))) == ["ok", "ok"]


def checked(database: Path) -> list[str]:
    """What SQLite itself says of a file, without any function of ours or Django's."""
    with closing(sqlite3.connect(database)) as plain:
        return [plain.execute(f"PRAGMA {check}").fetchone()[0] for check in ("quick_check", "integrity_check")]
