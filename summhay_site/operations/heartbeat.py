"""The heartbeat of a worker: a thread beside its pool, so that no work, however long, keeps it silent."""

from __future__ import annotations

import logging
import threading
from typing import Any

from celery.signals import worker_ready, worker_shutting_down
from django.db import DatabaseError, connection
from django.utils import timezone

from summhay_site.operations.system import record_heartbeat

logger = logging.getLogger(__name__)

EVERY_S = 20.0
_ended = threading.Event()


@worker_ready.connect(dispatch_uid="heartbeat")
def start(sender: Any, **_: Any) -> None:
    """Begin with the first message that the worker can take."""
    names = (sender.hostname, sorted(sender.app.amqp.queues.consume_from))
    threading.Thread(target=beat, args=names, name="heartbeat", daemon=True).start()


@worker_shutting_down.connect(dispatch_uid="heartbeat")
def stop(**_: Any) -> None:
    """Say nothing more: the worker finishes what it has and takes nothing new."""
    _ended.set()


def beat(name: str, queues: list[str]) -> None:
    """Record a heartbeat every 20 seconds; a database that is out of reach is asked again the next time."""
    while not _ended.is_set():
        try:
            record_heartbeat(name=name, queues=queues, now=timezone.now())
        except DatabaseError as error:
            logger.warning("The heartbeat of %s was not recorded: %s", name, error)
        finally:
            connection.close()  # it belongs to this thread; children that the pool forks later must not inherit it
        _ended.wait(EVERY_S)
