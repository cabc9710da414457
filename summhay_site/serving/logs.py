"""The log: as lines, or as JSON with request, person and task; what it says of refused requests; errors to Sentry.

Errors go to a server of Sentry's protocol where SENTRY_DSN is set, with the extra `sentry`, without what people
wrote: no bodies, no values of variables, no names or addresses.
"""

from __future__ import annotations

import logging
import re
from contextvars import ContextVar
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import orjson
from celery._state import get_current_task
from django.conf import settings
from django.http import HttpRequest

OPENING_PATHS = ("/password/set/", "/join/")
"""Addresses of which the rest lets somebody in."""
_SECRETS = re.compile(
    "|".join(
        [
            *(rf"(?<={path})\S+" for path in OPENING_PATHS),
            r"(?<=\?)[\w.~+%-]+=\S*",  # a panel's id, an institution's code, words searched for
            r"(?<=\bip=)\S+(?=: )",  # of a request that Gunicorn could not read
            r"\b(?!(?:worker|figures|models|celery)@)[\w.+-]+(?=@[\w-]+\.)",  # a mail address, and no worker
        ]
    )
)

current: ContextVar[HttpRequest | None] = ContextVar("current", default=None)
"""The request that this thread serves."""


def without_secrets(text: str) -> str:
    """Leave out what opens an account, and who sent a request."""
    return _SECRETS.sub("…", text)


class NoTracebackForRefusals(logging.Filter):
    """One line for what Django answered on purpose (400, 403, 503 …); the traceback stays for a 500."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Name the exception in the line instead."""
        status = getattr(record, "status_code", 500)
        if record.exc_info and status != 500:
            error = record.exc_info[1]
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            record.msg, record.args = f"{record.getMessage()} ({what})", ()
            record.exc_info = record.exc_text = None
        return True


class Lines(logging.Formatter):
    """A line, and the traceback below it."""

    def format(self, record: logging.LogRecord) -> str:
        """Say it without secrets."""
        return without_secrets(super().format(record))


class JsonLines(logging.Formatter):
    """One JSON object a line, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record: message, time and place, for which request of whom, and in which task."""
        said: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        if status := getattr(record, "status_code", None):
            said["status"] = status
        if record.exc_info:
            said["traceback"] = self.formatException(record.exc_info)
        said |= _of_request(record)
        if (task := get_current_task()) is not None:
            said |= {"task": task.name, "task_id": task.request.id}
        safe = {name: without_secrets(value) if isinstance(value, str) else value for name, value in said.items()}
        return orjson.dumps(safe, default=str).decode()


def formatter(form: str) -> logging.Formatter:
    """The form that LOG_FORMAT names."""
    return JsonLines() if form == "JSON" else Lines("{asctime} {levelname} {name} {message}", style="{")


def _of_request(record: logging.LogRecord) -> dict[str, Any]:
    request = current.get() or getattr(record, "request", None)  # Django logs refusals after all middleware
    if not isinstance(request, HttpRequest):
        return {}
    # who it is, if that was found out: the log asks no database
    user: Any = getattr(request, "_cached_user", None)
    return {
        "request_id": getattr(request, "request_id", None),
        "method": request.method,
        "path": request.path,
        "user": str(user.uid) if user is not None and user.is_authenticated else None,
    }


def start() -> None:
    """Report errors of this process from now on."""
    import sentry_sdk  # of an extra

    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=_release(),
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=_without_secrets,
    )


def _without_secrets(event: Any, _hint: Any) -> Any:
    """Leave out of the request and of the words of the error what the log leaves out."""
    request = event.get("request", {})
    request.pop("query_string", None)
    request.get("headers", {}).pop("Referer", None)
    for part, name in (
        (request, "url"),
        *((error, "value") for error in event.get("exception", {}).get("values", [])),
    ):
        if isinstance(part.get(name), str):
            part[name] = without_secrets(part[name])
    return event


def _release() -> str | None:
    try:
        return f"summhay@{version('summhay')}"
    except PackageNotFoundError:
        return None
