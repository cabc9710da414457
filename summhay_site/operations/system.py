"""Signs of life: when the workers last spoke, how full the disk is, how long work has been waiting; their page.

The same for Prometheus at `/metrics`, with the requests of all web processes, only for the networks that
METRICS_NETWORKS names. Request times of several web processes meet in the folder that PROMETHEUS_MULTIPROC_DIR
names (`summhay_site/gunicorn.py` makes it).
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from celery.signals import beat_init, worker_ready, worker_shutting_down
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import DatabaseError, connection
from django.db.models import Count, F, Min, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import ResolverMatch
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from annotation.models import Session
from benchmarks.models import ImportJob, JudgeRun, JudgeRunItem, Result
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import public, requires
from summhay_site.accounts.logins import client_ip
from summhay_site.models import LastTime, WorkerHeartbeat
from summhay_site.operations.backups import BACKUP

UNFINISHED = (JudgeRun.State.PENDING, JudgeRun.State.RUNNING)

SILENT_AFTER = timedelta(minutes=2)
FORGET_AFTER = timedelta(days=1)
LEAST_FREE_SHARE = 0.05
MOST_SKEW_S = 5.0
BEAT = "beat: "
"""Begins the names under which beats are kept among the times."""
QUEUE_PREFIX = "summhay-"
"""Begins the names of queues in the broker, and not on pages."""


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
    queues: tuple[str, ...]
    ahead_s: float = 0.0

    @property
    def is_off(self) -> bool:
        """Whether its clock differs from the database's by more than five seconds."""
        return abs(self.ahead_s) > MOST_SKEW_S


@dataclass(frozen=True)
class Alarm:
    """Alarms for admins; `queues_without_worker` are those that no worker takes work from."""

    worker_silent_since: datetime | None
    no_worker_yet: bool
    queues_without_worker: tuple[str, ...]
    disk: Disk

    @property
    def is_raised(self) -> bool:
        is_silent = self.worker_silent_since is not None or self.no_worker_yet
        return is_silent or bool(self.queues_without_worker) or self.disk.is_low


def record_heartbeat(*, name: str, now: datetime, queues: Sequence[str] = settings.QUEUES) -> None:
    """Record a heartbeat of a worker and how far its clock is off, and delete those older than a day."""
    seen = {"at": now, "queues": list(queues), "ahead_s": ahead_of_database_s(clock=timezone.now)}
    WorkerHeartbeat.objects.update_or_create(name=name[:200], defaults=seen)
    WorkerHeartbeat.objects.filter(at__lt=now - FORGET_AFTER).exclude(name=name[:200]).delete()


def record_beat(*, name: str, pid: int, began_at: datetime, now: datetime) -> None:
    """Record that beat, begun at some time in a process of a machine, still runs."""
    row = f"{BEAT}{name} (process {pid}) since {began_at.isoformat()}"
    LastTime.objects.update_or_create(name=row, defaults={"at": now})
    LastTime.objects.filter(name__startswith=BEAT, at__lt=now - FORGET_AFTER).delete()


def beats_at_once(*, now: datetime) -> list[str]:
    """Beats that run at the same time, if more than one; one that takes the place of another begins after it."""
    rows = LastTime.objects.filter(name__startswith=BEAT, at__gte=now - SILENT_AFTER).order_by("at")
    beats = {tuple(row.name.removeprefix(BEAT).rsplit(" since ", 1)): row.at for row in rows}
    newest = max((datetime.fromisoformat(began_at) for _name, began_at in beats), default=now)
    names = sorted(name for (name, _began_at), at in beats.items() if at >= newest)
    return names if len(names) > 1 else []


def ahead_of_database_s(*, clock: Callable[[], datetime]) -> float:
    """How far the clock of this machine is ahead of PostgreSQL's, in seconds; SQLite has none of its own.

    It is read on either side of the question, which may take long where the database is busy.
    """
    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        before = clock()
        cursor.execute("SELECT clock_timestamp()")
        after = clock()
        return float((before + (after - before) / 2 - cursor.fetchone()[0]).total_seconds())


