"""Numbers for Prometheus at `/metrics`: requests of all web processes, and what waits, runs and fills up.

Only for the networks that METRICS_NETWORKS names; elsewhere there is no such page. Request times of several web
processes meet in the folder that PROMETHEUS_MULTIPROC_DIR names (`summhay_site/gunicorn.py` makes it).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db.models import Count, F
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
from benchmarks.models import ImportJob, Result
from benchmarks.web.permissions import public
from summhay_site.accounts.logins import client_ip
from summhay_site.models import LastTime
from summhay_site.operations import system
from summhay_site.operations.backups import BACKUP

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
    """What every web process says alike: a few queries, none of which grows with the texts."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Ask the database and the disk."""
        now = timezone.now()
        queue, alarm = system.read_queue(now=now), system.read_alarm(now=now)
        yield _gauge("runs_unfinished", "Runs of models that are not finished.", queue.runs)
        yield _gauge("run_items_waiting", "Items of these that wait.", queue.items)
        yield _gauge("run_items_failed", "Items of runs that failed.", queue.failed_items)
        yield _gauge("run_oldest_seconds", "Age of the oldest unfinished run.", _age(queue.oldest_run_at, now))
        yield _gauge("sessions_due", "Sessions whose clock is to be settled.", queue.sessions_due)
        yield _gauge("sessions_due_seconds", "The longest of these waits.", _age(queue.oldest_due_at, now))
        yield _labelled("sessions", "Writing sessions by state.", "state", _by_state(Session))
        yield _labelled("imports", "Imports by state.", "state", _by_state(ImportJob))
        waiting = Result.objects.exclude(version=F("wanted")).exclude(failed=F("wanted"))
        yield _gauge("results_waiting", "Results that a worker is to compute.", waiting.count())
        seen = {worker.name: (now - worker.at).total_seconds() for worker in system.read_workers(now=now)}
        yield _labelled("worker_silent_seconds", "Since a worker was last heard of.", "worker", seen)
        without = dict.fromkeys(alarm.queues_without_worker, 1)
        yield _labelled("queue_without_worker", "Queues that no worker takes from.", "queue", without)
        yield _gauge("disk_free_bytes", "Free on the disk of the data folder.", alarm.disk.free)
        yield _gauge("disk_bytes", "Size of that disk.", alarm.disk.total)
        yield _gauge("database_bytes", "Size of the database.", system.database_bytes())
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
