"""Hints to the worker: work waits in the database, a message only makes it prompt."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction

logger = logging.getLogger(__name__)


def hint(task: Any, *args: Any) -> None:
    """Send a task message after the commit; a broker that is down costs a delay, never the request."""

    def send() -> None:
        try:
            task.delay(*args)
        except Exception:
            logger.exception("The broker did not take %s; the sweep will find the work.", task.name)

    transaction.on_commit(send)
