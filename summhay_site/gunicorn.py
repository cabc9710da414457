"""Gunicorn: two preloaded workers that share their memory, a few threads each, and one for `/health/`.

PORT, HOST, WEB_WORKERS and WEB_THREADS change it; behind a proxy keep it on 127.0.0.1.
"""

from __future__ import annotations

import gc
import os
import shutil
import socket
import sys
import tempfile
from contextlib import suppress
from typing import Any

from summhay_site import env

bind = f"{env.text('HOST') or '127.0.0.1'}:{env.integer('PORT', 8000, low=1, high=65_535)}"
workers = env.integer("WEB_WORKERS", 2, low=1, high=64)
threads = env.web_threads()
worker_class = "summhay_site.serving.web_worker.Worker"
preload_app = True
keepalive = 30
timeout = 60
graceful_timeout = 20
control_socket_disable = True
accesslog = "-" if env.flag("ACCESS_LOG") else None
access_log_format = "%(m)s %(U)s %(s)s %(B)s %(L)s"  # no network address, nothing after the `?`
logger_class = "summhay_site.serving.web_worker.Log"
if env.text("METRICS_NETWORKS"):  # where the times of all processes meet
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="summhay-metrics-")


def when_ready(server: Any) -> None:
    """It runs before the workers are forked, so that they go on sharing what was loaded.

    The system hands over connections only once something arrived, so that one look tells what they want.
    """
    for listener in server.LISTENERS:
        with suppress(AttributeError, OSError):  # another system, or not a TCP socket
            listener.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 5)
    preload()


def preload() -> None:
    """Load what the first requests would load, then move it out of the garbage collector's sight."""
    from django.apps import apps
    from django.conf import settings
    from django.template.loader import get_template
    from django.urls import reverse
    from django.utils import translation

    if apps.ready:
        reverse("home")  # imports all views
        get_template("annotation/session.html")
        for code, _name in settings.LANGUAGES:
            with translation.override(code):
                translation.gettext("")
    gc.collect()
    gc.freeze()


def post_fork(server: Any, worker: Any) -> None:
    """A database connection must not cross a fork; nor may a long page hold up the saves of other threads.

    A save asks several times, and after each query waits for the interpreter as long as this interval.
    """
    from django.db import connections

    connections.close_all()
    sys.setswitchinterval(0.0005)


def on_exit(server: Any) -> None:
    """Nothing of it outlives the server."""
    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        shutil.rmtree(folder, ignore_errors=True)
