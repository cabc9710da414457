"""Gunicorn's worker with threads, and a few more that only answer `/health/` and `/ready/`.

When the database hangs, all threads wait for it; a supervisor or proxy is answered all the same, on the same port.
"""

from __future__ import annotations

import socket
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from gunicorn.glogging import Logger  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from summhay_site import env
from summhay_site.serving.logs import formatter

QUESTIONS = tuple(
    f"{method} {address} ".encode()
    for method in ("GET", "HEAD")
    for address in ("/health/", "/health", "/ready/", "/ready")
)
PROBES_AT_ONCE = 3
LONGEST = 16_384
"""Bytes of a request that are looked at."""


class Log(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn's own log, in the form of the site's log and without secrets."""

    def setup(self, cfg: Any) -> None:
        """Called by gunicorn, which has opened its handlers then."""
        super().setup(cfg)
        for handler in (*self.error_log.handlers, *self.access_log.handlers):
            handler.setFormatter(formatter(env.log_format()))


class Pool(ThreadPoolExecutor):
    """Threads for all requests, and a few more for those that ask how the site is."""

    def __init__(self, threads: int) -> None:
        super().__init__(max_workers=threads)
        self._health = ThreadPoolExecutor(max_workers=PROBES_AT_ONCE)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Take a connection; one whose request has arrived whole and asks for health goes its own way."""
        if args and _asks_for_health(getattr(args[0], "sock", None)):
            return self._health.submit(fn, *args, **kwargs)
        return super().submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._health.shutdown(wait=wait, cancel_futures=cancel_futures)
        super().shutdown(wait=wait, cancel_futures=cancel_futures)


def _asks_for_health(connection: Any) -> bool:
    """Look at what has arrived, without waiting and without taking it."""
    with suppress(OSError, ValueError, AttributeError):
        seen = connection.recv(LONGEST, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        return seen.startswith(QUESTIONS) and b"\r\n\r\n" in seen
    return False


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """The usual one, with those threads."""

    def get_thread_pool(self) -> Pool:
        """Called by gunicorn when the process starts."""
        return Pool(self.cfg.threads)

    def set_accept_enabled(self, enabled: bool) -> None:
        """Called by gunicorn, in the end to take nothing more: then let new connections be refused at once.

        It would leave the sockets open until all requests are answered: who connects meanwhile would wait, and be
        cut off. One that is refused was not sent, and a proxy sends it to another server.
        """
        super().set_accept_enabled(enabled)
        if enabled or self.alive:
            return
        for listener in self.sockets:
            before = None
            while before != self.nr_conns:  # those that the system took already are answered
                before = self.nr_conns
                self.accept(listener)
            listener.close()
