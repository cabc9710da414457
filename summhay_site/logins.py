"""The throttle of logins: who asks, what they are told while locked out, and forgetting it after a day."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

KEEP = timedelta(days=1)


def client_ip(request: HttpRequest) -> str | None:
    """The address that asks. Behind a trusted proxy it is the entry that the proxy itself added, the last one."""
    if settings.TRUST_PROXY:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
        if last := forwarded.split(",")[-1].strip():
            return str(last)
    return request.META.get("REMOTE_ADDR")


def locked(request: HttpRequest, response: Any, credentials: Any) -> HttpResponse:
    """Tell somebody after too many wrong passwords how long to wait; status 429."""
    seconds = _seconds_left(username=(credentials or {}).get("username") or "", ip=client_ip(request))
    context = {"minutes": math.ceil(seconds / 60)}
    page = render(request, "registration/locked.html", context, status=429)
    page["Retry-After"] = str(math.ceil(seconds))
    return page


def _seconds_left(*, username: str, ip: str | None) -> float:
    whole = settings.AXES_COOLOFF_TIME.total_seconds()
    last = AccessAttempt.objects.filter(username=username, ip_address=ip).order_by("-attempt_time").first()
    if last is None:
        return float(whole)
    return float(max(1.0, whole - (timezone.now() - last.attempt_time).total_seconds()))


def purge_failed_logins(*, now: datetime) -> int:
    """Forget failed logins, and with them the addresses they came from, after a day; returns how many."""
    return sum(
        model.objects.filter(attempt_time__lt=now - KEEP).delete()[0]
        for model in (AccessAttempt, AccessFailureLog, AccessLog)
    )
