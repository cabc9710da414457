"""Error pages that say what happened, what is safe and what to do."""

from __future__ import annotations

import errno
import sys

from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import get_language_from_request
from django.utils.translation import gettext as _

from benchmarks.web.permissions import public
from summhay_site.accounts.hashing import RETRY_AFTER_S

TRY_AGAIN_S = 10
SQLITE_PASSES = ("is full", "is locked", "disk I/O error", "unable to open", "readonly database")
"""What SQLite says of the disk and of locks; its other errors of this kind are mistakes of the program."""

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
    """What PostgreSQL calls an error, empty for others."""
    return getattr(error.__cause__, "sqlstate", None) or ""


def _is_out_of_reach(error: BaseException) -> bool:
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return connection.vendor != "sqlite" or any(words in str(error) for words in SQLITE_PASSES)
