"""Gunicorn: two preloaded workers that share their memory, a few threads each.

PORT, HOST, WEB_WORKERS and WEB_THREADS change it; behind a proxy keep it on 127.0.0.1.
"""

from __future__ import annotations

import gc
import os
from typing import Any

bind = f"{os.environ.get('HOST', '127.0.0.1')}:{os.environ.get('PORT', '8000')}"
workers = int(os.environ.get("WEB_WORKERS", "2"))
threads = int(os.environ.get("WEB_THREADS", "4"))
worker_class = "gthread"
preload_app = True
keepalive = 30
timeout = 60
graceful_timeout = 20
accesslog = "-" if os.environ.get("ACCESS_LOG") else None


def when_ready(server: Any) -> None:
    """Move what was loaded out of the garbage collector's sight, so that workers keep sharing its pages."""
    gc.collect()
    gc.freeze()


def post_fork(server: Any, worker: Any) -> None:
    """A database connection must not cross a fork."""
    from django.db import connections

    connections.close_all()
