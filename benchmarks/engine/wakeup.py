"""Messages that wake the workers up: work waits in the database, a message only makes it prompt.

No web request ever talks to the broker: one thread of the process does, so that a broker that is down, frozen or
far away costs nobody time. What it cannot deliver waits here for a while, and the sweeps find the work anyway.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from dataclasses import dataclass
from typing import Any

from celery import current_app
from django.db import connection, transaction
from django.utils.module_loading import import_string
from kombu.exceptions import OperationalError

from benchmarks.access.sight import whole_site

logger = logging.getLogger(__name__)

MOST_WAITING = 1000
"""At most this many different messages wait while the broker takes none; further ones are dropped."""

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 15.0
AT_EXIT_S = 5.0
"""So long a process that ends waits for its last messages to be taken."""


class BrokerTrouble(Exception):
    """The broker is down, frozen or out of reach."""


@dataclass(frozen=True)
class _Message:
    task: str
    args: tuple[Any, ...]

    def __call__(self) -> None:
        if current_app.conf.task_always_eager:
            with whole_site():  # as a worker does
                self.send()
            return
        try:
            import_string(self.task)  # here, where it mostly is loaded: at its end a process has no time for it
        except ImportError:
            logger.exception("%s could not be sent; the sweep will find the work.", self.task)
        else:
            _outbox.put(self)

    def send(self) -> None:
        """Hand it to the broker, however long that takes. Raises `BrokerTrouble` where another try may help."""
        try:
            import_string(self.task).delay(*self.args)
        except Exception as error:
            if not current_app.conf.task_always_eager and _is_broker_trouble(error):
                raise BrokerTrouble(str(error) or type(error).__name__) from error
            logger.exception("The broker did not take %s; the sweep will find the work.", self.task)


def _is_broker_trouble(error: Exception) -> bool:
    transport = current_app.connection_for_write()
    known: tuple[Any, ...] = (OperationalError, OSError, *transport.connection_errors, *transport.channel_errors)
    return isinstance(error, known)


class _Outbox:
    """Messages on their way to the broker, each of them once, sent by one thread that starts with the first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[_Message, None] = {}
        self._is_sending = False
        self._failures = 0
        self._thread: threading.Thread | None = None

    def put(self, message: _Message) -> None:
        """Take a message and return at once."""
        with self._changed:
            if message not in self._waiting and len(self._waiting) >= MOST_WAITING:
                logger.warning("Too many messages wait for the broker; the sweep will find %s.", message.task)
                return
            self._waiting[message] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="wakeup", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, seconds: float) -> None:
        """Wait until all is sent, not longer than this, and not at all while the broker takes nothing."""
        with self._changed:
            self._changed.wait_for(lambda: self._failures or not (self._waiting or self._is_sending), seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                message = next(iter(self._waiting))
                del self._waiting[
                    message
                ]  # before it is sent: the same message enqueued meanwhile means newer work
                self._is_sending = True
            try:
                message.send()
            except BrokerTrouble as error:
                self._failed(message, error)
            else:
                self._sent()

    def _sent(self) -> None:
        with self._changed:
            self._is_sending, self._failures = False, 0
            self._changed.notify_all()

    def _failed(self, message: _Message, error: Exception) -> None:
        with self._changed:
            self._waiting.setdefault(message)
            self._is_sending = False
            self._failures += 1
            pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (self._failures - 1))
            self._changed.notify_all()
            logger.warning(
                "The broker takes no messages (%s); %d wait, next try in %.1f s. The sweep will find the work.",
                error,
                len(self._waiting),
                pause_s,
            )
        threading.Event().wait(pause_s)


_outbox = _Outbox()


def _start_anew() -> None:
    """After a fork: the thread and what it held stay with the parent."""
    _outbox.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
atexit.register(lambda: _outbox.flush(AT_EXIT_S))


def enqueue(task: str, *args: Any) -> None:
    """Send the message of the task with this dotted path after the commit, once for all calls in the transaction.

    A broker that is down or frozen costs a delay until the next sweep, never the request.
    """
    message = _Message(task, args)
    if not any(message in waiting for waiting in connection.run_on_commit):
        transaction.on_commit(message)
