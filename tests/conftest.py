"""The cast, and what every test may use.

ada is a researcher, ben and cleo are annotators, dot is a stranger to every study, eve is an admin.
"""

import fcntl
import gc
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.db.backends.signals import connection_created
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from annotation.models import Annotator
from benchmarks.summarizers import documents
from summhay_site.serving.stack import with_room
from tests import schema
from tests.fake_openai import FakeServer, serving
from tests.makers import NOW
from tests.tiers import second_tier

# Seconds say nothing on a machine that does other work beside the suite; what is slow is measured by the bench.
for profile, n_examples in (("gate", 25), ("nightly", 500)):
    hypothesis_settings.register_profile(
        profile, deadline=None, max_examples=n_examples, suppress_health_check=[HealthCheck.too_slow]
    )
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))

ROOT = Path(__file__).resolve().parents[1]
ITS_MODELS = re.compile(r"^from extensions\.(\w+)\.models import", re.MULTILINE)
EXTENSIONS = {path.parent.name for path in ROOT.glob("extensions/*/apps.py")}
IN_WORKER = "PYTEST_XDIST_WORKER" in os.environ
ON_POSTGRESQL = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")
ON_EVERY_DATABASE = {
    "locks, claims, leases, and what happens when they are contended": """
        test_drafting test_dealing test_budgets test_judging test_slices test_retrieving test_many_passwords
        test_login test_scores
    """,
    "constraints, and rows that go with others": """
        test_removal test_erasure test_question_sets
    """,
    "statements of our own, sorting, searching, JSON, dates, what a text may hold": """
        test_hot test_counts test_work_counts test_corpora_pages test_study_tables test_latest
        test_audit_and_system test_odd_json test_odd_names
    """,
    "large writes, and the whole": """
        test_haystacks test_questions test_sources test_annotated_summaries test_smoke test_unavailable
    """,
}
"""Modules whose outcome may depend on the database, and why. The gate runs them on PostgreSQL too, with tests of
real transactions, and single ones of other modules, marked `every_database`, for what no module here sends: other
locks, conflicts, JSON, patterns, casts. The rest is run there at night (TEST_EVERYTHING=1)."""
NAMED = frozenset(name for names in ON_EVERY_DATABASE.values() for name in names.split())
LONGEST = (
    "test_figures_beside_a_run",
    "test_bench",
    "test_demo",
    "test_model_crash",
    "test_upgrade",
    "test_frozen_broker",
    "test_backup",
)
"""Begun with, so that no worker is left alone with one in the end. Those that empty the database come last."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """As many as there are cores: one more costs what it imports and collects, and gains nothing."""
    return len(os.sched_getaffinity(0))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out tests of extensions that are not there. On PostgreSQL do not even import what would not run."""
    path, off = collection_path, EXTENSIONS - set(settings.EXTENSIONS)
    if {*path.relative_to(ROOT).parts[1:2]} & off:
        return True
    if off and path.match("test_*.py") and set(ITS_MODELS.findall(path.read_text())) & off:
        return True
    if not ON_POSTGRESQL or os.environ.get("TEST_EVERYTHING") or not path.match("test_*.py") or path.stem in NAMED:
        return None
    text = path.read_text()
    return (
        True if not any(word in text for word in ("transaction=True", "every_database", "mark.broker")) else None
    )


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On PostgreSQL leave out what would be the same again: what the suite on SQLite holds once and for all."""
    later = second_tier()
    for item in items:
        if item.get_closest_marker("contended") and not ON_POSTGRESQL:
            item.add_marker("nightly")
        if off := {name for mark in item.iter_markers("needs") for name in mark.args} - set(settings.EXTENSIONS):
            item.add_marker(pytest.mark.skip(reason=f"without {', '.join(off)}"))
        module, _, name = item.nodeid.partition("::")
        if {name, name.partition("[")[0]} & later.get(module, set()):
            item.add_marker("second_tier")
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))
    if ON_POSTGRESQL:
        is_wanted = _uses_services if os.environ.get("TEST_EVERYTHING") else _depends_on_services
        config.hook.pytest_deselected(items=[item for item in items if not is_wanted(item)])
        items[:] = [item for item in items if is_wanted(item)]


def _depends_on_services(item: pytest.Item) -> bool:
    """Tell whether a test could pass on SQLite and fail here: by its module, a marker, or real transactions."""
    marker = item.get_closest_marker("django_db")
    has_transactions = bool(marker and marker.kwargs.get("transaction"))
    is_marked = item.get_closest_marker("broker") or item.get_closest_marker("every_database")
    is_named = item.path.stem in NAMED or is_marked
    return bool(is_named or has_transactions) and _uses_services(item)


def _uses_services(item: pytest.Item) -> bool:
    """Tell whether a test asks for the database of the suite or for the broker. Others cannot reach either."""
    if item.get_closest_marker("own_database"):
        return False
    database = {"db", "transactional_db"} & set(getattr(item, "fixturenames", ()))
    return bool(database or item.get_closest_marker("django_db") or item.get_closest_marker("broker"))


def pytest_collection_finish() -> None:
    """What is loaded now stays to the end: the garbage collector need not walk through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[Any]:
    """Tests have the room that requests have in a server."""
    function = pyfuncitem.obj
    pyfuncitem.obj = with_room(function)
    try:
        return (yield)
    finally:
        pyfuncitem.obj = function


