"""Signs of life: when the workers last spoke, how full the disk is, how long work has been waiting."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models import Count, Min, Q

from annotation.models import Session
from benchmarks.models import JudgeRun, JudgeRunItem
from summhay_site.models import WorkerHeartbeat

UNFINISHED = (JudgeRun.State.PENDING, JudgeRun.State.RUNNING)

SILENT_AFTER = timedelta(minutes=2)
FORGET_AFTER = timedelta(days=1)
LEAST_FREE_SHARE = 0.05


@dataclass(frozen=True)
class Disk:
    """The disk that holds the data folder, in bytes."""

    total: int
    free: int

    @property
    def free_share(self) -> float:
        """The share of the disk that is free, from 0 to 1."""
        return self.free / self.total if self.total else 0.0

    @property
    def is_low(self) -> bool:
        """Whether less than 5 % is free."""
        return self.free_share < LEAST_FREE_SHARE


@dataclass(frozen=True)
class Worker:
    """One worker and its last sign of life."""

    name: str
    at: datetime
    is_silent: bool


@dataclass(frozen=True)
class Alarm:
    """What needs an admin's eye now."""

    worker_silent_since: datetime | None
    no_worker_yet: bool
    disk: Disk

    @property
    def is_raised(self) -> bool:
        """Whether there is anything to say."""
        return self.worker_silent_since is not None or self.no_worker_yet or self.disk.is_low


@dataclass(frozen=True)
class Queue:
    """Work that waits: judge runs not finished, their items, failures, and sessions whose clock is due."""

    runs: int
    items: int
    failed_items: int
    oldest_run_at: datetime | None
    sessions_due: int
    oldest_due_at: datetime | None


def record_heartbeat(*, name: str, now: datetime) -> None:
    """Record a heartbeat of a worker, and delete those older than a day."""
    WorkerHeartbeat.objects.update_or_create(name=name[:200], defaults={"at": now})
    WorkerHeartbeat.objects.filter(at__lt=now - FORGET_AFTER).exclude(name=name[:200]).delete()


def read_workers(*, now: datetime) -> list[Worker]:
    """All workers of the last day, the one that spoke last first."""
    return [
        Worker(name=row.name, at=row.at, is_silent=row.at < now - SILENT_AFTER)
        for row in WorkerHeartbeat.objects.all()
    ]


def read_alarm(*, now: datetime) -> Alarm:
    """One query and one look at the disk. One worker that speaks is enough."""
    last = WorkerHeartbeat.objects.values_list("at", flat=True).first()
    is_silent = last is not None and last < now - SILENT_AFTER
    return Alarm(
        worker_silent_since=last if is_silent else None,
        no_worker_yet=last is None,
        disk=read_disk(settings.DATA_DIR),
    )


def read_disk(folder: Path) -> Disk:
    """Size and free space of the disk under a folder, which need not be there yet."""
    nearest = next(one for one in (folder, *folder.parents) if one.exists())
    usage = shutil.disk_usage(nearest)
    return Disk(total=usage.total, free=usage.free)


def database_bytes() -> int:
    """Size of the database; for SQLite with its write-ahead log."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
    name = str(connection.settings_dict["NAME"])
    files = (Path(name), Path(f"{name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def read_queue(*, now: datetime) -> Queue:
    """Three queries, whatever the number of runs."""
    runs = JudgeRun.objects.filter(state__in=UNFINISHED).aggregate(n=Count("pk"), oldest=Min("created_at"))
    items = JudgeRunItem.objects.aggregate(
        waiting=Count("pk", filter=Q(state=JudgeRunItem.State.PENDING, run__state__in=UNFINISHED)),
        failed=Count("pk", filter=Q(state=JudgeRunItem.State.FAILED)),
    )
    due = Session.objects.filter(next_due_at__lt=now).aggregate(n=Count("pk"), oldest=Min("next_due_at"))
    return Queue(
        runs=runs["n"],
        items=items["waiting"],
        failed_items=items["failed"],
        oldest_run_at=runs["oldest"],
        sessions_due=due["n"],
        oldest_due_at=due["oldest"],
    )
