"""Every planted fault is found by `doctor`, and told to admins once a day; backups are made and thinned."""

import io
import json
import shutil
import smtplib
from collections import namedtuple
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from socket import gethostname
from typing import Any

import pytest
from django.conf import settings as live
from django.core import mail
from django.core.checks import Error
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.models import F
from django.utils import timezone

from benchmarks.models import ImportJob, JudgeRun
from summhay_site.models import LastTime, WorkerHeartbeat
from summhay_site.operations import backups, doctor, system
from tests.conftest import make_user
from tests.makers import make_session
from tests.makers_recall import make_judge

pytestmark = [pytest.mark.django_db, pytest.mark.every_database]
Usage = namedtuple("Usage", "total used free")
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def healthy(settings, tmp_path: Path, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site with nothing wrong: workers for all queues, folders, a fresh backup."""
    monkeypatch.setattr(system, "ahead_of_database_s", lambda *, clock: 0.0)  # the time of tests is made up
    monkeypatch.setattr(doctor, "run_checks", lambda **_: [])
    settings.DATA_DIR = tmp_path
    settings.BACKUP_DIR = tmp_path / "backups"
    settings.BACKUP_DIR.mkdir()
    here = doctor.socket.gethostname()
    system.record_heartbeat(name=f"worker@{here}", now=now, queues=settings.QUEUES)
    LastTime.objects.create(name=backups.BACKUP, at=now - HOUR)


def names(now: datetime) -> set[str]:
    return {problem.name for problem in doctor.examine(now=now)}


def test_nothing_is_wrong_with_a_healthy_site(healthy: None, now: datetime) -> None:
    assert doctor.examine(now=now) == []


def change(**columns) -> Callable[[Any, Any], object]:
    """Change the only heartbeat."""
    return lambda _patch, _settings: WorkerHeartbeat.objects.update(**columns)


def long_ago(made: Callable[[datetime], Any]) -> Callable[[Any, Any], object]:
    """Make something two hours before the heartbeat."""
    return lambda _patch, _settings: made(WorkerHeartbeat.objects.get().at - 2 * HOUR)


def refusing(name: str, error: Exception) -> Callable[[Any, Any], object]:
    """Let a question of the doctor fail."""

    def refuse() -> None:
        raise error

    return lambda patch, _settings: patch.setattr(doctor, name, refuse)


no_broker = refusing("ask_broker", ConnectionRefusedError("nobody there"))


def bad_folder(patch: pytest.MonkeyPatch, settings) -> None:
    file = Path(settings.DATA_DIR) / "file"
    file.touch()
    settings.BACKUP_DIR = file / "backups"


def full_disk(patch: pytest.MonkeyPatch, settings) -> None:
    settings.BACKUP_DIR = None
    patch.setattr(shutil, "disk_usage", lambda _: Usage(100, 99, 1))


def other_machine(patch: pytest.MonkeyPatch, settings) -> None:
    row = WorkerHeartbeat.objects.get()
    WorkerHeartbeat.objects.create(name="worker@elsewhere", at=row.at, queues=row.queues)
    settings.CELERY_BROKER_URL = "filesystem://"


def unsettled(at: datetime) -> None:
    session = make_session(annotator=make_user("wren", "annotator"))
    type(session).objects.filter(pk=session.pk).update(next_due_at=at)


def second_beat(at: datetime) -> None:
    for pid, began_at in ((1, at + HOUR), (2, at + 119 * MINUTE)):
        system.record_beat(name="here", pid=pid, began_at=began_at, now=at + 2 * HOUR)


PLANTED: dict[str, tuple[str, Callable[[Any, Any], object]]] = {
    "settings": (
        "settings: summhay.E001",
        lambda patch, _: patch.setattr(doctor, "run_checks", lambda **_: [Error("Odd.", id="summhay.E001")]),
    ),
    "folder": ("folder: BACKUP_DIR", bad_folder),
    "broker": ("broker", no_broker),
    "disk": ("disk: data folder", full_disk),
    "silence": ("workers", change(at=F("at") - HOUR)),
    "no worker": ("workers", lambda *_: WorkerHeartbeat.objects.all().delete()),
    "queue": ("queue: models", change(queues=[live.SHORT])),
    "clock": (f"clock: worker@{gethostname()}", change(ahead_s=-90.0)),
    "machine": ("shared: broker", other_machine),
    "beat": ("beat", long_ago(unsettled)),
    "second beat": ("beats", long_ago(second_beat)),
    "run": (
        "orphans: runs",
        long_ago(lambda at: JudgeRun.objects.create(judge=make_judge("lexical"), state="running", created_at=at)),
    ),
    "import": (
        "orphans: imports",
        long_ago(
            lambda at: ImportJob.objects.create(format="summhay", file_name="a", file_path="a", created_at=at)
        ),
    ),
    "old backup": ("backups", lambda *_: LastTime.objects.update(at=F("at") - 72 * HOUR)),
    "database": ("database", refusing("missing_migrations", OperationalError("gone"))),
    "migration": (
        "migrations",
        lambda patch, _: patch.setattr(doctor, "missing_migrations", lambda: ["annotation.0099_later"]),
    ),
}


@pytest.mark.parametrize(("name", "plant"), PLANTED.values(), ids=list(PLANTED))
def test_a_planted_fault_is_found_and_ends_the_command_with_1(
    name: str, plant, healthy: None, now: datetime, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, settings)
    assert name in names(now)
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    out = io.StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("doctor", "--json", stdout=out)
    [said] = [each for each in json.loads(out.getvalue()) if each["name"] == name]
    assert said["is_bad"]
    assert said["says"].endswith((".", "gone", "lost."))


def test_without_a_fault_the_command_ends_with_0_and_warnings_do_not_count(
    healthy: None, now: datetime, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    out = io.StringIO()
    call_command("doctor", stdout=out)
    assert out.getvalue() == "All is well.\n"
    settings.BACKUP_DIR = None
    call_command("doctor", stdout=out)
    assert "warning: No backups are made by schedule" in out.getvalue()


def test_admins_are_mailed_each_problem_once_a_day(
    healthy: None, now: datetime, settings, eve, ben, monkeypatch: pytest.MonkeyPatch
) -> None:
    type(eve).objects.filter(pk=eve.pk).update(email="eve@example.org")
    type(ben).objects.filter(pk=ben.pk).update(email="ben@example.org")
    no_broker(monkeypatch, settings)
    assert doctor.mail_alarms(now=now) == [], "where mail is not set up"
    settings.EMAIL_IS_SET = True
    for minutes in (0, 10, 20):
        doctor.mail_alarms(now=now + timedelta(minutes=minutes / 10))
    [sent] = mail.outbox
    assert sent.to == ["eve@example.org"]
    assert "The broker does not answer" in sent.body
    WorkerHeartbeat.objects.update(queues=[settings.SHORT])
    doctor.mail_alarms(now=now + timedelta(minutes=1))
    assert len(mail.outbox) == 2
    assert "broker" not in mail.outbox[1].body
    WorkerHeartbeat.objects.update(at=now + timedelta(hours=25), queues=settings.QUEUES)
    LastTime.objects.filter(name=backups.BACKUP).update(at=now + timedelta(hours=25))
    doctor.mail_alarms(now=now + timedelta(hours=25))
    assert "broker" in mail.outbox[2].body


def test_a_mail_that_could_not_be_sent_is_tried_again(
    healthy: None, now: datetime, settings, eve, monkeypatch: pytest.MonkeyPatch
) -> None:
    type(eve).objects.filter(pk=eve.pk).update(email="eve@example.org")
    settings.EMAIL_IS_SET = True
    no_broker(monkeypatch, settings)

    def refuse(*_: object) -> None:
        raise smtplib.SMTPServerDisconnected("gone")

    with monkeypatch.context() as patch:
        patch.setattr(doctor, "send_mail", refuse)
        with pytest.raises(smtplib.SMTPException):
            doctor.mail_alarms(now=now)
    doctor.mail_alarms(now=now)
    assert len(mail.outbox) == 1


def test_the_clock_of_a_worker_is_compared_with_that_of_the_database(
    now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    system.record_heartbeat(name="worker@one", now=now)
    assert "clock: worker@one" not in names(now), "work that began long ago is no clock that is off"
    assert "clock: this machine" not in names(now)
    wrong = timezone.now() + timedelta(seconds=90)
    monkeypatch.setattr("django.utils.timezone.now", lambda: wrong)
    system.record_heartbeat(name="worker@one", now=now)
    assert (names(now) >= {"clock: worker@one", "clock: this machine"}) == (connection.vendor == "postgresql")


def test_a_beat_that_takes_the_place_of_another_is_no_second_one(healthy: None, now: datetime) -> None:
    system.record_beat(name="here", pid=1, began_at=now - HOUR, now=now - timedelta(seconds=30))
    system.record_beat(name="here", pid=2, began_at=now - timedelta(seconds=20), now=now)
    assert names(now) == set()
    later = now + timedelta(minutes=1)
    system.record_beat(name="here", pid=2, began_at=now - timedelta(seconds=20), now=later)
    system.record_beat(name="there", pid=3, began_at=now, now=later)
    assert system.beats_at_once(now=later) == ["here (process 2)", "there (process 3)"]
    assert system.beats_at_once(now=later + HOUR) == []


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch, settings, tmp_path: Path) -> Path:
    """A folder of backups, which are empty files here."""

    def write(*, to: Path, overwrite: bool) -> int:
        to.touch()
        return 0

    monkeypatch.setattr(backups, "backup", write)
    settings.BACKUP_DIR, settings.BACKUP_KEEP = tmp_path / "backups", 3
    return tmp_path / "backups"


def test_a_backup_is_made_once_a_night_and_the_newest_are_kept(written: Path, now: datetime) -> None:
    written.mkdir()
    (written / "by-hand.backup").touch()
    for day in range(5):
        night = now + timedelta(days=day)
        assert backups.make_backup(now=night) is not None
        assert backups.make_backup(now=night + timedelta(minutes=5)) is None, "another beat, or a message twice"
    days = ["2026-03-04T0900", "2026-03-05T0900", "2026-03-06T0900"]
    assert sorted(path.name for path in written.iterdir()) == [
        "by-hand.backup",
        *(f"summhay-{day}.backup" for day in days),
    ]


def test_a_backup_that_failed_is_due_again_and_none_is_made_without_a_folder(
    written: Path, now: datetime, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise backups.BackupFailed("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(backups, "backup", fail)
        with pytest.raises(backups.BackupFailed):
            backups.make_backup(now=now)
    assert backups.make_backup(now=now) is not None
    settings.BACKUP_DIR = None
    assert backups.make_backup(now=now + timedelta(days=1)) is None
