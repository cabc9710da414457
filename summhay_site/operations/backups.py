"""A copy of the whole database in one file, and the way back. SQLite by its own online copy, so that nothing need
stop for a backup; PostgreSQL by its own tools, which must be on the PATH. How the engines differ: `engines`.
At the end the backup of each night, and what is done at most so often, however many processes ask for it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, connection, connections, transaction
from django.db.models import Max

from benchmarks.models import AuditEvent
from summhay_site.models import LastTime
from summhay_site.operations import engines, erasing
from summhay_site.operations.erasing import Tombstone, erase_again
from summhay_site.operations.upgrading import APPLIED, ForeignDatabase, Migration, check
from summhay_site.postgresql.limits import lifted

LEFT_OUT = (
    "django_session",
    "axes_accessattemptexpiration",
    "axes_accessattempt",
    "axes_accessfailurelog",
    "axes_accesslog",
    "annotation_joinedfrom",
    "benchmarks_uploadpiece",
)
"""Tables without rows in a backup: log-ins, which a thief of the file could use, network addresses and their
digests, which are kept for a day only, and uploads that wait to be imported."""
NO_LIST = f"No list of erased people is beside the backup ({erasing.FILE_NAME})."


class BackupFailed(Exception):
    """The file could not be written or read; the message says why. Nothing was changed."""


def backup(*, to: Path, overwrite: bool = False) -> int:
    """Write the database to a file that only its owner can read; returns its size in bytes.

    The file is written atomically. The list of erased people is brought up to date beside it, for all backups of
    that folder. Raises `BackupFailed`.
    """
    if to.exists() and not overwrite:
        raise BackupFailed(f"{to} exists; choose another name, or say --overwrite.")
    if not to.parent.is_dir():
        raise BackupFailed(f"There is no folder {to.parent}.")
    partial = to.with_name(f".{to.name}.partial")
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        if connection.vendor == "postgresql":
            left_out = [f"--exclude-table-data={table}" for table in LEFT_OUT]
            _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={partial}", *left_out)
        else:
            _copy_sqlite(_database_file(), partial)
            with closing(sqlite3.connect(partial)) as copy:
                copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a write-ahead log beside it
                copy.execute("PRAGMA secure_delete=ON")
                _empty(copy.cursor(), {name for (name,) in copy.execute("SELECT name FROM sqlite_master")})
                copy.commit()
        _sync(partial)
        partial.replace(to)
        beside = to.with_name(erasing.FILE_NAME)
        erasing.write_tombstones(_tombstones(beside), to=beside)  # an empty one too: its lack tells
    finally:
        partial.unlink(missing_ok=True)
    return to.stat().st_size


def restore(*, source: Path) -> int:
    """Replace the database by what is in the file. Stop web, worker and beat first. Raises `BackupFailed`.

    The file may be of either engine. Everybody has to log in again, and password links made before stop working: a
    link that was used or cancelled after the backup would otherwise live again. The tables become those of this
    version, and whoever was erased since the backup is erased from it again. Gives how many that are.
    """
    applied = _check(source)
    erased = _tombstones(source.with_name(erasing.FILE_NAME))
    if connection.vendor == "postgresql":
        if kind_of(source) == "postgresql":
            connections.close_all()
            options = ("--clean", "--if-exists", "--no-owner", "--no-privileges", "--single-transaction")
            _run("pg_restore", *options, f"--dbname={_postgres_environment()['PGDATABASE']}", str(source))
        else:
            _sqlite_into_postgresql(source)
    else:
        connection.ensure_connection()  # makes folder and file if there are none yet
        connections.close_all()
        with as_sqlite(source, applied) as file:
            _copy_sqlite(file, _database_file())
    with transaction.atomic(), connection.cursor() as cursor:
        _empty(cursor, set(connection.introspection.table_names(cursor)))
        many = 1_000 + secrets.randbelow(100_000)  # more than were made after the backup
        cursor.execute("UPDATE summhay_site_user SET links_made = links_made + %s", [many])
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise BackupFailed(
            f"The backup was restored, but its tables could not be updated ({error}). Restore it into an empty "
            "database: until then, people erased since the backup are in it again."
        ) from error
    n_erased = erase_again(erased=erased)
    if erased:  # the file of this site may have been lost, and the one beside the backup not
        erasing.write_tombstones(erased, to=erasing.tombstone_file())
    return n_erased


def drill(*, source: Path) -> tuple[str, engines.Sums, datetime | None, int]:
    """Restore a backup into a file that is thrown away, with the tables of today, and look at each row.

    Gives the engine that made it, what is in it, when the last act of the audit log was, and how many people a
    restore would erase again. The database of the site is only asked who was erased. Raises `BackupFailed`.
    """
    applied = _check(source)
    engine, erased = kind_of(source), _tombstones(source.with_name(erasing.FILE_NAME))
    with as_sqlite(source, applied) as file, tempfile.TemporaryDirectory(prefix="summhay-drill-") as folder:
        trial = Path(folder) / "trial.sqlite3"
        _copy_sqlite(file, trial)
        try:
            engines.bring_up_to_date(trial)
            sums = engines.count_rows(trial)
            with engines.in_its_place(trial) as restored:
                restored.check_constraints()
                n_erased = erase_again(erased=erased)
                latest = AuditEvent.objects.exclude(action="account.erased").aggregate(latest=Max("at"))["latest"]
        except DatabaseError as error:
            raise BackupFailed(f"{source} cannot be brought up to date: {error}") from error
    return engine, sums, latest, n_erased


def kind_of(source: Path) -> str:
    """The engine that made a backup, by how the file begins. Raises `BackupFailed`."""
    if not source.is_file():
        raise BackupFailed(f"There is no file {source}.")
    with source.open("rb") as file:
        return "postgresql" if file.read(5) == b"PGDMP" else "sqlite"


@contextmanager
def as_sqlite(source: Path, applied: list[Migration]) -> Iterator[Path]:
    """A backup of either engine, made with these migrations, as a SQLite file. Raises `BackupFailed`."""
    if kind_of(source) == "sqlite":
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="summhay-restore-") as folder:
        file = Path(folder) / "archive.sqlite3"
        lines = _lines("pg_restore", "--data-only", "--file=-", str(source))
        try:
            engines.archive_to_sqlite(lines, applied=applied, to=file)
        except engines.Differs as error:
            raise BackupFailed(f"{source} cannot be restored on SQLite: {error}") from error
        yield file


def _sqlite_into_postgresql(source: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="summhay-restore-") as folder, lifted():
        file = Path(folder) / "today.sqlite3"
        _copy_sqlite(source, file)
        try:
            engines.bring_up_to_date(file)
            call_command("migrate", interactive=False, verbosity=0)
            engines.sqlite_to_postgresql(file)
        except (engines.Differs, DatabaseError) as error:
            raise BackupFailed(f"{source} cannot be restored on PostgreSQL: {error}") from error


def _tombstones(beside: Path) -> list[Tombstone]:
    """All that the present database, the file of this machine and the one beside the backup list."""
    try:
        files = [erasing.read_tombstones(file) for file in (erasing.tombstone_file(), beside)]
        return erasing.merge_tombstones(erasing.stored(), *files)
    except erasing.Damaged as error:
        raise BackupFailed(str(error)) from error


def is_unlisted(source: Path) -> bool:
    """Whether nothing here lists who was erased since a backup was made, not even as nobody."""
    files = (source.with_name(erasing.FILE_NAME), erasing.tombstone_file())
    return not any(file.exists() for file in files)


def _empty(cursor: Any, present: set[str]) -> None:
    for table in LEFT_OUT:
        if table in present:  # an older backup may not have all of them
            cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - one of our own names


def _database_file() -> Path:
    return Path(str(connection.settings_dict["NAME"]))


def _copy_sqlite(source: Path, to: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(to, timeout=20)) as new,
        ):
            old.backup(new)
    except sqlite3.Error as error:
        raise BackupFailed(f"SQLite could not copy {source} to {to}: {error}.") from error


def _check(source: Path) -> list[Migration]:
    """Find out whether a file can be restored, before anything is touched; gives the migrations in it."""
    return _check_archive(source) if kind_of(source) == "postgresql" else _check_sqlite(source)


def _check_sqlite(source: Path) -> list[Migration]:
    try:
        with closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as file:
            verdict = file.execute("PRAGMA integrity_check").fetchone()[0]
            file.execute("SELECT 1 FROM summhay_site_user LIMIT 1")
            applied = file.execute(APPLIED).fetchall()
    except sqlite3.Error as error:
        raise BackupFailed(f"{source} is not a backup of this program: {error}.") from error
    if verdict != "ok":
        raise BackupFailed(f"{source} is damaged: {verdict}.")
    _check_version(source, applied)
    return applied


def _check_archive(source: Path) -> list[Migration]:
    """Read the migrations out of a file of `pg_dump`: lines of a COPY, with the columns that its head names."""
    lines = _run("pg_restore", "--data-only", "--table=django_migrations", "--file=-", str(source)).splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("COPY ")]
    if not heads:
        raise BackupFailed(f"{source} is not a backup of this program: it has no table of migrations.")
    names = lines[heads[0]].partition("(")[2].partition(")")[0].split(", ")
    rows = [line.split("\t") for line in lines[heads[0] + 1 : lines.index("\\.", heads[0])]]
    app, name = names.index("app"), names.index("name")
    applied = [(row[app], row[name]) for row in rows]
    _check_version(source, applied)
    return applied


def _check_version(source: Path, applied: list[Migration]) -> None:
    try:
        check(applied, what=f"The backup {source}")
    except ForeignDatabase as error:
        raise BackupFailed(str(error)) from error


def _run(tool: str, *arguments: str) -> str:
    """Run one of PostgreSQL's tools to its end; returns what it printed."""
    # The arguments are ours, and the password travels in the environment, where other users cannot see it.
    done = subprocess.run(  # noqa: S603
        [_path_of(tool), *arguments],
        env={**os.environ, **_postgres_environment()},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BackupFailed(f"{tool} failed: {done.stderr.strip()}")
    return done.stdout


def _lines(tool: str, *arguments: str) -> Iterator[bytes]:
    """Run one of them on a file; gives the lines as it prints them."""
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen([_path_of(tool), *arguments], stdout=subprocess.PIPE, stderr=said) as process,  # noqa: S603
    ):
        yield from process.stdout or ()
        if process.wait():
            said.seek(0)
            raise BackupFailed(f"{tool} failed: {said.read().decode(errors='replace').strip()}")