@pytest.fixture(scope="session", autouse=True)
def _programs_are_the_site_as_it_is() -> None:
    """A program that a test starts does not run with the settings of the suite."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "summhay_site.settings"


@pytest.fixture(scope="session", autouse=True)
def _nobody_sets_the_host_clock() -> Iterator[None]:
    """Tests that travel in time mean that it passes, and not that a clock was set; those of that say so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotation.writing.locking.reading", lambda: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _tokens_are_counted_by_words() -> Iterator[None]:
    """What tests expect does not depend on the extra `tokens`; those that need it ask for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "find_spec", lambda name: None)
        yield


@pytest.fixture
def now() -> datetime:
    return NOW


def make_user(name: str, role: str | None):
    user = get_user_model().objects.create_user(
        username=name, password="correct horse", email=f"{name}@example.org"
    )
    if role:
        user.groups.add(Group.objects.get(name=role))
    if role == "annotator":
        Annotator.objects.create(user=user, label=name.title(), created_at=NOW)
    return user


def _of_the_cast(name: str, role: str):
    """Somebody whom the world of the module holds already, or else makes now."""
    return get_user_model().objects.filter(username=name).first() or make_user(name, role)


@pytest.fixture(scope="module")
def kept(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    """A transaction around a module: what its fixtures make once is there for each of its tests, whose own changes
    are undone. Tests fetch the objects anew, as those of another test may have changed in memory."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def ada(db: None):
    return _of_the_cast("ada", "researcher")


@pytest.fixture
def ben(db: None):
    return _of_the_cast("ben", "annotator")


@pytest.fixture
def cleo(db: None):
    return _of_the_cast("cleo", "annotator")


@pytest.fixture
def dot(db: None):
    """An annotator who belongs to nothing that others made."""
    return make_user("dot", "annotator")


@pytest.fixture
def eve(db: None):
    user = make_user("eve", "admin")
    user.is_staff = True
    user.save()
    return user


@pytest.fixture
def as_ada(ada, login):
    return login(ada)


@pytest.fixture
def as_ben(ben, login):
    return login(ben)


@pytest.fixture
def as_cleo(cleo, login):
    return login(cleo)


@pytest.fixture
def as_eve(eve, login):
    return login(eve)


@pytest.fixture
def login():
    """Give a client that is logged in as the user."""

    def _login(user, **kwargs) -> Client:
        client = Client(**kwargs)
        client.force_login(user, backend="summhay_site.authentication.AccountBackend")
        return client

    return _login