def read_workers(*, now: datetime) -> list[Worker]:
    """All workers of the last day, the one that spoke last first."""
    return [
        Worker(
            name=row.name,
            at=row.at,
            is_silent=row.at < now - SILENT_AFTER,
            queues=tuple(queue.removeprefix(QUEUE_PREFIX) for queue in row.queues),
            ahead_s=row.ahead_s,
        )
        for row in WorkerHeartbeat.objects.all()
    ]


def read_alarm(*, now: datetime) -> Alarm:
    """One query and one look at the disk. One worker that speaks is enough for each queue."""
    workers = read_workers(now=now)
    speaking = [worker for worker in workers if not worker.is_silent]
    served = {queue for worker in speaking for queue in worker.queues}
    queues = (name.removeprefix(QUEUE_PREFIX) for name in settings.QUEUES)
    return Alarm(
        worker_silent_since=workers[0].at if workers and not speaking else None,
        no_worker_yet=not workers,
        queues_without_worker=tuple(name for name in queues if name not in served) if speaking else (),
        disk=read_disk(settings.DATA_DIR),
    )


def read_disk(folder: Path) -> Disk:
    """Size and free space of the disk under a folder, which need not be there yet."""
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
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


def read_queue(*, now: datetime) -> dict[str, Any]:
    """Work that waits: runs not finished, their items, failures, sessions whose clock is due. Three queries."""
    runs = JudgeRun.objects.filter(state__in=UNFINISHED).aggregate(n=Count("pk"), oldest=Min("created_at"))
    items = JudgeRunItem.objects.aggregate(
        waiting=Count("pk", filter=Q(state=JudgeRunItem.State.PENDING, run__state__in=UNFINISHED)),
        failed=Count("pk", filter=Q(state=JudgeRunItem.State.FAILED)),
    )
    due = Session.objects.filter(next_due_at__lt=now).aggregate(n=Count("pk"), oldest=Min("next_due_at"))
    return {
        "runs": runs["n"],
        "items": items["waiting"],
        "failed_items": items["failed"],
        "oldest_run_at": runs["oldest"],
        "sessions_due": due["n"],
        "oldest_due_at": due["oldest"],
    }


logger = logging.getLogger(__name__)

EVERY_S = 20.0
_is_over = threading.Event()


@worker_ready.connect(dispatch_uid="heartbeat")
def begin_with_worker(sender: Any, **_: Any) -> None:
    """Begin with the first message that the worker can take."""
    queues = sorted(sender.app.amqp.queues.consume_from)
    _begin(partial(record_heartbeat, name=sender.hostname, queues=queues))


@beat_init.connect(dispatch_uid="heartbeat")
def begin_with_beat(**_: Any) -> None:
    """Likewise for beat, so that a second one is noticed."""
    _begin(partial(record_beat, name=socket.gethostname(), pid=os.getpid(), began_at=timezone.now()))


def _begin(record: Callable[..., None]) -> None:
    threading.Thread(target=_go_on, args=[record], name="heartbeat", daemon=True).start()


@worker_shutting_down.connect(dispatch_uid="heartbeat")
def end_with_worker(**_: Any) -> None:
    """Say nothing more: the worker finishes what it has and takes nothing new."""
    _is_over.set()


def _go_on(record: Callable[..., None]) -> None:
    """Record a heartbeat every 20 seconds; a database that is out of reach is asked again the next time."""
    while not _is_over.is_set():
        try:
            record(now=timezone.now())
        except DatabaseError as error:
            logger.warning("The heartbeat was not recorded: %s", error)
        finally:
            connection.close()  # it belongs to this thread; children that the pool forks later must not inherit it
        _is_over.wait(EVERY_S)


@requires("summhay_site.view_workerheartbeat")
@require_safe
@never_cache
def system_page(request: HtmxHttpRequest) -> HttpResponse:
    """Workers, disk, database and queue."""
    now = timezone.now()
    context = {
        "alarm": read_alarm(now=now),
        "workers": read_workers(now=now),
        "queue": read_queue(now=now),
        "database_bytes": database_bytes(),
        "database_kind": connection.vendor,
        "can_mail": settings.EMAIL_IS_SET,
        "has_backups": settings.BACKUP_DIR is not None,
        "last_backup": LastTime.objects.filter(name=BACKUP).values_list("at", flat=True).first(),
        "now": now,
    }
    return page(request, "site/system.html", context)


