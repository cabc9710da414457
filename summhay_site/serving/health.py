"""Whether the database answers, said within moments even if it does not.

A thread of its own asks the database; whoever wants to know waits for it a moment only. All who ask while it waits
share its answer.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import asdict, dataclass

from django.db import Error, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.web.permissions import public

logger = logging.getLogger(__name__)

PATIENCE_S = 1.0


@dataclass(frozen=True)
class Health:
    """What is known: whether all is well, and how many seconds ago the database last answered; None: never."""

    ok: bool
    answered_s_ago: float | None


class _Probe:
    """One question to the database at a time."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._asked_at: float | None = None
        """When the question that is still open was put."""
        self._answered_at: float | None = None
        self._failed = False

    def ask(self) -> Health:
        with self._changed:
            if self._asked_at is None:
                self._asked_at = time.monotonic()
                threading.Thread(target=self._put, name="health", daemon=True).start()
            asked_at = self._asked_at
            left_s = asked_at + PATIENCE_S - time.monotonic()
            is_answered = self._changed.wait_for(lambda: self._asked_at != asked_at, max(0.0, left_s))
            age_s = None if self._answered_at is None else round(time.monotonic() - self._answered_at, 1)
            return Health(ok=is_answered and not self._failed, answered_s_ago=age_s)

    def _put(self) -> None:
        failed = True
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            failed = False
        except Error as error:
            logger.warning("The database does not answer: %s", error)
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


_probe = _Probe()


def ask() -> Health:
    """Ask the database; gives what is known after at most `PATIENCE_S`."""
    return _probe.ask()


@public
@require_safe
@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """Answer 200 when the database answers, else 503, in moments, and how long ago it last answered."""
    known = ask()
    return JsonResponse(asdict(known), status=200 if known.ok else 503)
