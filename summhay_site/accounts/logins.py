"""Throttled logins, and hashing of passwords: each costs a core for a good part of a second, by intent.

Few requests of a process may be about passwords at a time, hashing or waiting for their turn to hash. They have a
place; whoever finds none is turned away at once and comes again. So at least half of the threads stay free for
people at work, however many passwords arrive.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, cast

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language_from_request

from annotation.people.recruitment import links
from summhay_site.accounts.models import User


def language_of(request: HttpRequest) -> str:
    """The language of a page: that of its reader, else what the browser asks for.

    Roles are asked for only where somebody would read another language than those who run studies.
    """
    user: Any = request.user
    language = (user.chosen_language if user.is_authenticated else "") or get_language_from_request(request)
    if language != settings.LANGUAGE_CODE and user.is_authenticated and user.runs_studies:
        return settings.LANGUAGE_CODE
    return language


def actor(request: HttpRequest) -> User:
    """The logged-in user of a view that `requires` a login."""
    return cast("User", request.user)


KEEP = timedelta(days=1)


def client_ip(request: HttpRequest) -> str | None:
    """The address that asks. Behind a trusted proxy it is the entry that the proxy itself added, the last one."""
    if settings.TRUST_PROXY:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
        if last := forwarded.split(",")[-1].strip():
            return str(last)
    return request.META.get("REMOTE_ADDR")


def address_wait_s(request: HttpRequest) -> float:
    """How long nobody can log in from this address, after too many wrong passwords for whatever names; mostly 0.

    The limit is far above that of one name, since a whole university can stand behind one address.
    """
    cooloff, now = settings.AXES_COOLOFF_TIME, timezone.now()
    rows = AccessAttempt.objects.filter(ip_address=client_ip(request), attempt_time__gt=now - cooloff)
    failures = list(rows.order_by("attempt_time").values_list("attempt_time", "failures_since_start"))
    left, wait_s = sum(count for _at, count in failures), 0.0
    for at, count in failures:
        if left < settings.LOGIN_FAILURES_PER_ADDRESS:
            break
        left -= count
        wait_s = (at + cooloff - now).total_seconds()
    return wait_s


def locked(request: HttpRequest, response: Any, credentials: Any) -> HttpResponse:
    """Tell somebody after too many wrong passwords how long to wait; status 429."""
    username, seconds = (credentials or {}).get("username") or "", settings.AXES_COOLOFF_TIME.total_seconds()
    attempts = AccessAttempt.objects.filter(username=username, ip_address=client_ip(request))
    if last := attempts.order_by("-attempt_time").first():
        seconds = max(1.0, seconds - (timezone.now() - last.attempt_time).total_seconds())
    return locked_page(request, wait_s=seconds, is_address=False)


def locked_page(request: HttpRequest, *, wait_s: float, is_address: bool) -> HttpResponse:
    """Tell somebody whose account, or whose address, is locked how long to wait; status 429."""
    context = {"minutes": math.ceil(wait_s / 60), "is_address": is_address}
    page = render(request, "registration/locked.html", context, status=429)
    page["Retry-After"] = str(math.ceil(wait_s))
    return page


def purge_failed_logins(*, now: datetime) -> int:
    """Forget failed logins with their addresses after a day, and the digests of those who joined by a link.

    Returns how many.
    """
    n = sum(
        model.objects.filter(attempt_time__lt=now - KEEP).delete()[0]
        for model in (AccessAttempt, AccessFailureLog, AccessLog)
    )
    return int(n) + links.forget_addresses(now=now)


RETRY_AFTER_S = 1


class Busy(Exception):
    """All places of this process are taken; nothing happened, and soon there is one again."""


_places = threading.BoundedSemaphore(settings.PASSWORD_PLACES)
_turns = threading.BoundedSemaphore(settings.PASSWORDS_AT_ONCE)
_mine = threading.local()


@contextmanager
def place() -> Iterator[None]:
    """Hold one of the places, for as many hashes as it takes; raises `Busy`. Who has a place needs no other."""
    if getattr(_mine, "is_held", False):
        yield
        return
    if not _places.acquire(blocking=False):
        raise Busy
    _mine.is_held = True
    try:
        yield
    finally:
        _mine.is_held = False
        _places.release()


class TakesTurns(PBKDF2PasswordHasher):
    """Django's own hash; only so many are made at a time."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Wait until few enough others are hashing, which is soon: only those with a place wait; raises `Busy`."""
        with place(), _turns:
            return super().encode(password, salt, iterations)