def _path_of(tool: str) -> str:
    path = shutil.which(tool)
    if path is None:
        raise BackupFailed(f"{tool} was not found; install the PostgreSQL client tools.")
    return path


def _postgres_environment() -> dict[str, str]:
    usual: dict[str, Any] = connection.settings_dict
    known = usual.get("DIRECT", usual)  # the tools change their session, which others would get from a pool
    values = {
        "PGHOST": known.get("HOST"),
        "PGPORT": known.get("PORT"),
        "PGUSER": known.get("USER"),
        "PGPASSWORD": known.get("PASSWORD"),
        "PGDATABASE": known.get("NAME"),
    }
    return {key: str(value) for key, value in values.items() if value}


def _sync(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


BACKUP = "backup"
BACKUP_EVERY = timedelta(hours=20)
"""Shorter than a day, so that a night whose turn comes a little early is not left out."""
NAME = "summhay-{:%Y-%m-%dT%H%M}.backup"


def claim(name: str, *, every: timedelta, now: datetime) -> bool:
    """Whether it is time to do this again; then it counts as done now, for all others."""
    if LastTime.objects.filter(name=name, at__lte=now - every).update(at=now):
        return True
    try:
        with transaction.atomic():
            return LastTime.objects.get_or_create(name=name, defaults={"at": now})[1]
    except IntegrityError:
        return False  # another process was first


def make_backup(*, now: datetime) -> Path | None:
    """Write the backup of this night to BACKUP_DIR and remove those that are too many; None where it is not due.

    Raises `BackupFailed` and `OSError`; then it is due again at once.
    """
    folder: Path | None = settings.BACKUP_DIR
    if folder is None or not claim(BACKUP, every=BACKUP_EVERY, now=now):
        return None
    file = folder / NAME.format(now)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        backup(to=file, overwrite=True)
    except Exception:
        LastTime.objects.filter(name=BACKUP, at=now).delete()
        raise
    made_by_schedule = sorted(folder.glob("summhay-????-??-??T????.backup"), reverse=True)
    for old in made_by_schedule[settings.BACKUP_KEEP :]:
        old.unlink(missing_ok=True)
    return file