@pytest.fixture
def server(settings) -> Iterator[FakeServer]:
    """A model server that judges ask over real HTTP."""
    with serving() as running:
        settings.OPENAI_BASE_URLS = [running.address]
        yield running


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None], *, kept: Path | None = None
) -> Path:
    """A folder that `make` fills, once for all workers of the suite; copy it, do not change it.

    A run of the gate makes it once for all its suites, in the folder that TEST_FOLDER names. Others find it again
    in the folder `kept`, if it has one.
    """
    base = factory.getbasetemp()
    folder = Path(os.environ.get("TEST_FOLDER") or kept or (base.parent if IN_WORKER else base))
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / name
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            making = folder / f"{name}.part"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            make(making)
            making.rename(made)
    return made


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables and no data, made once and kept until the tables change; copy it.

    Its folder is a data folder that others may enter, as folders mostly are.
    """
    var = ROOT / "var"
    var.mkdir(mode=0o700, exist_ok=True)  # the data folder of a checkout, which others must not enter
    name, kept = f"empty-{schema.version_of_tables()}", var / "tests"

    def make(folder: Path) -> None:
        folder.chmod(0o755)
        schema.make(folder / "db.sqlite3")

    return made_once(tmp_path_factory, name, make, kept=kept) / "db.sqlite3"


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of static files as production serves them, collected once; copy it, do not change it."""

    def make(folder: Path) -> None:
        env = os.environ | {
            "DJANGO_SETTINGS_MODULE": "summhay_site.settings",
            "DATA_DIR": str(folder),
            "DATABASE_URL": f"sqlite:///{folder}/none.sqlite3",
            "STATIC_ROOT": str(folder / "static"),
        }
        command = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
        subprocess.run(command, cwd=ROOT, env=env, check=True, timeout=600)

    return made_once(tmp_path_factory, "collected", make) / "static"


def _template_of(controller: int) -> str:
    """The name of the database that workers of one run copy."""
    return f"test_template_{controller}"


def _on_server(statement: str) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(statement.encode())


@pytest.fixture(scope="session")
def template_database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a PostgreSQL database with all tables and no data, made once for all workers of this run."""
    name = _template_of(os.getppid())

    def make(folder: Path) -> None:
        _on_server(f'DROP DATABASE IF EXISTS "{name}"')  # a run that was killed may have left it
        _on_server(f'CREATE DATABASE "{name}"')
        schema.migrate(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl(), folder=folder)

    made_once(tmp_path_factory, name, make)
    return name


def pytest_sessionfinish() -> None:
    """Once all workers have ended, the database that they copied can go."""
    if ON_POSTGRESQL and not IN_WORKER:
        _on_server(f'DROP DATABASE IF EXISTS "{_template_of(os.getpid())}"')


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Make what each worker does to its database cheap: migrating, and on PostgreSQL emptying."""
    with pytest.MonkeyPatch.context() as patch:
        if ON_POSTGRESQL:
            patch.setattr(type(connection.ops), "sql_flush", _delete_all)
            if IN_WORKER:
                template = request.getfixturevalue("template_database")
                patch.setitem(connection.settings_dict["TEST"], "TEMPLATE", template)
        else:
            empty = request.getfixturevalue("empty_database")
            connection_created.connect(partial(_fill, empty=empty), weak=False, dispatch_uid="fill")
        yield


def _delete_all(self, style, tables: list[str], **_) -> list[str]:
    """Empty tables that hold few rows. TRUNCATE would write new files for each table and each index."""
    return [f"DELETE FROM {self.quote_name(table)}" for table in tables]  # noqa: S608


def _fill(*, empty: Path, connection, **_) -> None:
    """Begin with a copy of the database that was migrated once; `migrate` then finds nothing left to do."""
    connection_created.disconnect(dispatch_uid="fill")
    with closing(sqlite3.connect(f"file:{empty}?immutable=1", uri=True)) as made:  # and no file beside it
        made.backup(connection.connection)


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of published data; tests that need it skip where it is not."""
    root = os.environ.get("SUMMHAY_DATA")
    if not root or not (Path(root) / "summhay" / "topic_news1.json").exists():
        pytest.skip("SUMMHAY_DATA does not name the folder of published data")
    return Path(root) / "summhay"
