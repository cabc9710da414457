"""Hints to the worker: work waits in the database, a message only makes it prompt."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Hint:
    task: str
    args: tuple[Any, ...]

    def __call__(self) -> None:
        try:
            import_string(self.task).delay(*self.args)
        except Exception:
            logger.exception("The broker did not take %s; the sweep will find the work.", self.task)


def hint(task: str, *args: Any) -> None:
    """Send the message of the task with this dotted path after the commit, once for all calls in the transaction.

    A broker that is down costs a delay until the next sweep, never the request.
    """
    message = _Hint(task, args)
    if not any(message in waiting for waiting in connection.run_on_commit):
        transaction.on_commit(message)
