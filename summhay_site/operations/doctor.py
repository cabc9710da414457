"""Problems of a site: settings, folders, database, broker, workers, clocks, orphaned work, disk, backups.

Each problem has a name that stays the same, so that admins are mailed about it once a day. Django's checks report
settings that are unsafe or slow before the program starts.
"""

from __future__ import annotations

import os
import smtplib
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import WARNING, CheckMessage, Error, Tags, Warning, register, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import send_mail
from django.db import DatabaseError, connection
from django.db.models import Q
from django.utils import timezone

from benchmarks.engine.runs import unfinished_runs
from benchmarks.io.jobs import WORKING
from benchmarks.models import ImportJob, JudgeRun, Retrieval
from summhay_site.accounts.models import User
from summhay_site.models import LastTime, WorkerHeartbeat
from summhay_site.operations import backups, system
from summhay_site.operations.upgrading import ForeignDatabase, check_database
from summhay_site.serving.health import ask_broker, missing_migrations

LONG_WAIT = timedelta(hours=1)
"""Work that nobody has held for so long is orphaned; sweeps take it up every minute where workers run."""
LATE = timedelta(minutes=5)
"""Sessions whose clock was due so long ago: beat does not run, or no worker takes what it asks for."""
OLD_BACKUP = timedelta(hours=50)
"""Two nights without one."""
MAIL_EVERY = timedelta(hours=24)


@dataclass(frozen=True)
class Problem:
    """A problem, in a sentence; `is_bad` where work stands still or may be lost, else it is a warning."""

    name: str
    says: str
    is_bad: bool = True


def examine(*, now: datetime) -> list[Problem]:
    """All problems that this machine sees. Where the database cannot be asked, only what needs none."""
    try:
        check_database()
        missing = missing_migrations()
    except ForeignDatabase as error:
        return [Problem("migrations", str(error)), *_problems(_WITHOUT_DATABASE, now)]
    except (DatabaseError, ImproperlyConfigured) as error:
        return [Problem("database", f"The database cannot be read: {error}"), *_problems(_WITHOUT_DATABASE, now)]
    if missing:
        says = f"The database is not up to date: {missing[0]} and {len(missing) - 1} more. Run migrate."
        return [Problem("migrations", says), *_problems(_WITHOUT_DATABASE, now)]
    return [*_problems(_WITHOUT_DATABASE, now), *_problems(_WITH_DATABASE, now)]


def mail_alarms(*, now: datetime) -> list[Problem]:
    """Mail admins what is bad, each problem once a day; returns what was in the mail."""
    if not settings.EMAIL_IS_SET:
        return []
    to = list(User.objects.active_admins().exclude(email="").values_list("email", flat=True))
    if not to:
        return []
    bad = [problem for problem in examine(now=now) if problem.is_bad]
    new = [each for each in bad if backups.claim(_alarm(each), every=MAIL_EVERY, now=now)]
    if not new:
        return []
    try:
        lines = [f"- {problem.says}" for problem in new]
        text = "\n".join([*lines, "", f"{settings.SITE_ADDRESS}system/", "", "Each problem is mailed once a day."])
        send_mail(f"SummHay: {len(new)} problems" if len(new) > 1 else "SummHay: a problem", text, None, to)
    except (OSError, smtplib.SMTPException):
        LastTime.objects.filter(name__in=map(_alarm, new), at=now).delete()  # the next look tries again
        raise
    return new


def _alarm(problem: Problem) -> str:
    return f"alarm: {problem.name}"[:200]


def _problems(checks: tuple[Callable[[datetime], Iterator[Problem]], ...], now: datetime) -> Iterator[Problem]:
    for check in checks:
        try:
            yield from check(now)
        except (DatabaseError, OSError) as error:
            name = check.__name__.strip("_")
            yield Problem(name, f"{name} could not be looked at: {error}")


def _settings(now: datetime) -> Iterator[Problem]:
    for message in run_checks(include_deployment_checks=settings.HTTPS):
        if message.level >= WARNING and not message.is_silenced():
            is_bad = message.is_serious()
            yield Problem(f"settings: {message.id}", " ".join(filter(None, [message.msg, message.hint])), is_bad)


def _folders(now: datetime) -> Iterator[Problem]:
    for name, folder in (("DATA_DIR", settings.DATA_DIR), ("BACKUP_DIR", settings.BACKUP_DIR)):
        if folder is not None:
            nearest = next(each for each in (Path(folder), *Path(folder).parents) if each.exists())
            if not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
                yield Problem(f"folder: {name}", f"{name} {folder} cannot be written to.")


def _broker(now: datetime) -> Iterator[Problem]:
    try:
        ask_broker()
    except Exception as error:  # drivers of brokers raise whatever they like
        yield Problem("broker", f"The broker does not answer: {error}. Work is done late, none is lost.")


def _disk(now: datetime) -> Iterator[Problem]:
    for name, folder in (("data folder", settings.DATA_DIR), ("backups", settings.BACKUP_DIR)):
        if folder is not None and (disk := system.read_disk(Path(folder))).is_low:
            yield Problem(
                f"disk: {name}", f"The disk of the {name} is almost full: {disk.free_share:.1%} is free."
            )


def _workers(now: datetime) -> Iterator[Problem]:
    alarm = system.read_alarm(now=now)
    if alarm.no_worker_yet:
        yield Problem("workers", "No worker has reported yet.")
    elif alarm.worker_silent_since is not None:
        yield Problem(
            "workers", f"All workers have been silent since {alarm.worker_silent_since:%Y-%m-%d %H:%M} UTC."
        )
    for queue in alarm.queues_without_worker:
        yield Problem(f"queue: {queue}", f"No worker takes work of the queue {queue}.")


