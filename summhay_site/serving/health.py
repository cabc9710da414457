"""Whether the database answers, and whether the site can serve, said within moments even if something hangs.

A thread of its own asks each question; whoever wants to know waits for it a moment only. All who ask while it
waits share its answer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from celery import current_app
from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.web.permissions import public

logger = logging.getLogger(__name__)

PATIENCE_S = 1.0
BROKER_PATIENCE_S = 1


class Probe:
    """One question at a time; `put` raises where the answer is no."""

    def __init__(self, what: str, put: Callable[[], None]) -> None:
        self._what, self._put = what, put
        self._changed = threading.Condition()
        self._asked_at: float | None = None
        """When the question that is still open was put."""
        self._answered_at: float | None = None
        self._failed = False

    def begin(self) -> None:
        """Put the question, unless it is still open."""
        with self._changed:
            if self._asked_at is None:
                self._asked_at = time.monotonic()
                threading.Thread(target=self._work, name=f"health: {self._what}", daemon=True).start()

    def ask(self) -> tuple[bool, float | None]:
        """Put it and wait for the answer, for `PATIENCE_S` since it was put.

        Gives whether all is well, and how many seconds ago it last was; None: never.
        """
        self.begin()
        with self._changed:
            asked_at = self._asked_at
            if asked_at is None:  # answered already
                is_answered = True
            else:
                left_s = asked_at + PATIENCE_S - time.monotonic()
                is_answered = self._changed.wait_for(lambda: self._asked_at != asked_at, max(0.0, left_s))
            age_s = None if self._answered_at is None else round(time.monotonic() - self._answered_at, 1)
            return is_answered and not self._failed, age_s

    def _work(self) -> None:
        failed = True
        try:
            self._put()
            failed = False
        except Exception as error:  # drivers of brokers raise whatever they like
            logger.warning("%s: %s", self._what, error)
        finally:
            self._close()
            with self._changed:
                self._asked_at, self._failed = None, failed
                if not failed:
                    self._answered_at = time.monotonic()
                self._changed.notify_all()

    @staticmethod
    def _close() -> None:
        try:
            connection.close()
        except Error as error:
            logger.warning("The connection could not be closed: %s", error)


class NotMigrated(Exception):
    """Tables are not those of this program; the message names the first migration that is missing."""


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def missing_migrations() -> list[str]:
    """Migrations of this program that the database has not had."""
    loader = MigrationLoader(connection)
    applied = set(loader.applied_migrations or ())
    return [f"{app}.{name}" for app, name in sorted(loader.graph.nodes) if (app, name) not in applied]


_was_migrated = threading.Event()
"""Once so, it stays so: a newer program may add more, which this one does not need."""


def _ask_migrations() -> None:
    if not _was_migrated.is_set():
        if missing := missing_migrations():
            raise NotMigrated(f"{missing[0]} was not applied")
        _was_migrated.set()


def ask_broker() -> None:
    """Connect to the broker of messages once. Raises whatever its driver raises."""
    with current_app.connection_for_write(connect_timeout=BROKER_PATIENCE_S) as link:
        link.ensure_connection(max_retries=1, timeout=BROKER_PATIENCE_S, interval_start=0)


_probe = Probe("The database does not answer", _ask_database)
_migrations = Probe("The database is not up to date", _ask_migrations)
_broker = Probe("The broker does not answer", ask_broker)


@public
@require_safe
@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """Answer 200 when the database answers, else 503, in moments, and how long ago it last answered."""
    is_well, answered_s_ago = _probe.ask()
    return JsonResponse({"ok": is_well, "answered_s_ago": answered_s_ago}, status=200 if is_well else 503)


@public
@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 when requests can be served, else 503, in moments.

    For that the database answers and has the tables of this program. The broker is told, too: without it nothing
    is lost and nobody waits, so a site must not be taken out of service for it.
    """
    probes = {"database": _probe, "migrations": _migrations, "broker": _broker}
    for probe in probes.values():
        probe.begin()
    known = {name: probe.ask()[0] for name, probe in probes.items()}
    is_ready = known["database"] and known["migrations"]
    return JsonResponse({"ok": is_ready, **known}, status=200 if is_ready else 503)
