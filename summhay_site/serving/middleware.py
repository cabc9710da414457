"""For every request (language, time zone, a complete body, headers), every template, and error pages."""

from __future__ import annotations

import errno
import re
import sys
import time
import uuid
import zoneinfo
from collections.abc import Callable
from threading import Condition
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import get_language_from_request
from django.utils.translation import gettext as _

from benchmarks.web.permissions import public
from summhay_site.accounts.logins import RETRY_AFTER_S, Busy, language_of
from summhay_site.serving.health import health, ready
from summhay_site.serving.logs import current

TRY_AGAIN_S = 10
SQLITE_PASSES = ("is full", "is locked", "disk I/O error", "unable to open", "readonly database")
"""Messages of SQLite on the disk and on locks; its other errors of this kind are mistakes of the program."""

TOOK_TOO_LONG = {"57014", "55P03"}
"""PostgreSQL ended a statement, or the wait for a lock, after the time that pages have."""


def _wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")


@public
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form's token is missing or old, mostly after a new login in another tab."""
    if _wants_json(request):
        return JsonResponse({"code": "csrf", "message": _("This page is out of date; reload it.")}, status=403)
    return render(request, "403_csrf.html", {"reason": reason}, status=403)


@public
def server_error(request: HttpRequest) -> HttpResponse:
    """Something failed: 503 where the database is out of reach or a disk is full, which passes, else 500.

    The pages ask nothing of the database, not even who is logged in: where that was not found out before, they are
    in the language of the browser.
    """
    error = sys.exception()
    with translation.override(getattr(request, "LANGUAGE_CODE", None) or get_language_from_request(request)):
        return _explained(request, error)


def _explained(request: HttpRequest, error: BaseException | None) -> HttpResponse:
    if error is not None and _is_full(error):
        return _unavailable(request, "full")
    if error is not None and _sqlstate(error) in TOOK_TOO_LONG:
        return _unavailable(request, "slow")
    if error is not None and _is_out_of_reach(error):
        return _unavailable(request, "database")
    if _wants_json(request):
        message = _("Something went wrong on our side; the error was logged.")
        return JsonResponse({"code": "server_error", "message": message}, status=500)
    return HttpResponse(render_to_string("500.html"), status=500, headers={"Cache-Control": "no-store"})


def busy(request: HttpRequest) -> HttpResponse:
    """Too many passwords are being checked at this moment. A script gets no page: it sends its form again."""
    if getattr(request, "htmx", False):
        return HttpResponse(status=503, headers={"Retry-After": str(RETRY_AFTER_S), "Cache-Control": "no-store"})
    return _unavailable(request, "passwords", seconds=RETRY_AFTER_S)


def _unavailable(request: HttpRequest, why: str, *, seconds: int = TRY_AGAIN_S) -> HttpResponse:
    headers = {"Retry-After": str(seconds), "Cache-Control": "no-store"}
    if _wants_json(request):
        data = {"code": "unavailable", "message": _("It could not be saved right now.")}
        return JsonResponse(data, status=503, headers=headers)
    context = {"why": why, "was_sent": request.method == "POST", "seconds": seconds}
    return HttpResponse(render_to_string("503.html", context), status=503, headers=headers)


def _is_full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    return isinstance(error, OperationalError) and ("is full" in str(error) or _sqlstate(error) == "53100")


def _sqlstate(error: BaseException) -> str:
    """PostgreSQL's code of an error, empty for others."""
    return getattr(error.__cause__, "sqlstate", None) or ""


def _is_out_of_reach(error: BaseException) -> bool:
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return connection.vendor != "sqlite" or any(words in str(error) for words in SQLITE_PASSES)


MULTIPART = "multipart/form-data"


PROBES = {"/health": health, "/ready": ready}


class _Middleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)


class HealthMiddleware(_Middleware):
    """Answer whether the site is well before anything asks the database, plain http and any host name included."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        probe = PROBES.get(request.path_info.removesuffix("/"))
        return probe(request) if probe is not None else self.get_response(request)


ACCEPTED_ID = re.compile(r"[0-9A-Za-z_-]{8,64}")


class RequestIdMiddleware(_Middleware):
    """Give each request an identifier that log lines carry: that of a trusted proxy, else a new one."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.headers.get("X-Request-ID", "") if settings.TRUST_PROXY else ""
        request_id = sent if ACCEPTED_ID.fullmatch(sent) else uuid.uuid4().hex
        request.request_id = request_id  # type: ignore[attr-defined]
        token = current.set(request)
        try:
            response = self.get_response(request)
        finally:
            current.reset(token)
        response.headers["X-Request-ID"] = request_id
        return response


class WholeBodyMiddleware(_Middleware):
    """Let no view run before the whole body has arrived.

    The server hands a request on once its headers are there, and a body may follow as slowly as its sender likes.
    A view that took the time first would stamp a text with a moment at which it was not yet written. Uploads of
    files are left to the parser, which the check against forgery calls before any view.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Read the body into memory; one that is too large is refused by the view, which knows how to say so."""
        if request.method not in {"GET", "HEAD", "OPTIONS"} and request.content_type != MULTIPART:
            try:
                request.body  # noqa: B018  reading it is what it is here for
            except RequestDataTooBig:
                pass
            except UnreadablePostError:
                return HttpResponse(status=400)  # the sender has gone
        return self.get_response(request)


class PersonMiddleware(_Middleware):
    """Show pages in the person's language, and times in their time zone."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Activate both, and drop them after the response."""
        request.LANGUAGE_CODE = language_of(request)
        with translation.override(request.LANGUAGE_CODE):
            if not request.user.is_authenticated:
                return self.get_response(request)
            with timezone.override(_zone(request.user.time_zone)):
                return self.get_response(request)


def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo("UTC")


class PrivateMiddleware(_Middleware):
    """Let no cache in between keep a page, and browsers only for the way back; views that say more are left alone.

    `no-cache` and not `no-store`, which would take away what somebody typed into a form with the Back button.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response


API = "/api/"
MOST_S = 0.25
"""An answer to a program stands still no longer than this in all."""


class TurnMiddleware(_Middleware):
    """Count the requests of people under way; let those of programs give way before each query."""

    n_people, _changed = 0, Condition()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(API):
            return self._to_program(request)
        self._count(1)
        try:
            return self.get_response(request)
        finally:
            self._count(-1)

    @classmethod
    def _count(cls, by: int) -> None:
        with cls._changed:
            cls.n_people += by
            cls._changed.notify_all()

    def _to_program(self, request: HttpRequest) -> HttpResponse:
        left = MOST_S

        def give_way() -> None:
            nonlocal left
            if self.n_people and left > 0 and not connection.in_atomic_block:  # its locks may keep people waiting
                began = time.monotonic()
                with self._changed:
                    self._changed.wait_for(lambda: not self.n_people, left)
                left -= time.monotonic() - began

        def politely(execute: Any, sql: Any, *rest: Any) -> Any:
            if not str(sql).startswith("BEGIN"):  # sent by SQLite with the turn to write, for which people wait
                give_way()
            return execute(sql, *rest)

        request.give_way = give_way  # type: ignore[attr-defined]
        with connection.execute_wrapper(politely):
            return self.get_response(request)


class BusyMiddleware(_Middleware):
    """Answer where too many passwords are being checked: a page, or to a script that it should come again."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Ask for another try."""
        return busy(request) if isinstance(exception, Busy) else None


def site(request: HttpRequest) -> dict[str, Any]:
    """Variables of every template: name and contact of the site."""
    return {"site_name": "SummHay", "contact_address": settings.CONTACT_ADDRESS}