def _machines(now: datetime) -> Iterator[Problem]:
    """Checks of services that one machine may keep to itself and several must share."""
    hosts = {row.name.rpartition("@")[2] for row in _speaking(now)} | {socket.gethostname()}
    if len(hosts) == 1:
        return
    if settings.CELERY_BROKER_URL.startswith("filesystem"):
        yield Problem("shared: broker", "Several machines, but messages are files: set CELERY_BROKER_URL.")
    if connection.vendor == "sqlite":
        yield Problem("shared: database", "Several machines, but the database is a file: use PostgreSQL.")
    if settings.STORAGES["uploads"]["BACKEND"].endswith("FileSystemStorage"):
        says = "Several machines, and uploads are in a folder: set UPLOADS unless all of them mount it."
        yield Problem("shared: uploads", says, is_bad=False)


def _clocks(now: datetime) -> Iterator[Problem]:
    ahead_s = system.ahead_of_database_s(clock=timezone.now)
    machines = {"this machine": ahead_s} | {row.name: row.ahead_s for row in _speaking(now)}
    for name, seconds in machines.items():
        if abs(seconds) > system.MOST_SKEW_S:
            says = f"The clock of {name} differs from the database's by {seconds:+.0f} s. Set it by NTP."
            yield Problem(f"clock: {name}", says)


def _speaking(now: datetime) -> Any:
    return WorkerHeartbeat.objects.filter(at__gte=now - system.SILENT_AFTER)


def _waiting(now: datetime) -> Iterator[Problem]:
    oldest = system.read_queue(now=now)["oldest_due_at"]
    if oldest is not None and oldest < now - LATE:
        says = "Clocks of sessions are not settled: beat does not run, or nobody takes what it asks for."
        yield Problem("beat", f"{says} The first has waited since {oldest:%Y-%m-%d %H:%M} UTC.")


def _beats(now: datetime) -> Iterator[Problem]:
    if names := system.beats_at_once(now=now):
        says = f"More than one beat runs, so that all is asked for more than once: {', '.join(names)}. Keep one."
        yield Problem("beats", says)


def _orphans(now: datetime) -> Iterator[Problem]:
    long_ago = now - LONG_WAIT
    free = Q(claimed_at=None) | Q(claimed_at__lt=long_ago)
    runs = JudgeRun.objects.filter(uid__in=unfinished_runs(now=now), created_at__lt=long_ago)
    retrievals = Retrieval.objects.filter(free, state__in=["queued", "running"], created_at__lt=long_ago)
    imports = ImportJob.objects.filter(free, state__in=WORKING, created_at__lt=long_ago)
    counted = {
        "runs": runs.exclude(items__claimed_at__gte=long_ago).count(),
        "retrievals": retrievals.count(),
        "imports": imports.count(),
    }
    for what, n in counted.items():
        if n:
            yield Problem(
                f"orphans: {what}", f"{n} {what} have waited for more than an hour, and no worker has them."
            )


def _backups(now: datetime) -> Iterator[Problem]:
    if settings.BACKUP_DIR is None:
        yield Problem("backups", "No backups are made by schedule: set BACKUP_DIR.", is_bad=False)
        return
    last = LastTime.objects.filter(name=backups.BACKUP).first()
    if last is None:
        yield Problem("backups", "No backup was made yet.", is_bad=False)
    elif last.at < now - OLD_BACKUP:
        yield Problem("backups", f"The last backup was made at {last.at:%Y-%m-%d %H:%M} UTC.")


_WITHOUT_DATABASE = (_settings, _folders, _broker, _disk)
_WITH_DATABASE = (_workers, _machines, _clocks, _waiting, _beats, _orphans, _backups)


@register(Tags.security, deploy=True)
def https_is_on(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """In production passwords must not travel in the clear."""
    if settings.HTTPS:
        return []
    return [Warning("HTTPS is off.", hint="Set HTTPS=1 behind a proxy that ends TLS.", id="summhay.W001")]


@register(Tags.files)
def data_folder_is_private(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """The folder with the database and the key must not be open to others on the machine."""
    if not settings.DATA_DIR.exists():
        return []
    mode = _mode(settings.DATA_DIR)
    if mode & 0o002:
        return [
            Error(
                f"The data folder {settings.DATA_DIR} can be written by anybody.",
                hint=f"chmod 700 {settings.DATA_DIR}",
                id="summhay.E001",
            )
        ]
    if mode & 0o077:
        return [
            Warning(
                f"The data folder {settings.DATA_DIR} is open to other users of this machine (mode {mode:03o}).",
                hint=f"chmod 700 {settings.DATA_DIR}",
                id="summhay.W002",
            )
        ]
    return []


@register(Tags.files)
def data_files_are_private(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Nor the files in it, which keep the mode that they were once made with."""
    files = [settings.DATA_DIR / "secret_key", settings.UPLOAD_DIR]
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite" and Path(name).is_absolute():  # else it is kept in memory
        files += [Path(name + end) for end in ("", "-wal", "-shm", "-journal")]
    return [
        Warning(
            f"{path} can be read or written by other users of this machine (mode {_mode(path):03o}).",
            hint=f"chmod {'700' if path.is_dir() else '600'} {path}",
            id="summhay.W003",
        )
        for path in files
        if path.exists()
        and _mode(path) & 0o077
        and _mode(path.parent) & 0o011  # else nobody else gets as far as the file
    ]


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777
