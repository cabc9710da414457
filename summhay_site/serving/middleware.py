"""What every request needs (language, time zone, a complete body, headers on the response) and every template."""

from __future__ import annotations

import re
import uuid
import zoneinfo
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.utils import timezone, translation

from summhay_site.accounts.hashing import Busy
from summhay_site.accounts.reader import language_of
from summhay_site.serving.errors import busy
from summhay_site.serving.health import health, ready
from summhay_site.serving.logs import current

MULTIPART = "multipart/form-data"


PROBES = {"/health": health, "/ready": ready}


class HealthMiddleware:
    """Answer whether the site is well before anything asks the database, plain http and any host name included."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Nothing but these addresses."""
        probe = PROBES.get(request.path_info.removesuffix("/"))
        return probe(request) if probe is not None else self.get_response(request)


ACCEPTED_ID = re.compile(r"[0-9A-Za-z_-]{8,64}")


class RequestIdMiddleware:
    """Give each request an identifier that log lines carry: that of a trusted proxy, else a new one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Name it in the response, too."""
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


class WholeBodyMiddleware:
    """Let no view run before the whole body has arrived.

    The server hands a request on once its headers are there, and a body may follow as slowly as its sender likes.
    A view that took the time first would stamp a text with a moment at which it was not yet written. Uploads of
    files are left to the parser, which the check against forgery calls before any view.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

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


class PersonMiddleware:
    """Show pages in the person's language, and times in their time zone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

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


class PrivateMiddleware:
    """Let no cache in between keep a page, and browsers only for the way back; views that say more are left alone.

    `no-cache` and not `no-store`, which would take away what somebody typed into a form with the Back button.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the header where there is none."""
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response


class BusyMiddleware:
    """Answer where too many passwords are being checked: a page, or to a script that it should come again."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Nothing to do on the way."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Ask for another try."""
        return busy(request) if isinstance(exception, Busy) else None


def site(request: HttpRequest) -> dict[str, Any]:
    """What every template may use: name and contact of the site."""
    return {"site_name": "SummHay", "contact_address": settings.CONTACT_ADDRESS}
