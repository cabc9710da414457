"""The heartbeat of a worker, and of beat: a thread beside its pool, so that no work keeps it silent."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from celery.signals import beat_init, worker_ready, worker_shutting_down
from django.db import DatabaseError, connection
from django.utils import timezone

from summhay_site.operations.system import record_beat, record_heartbeat

logger = logging.getLogger(__name__)

EVERY_S = 20.0
_ended = threading.Event()


@worker_ready.connect(dispatch_uid="heartbeat")
def start(sender: Any, **_: Any) -> None:
    """Begin with the first message that the worker can take."""
    queues = sorted(sender.app.amqp.queues.consume_from)
    _start(partial(record_heartbeat, name=sender.hostname, queues=queues))


@beat_init.connect(dispatch_uid="heartbeat")
def start_beat(**_: Any) -> None:
    """Likewise for beat, so that a second one is noticed."""
    _start(partial(record_beat, name=socket.gethostname(), pid=os.getpid(), began_at=timezone.now()))


def _start(record: Callable[..., None]) -> None:
    threading.Thread(target=_go_on, args=[record], name="heartbeat", daemon=True).start()


@worker_shutting_down.connect(dispatch_uid="heartbeat")
def stop(**_: Any) -> None:
    """Say nothing more: the worker finishes what it has and takes nothing new."""
    _ended.set()


def _go_on(record: Callable[..., None]) -> None:
    """Record a heartbeat every 20 seconds; a database that is out of reach is asked again the next time."""
    while not _ended.is_set():
        try:
            record(now=timezone.now())
        except DatabaseError as error:
            logger.warning("The heartbeat was not recorded: %s", error)
        finally:
            connection.close()  # it belongs to this thread; children that the pool forks later must not inherit it
        _ended.wait(EVERY_S)