REQUESTS = CollectorRegistry()
SECONDS = Histogram(
    "summhay_request_seconds",
    "Time from the head of a request to its response.",
    ["method", "view", "status"],
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30),
    registry=REQUESTS,
)
METHODS = {"GET", "HEAD", "POST"}


class MetricsMiddleware:
    """Take the time of each request, and answer `/metrics` whatever the host name."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.METRICS_NETWORKS:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Count it under the name of its view, which has no identifiers in it."""
        if request.path_info in {"/metrics", "/metrics/"} and may_read(request):
            return metrics(request)
        began = time.perf_counter()
        response = self.get_response(request)
        match: ResolverMatch | None = request.resolver_match
        method = request.method if request.method in METHODS else "other"
        SECONDS.labels(method, match.view_name if match else "none", response.status_code).observe(
            time.perf_counter() - began
        )
        return response


def may_read(request: HttpRequest) -> bool:
    """Whether the request comes from a network of admins."""
    try:
        address = ip_address(client_ip(request) or "")
    except ValueError:
        return False
    return any(address in network for network in settings.METRICS_NETWORKS)


@public
@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """All numbers in Prometheus's text format; 404 for everybody else."""
    if not may_read(request):
        raise Http404
    registry = CollectorRegistry()
    registry.register(SiteNumbers())
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        requests = b""
    else:
        requests = generate_latest(REQUESTS)
    return HttpResponse(generate_latest(registry) + requests, content_type=CONTENT_TYPE_LATEST)


class SiteNumbers(Collector):
    """Numbers that all web processes agree on: a few queries, none of which grows with the texts."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        now = timezone.now()
        queue, alarm = read_queue(now=now), read_alarm(now=now)
        yield _gauge("runs_unfinished", "Runs of models that are not finished.", queue["runs"])
        yield _gauge("run_items_waiting", "Items of these that wait.", queue["items"])
        yield _gauge("run_items_failed", "Items of runs that failed.", queue["failed_items"])
        yield _gauge("run_oldest_seconds", "Age of the oldest unfinished run.", _age(queue["oldest_run_at"], now))
        yield _gauge("sessions_due", "Sessions whose clock is to be settled.", queue["sessions_due"])
        yield _gauge("sessions_due_seconds", "The longest of these waits.", _age(queue["oldest_due_at"], now))
        yield _labelled("sessions", "Writing sessions by state.", "state", _by_state(Session))
        yield _labelled("imports", "Imports by state.", "state", _by_state(ImportJob))
        waiting = Result.objects.exclude(version=F("wanted")).exclude(failed=F("wanted"))
        yield _gauge("results_waiting", "Results that a worker is to compute.", waiting.count())
        seen = {worker.name: (now - worker.at).total_seconds() for worker in read_workers(now=now)}
        yield _labelled("worker_silent_seconds", "Since a worker was last heard of.", "worker", seen)
        without = dict.fromkeys(alarm.queues_without_worker, 1)
        yield _labelled("queue_without_worker", "Queues that no worker takes from.", "queue", without)
        yield _gauge("disk_free_bytes", "Free on the disk of the data folder.", alarm.disk.free)
        yield _gauge("disk_bytes", "Size of that disk.", alarm.disk.total)
        yield _gauge("database_bytes", "Size of the database.", database_bytes())
        last = LastTime.objects.filter(name=BACKUP).first()
        if last is not None:
            yield _gauge("backup_age_seconds", "Since the last scheduled backup.", _age(last.at, now))


def _gauge(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"summhay_{name}", words, value=value)


def _labelled(name: str, words: str, label: str, values: dict[str, Any]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"summhay_{name}", words, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def _by_state(model: Any) -> dict[str, int]:
    return dict(model.objects.order_by().values_list("state").annotate(n=Count("pk")))


def _age(at: datetime | None, now: datetime) -> float:
    return (now - at).total_seconds() if at is not None else 0.0
