"""Whether the site and its worker are alive: one answer for machines, one page for admins."""

from __future__ import annotations

from dataclasses import asdict

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import public, requires
from summhay_site import health as site_health
from summhay_site import system as signs


@public
@require_safe
@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """Answer 200 when the database answers, else 503, in moments, and how long ago it last answered."""
    known = site_health.ask()
    return JsonResponse(asdict(known), status=200 if known.ok else 503)


@requires("summhay_site.view_workerheartbeat")
@require_safe
@never_cache
def system(request: HtmxHttpRequest) -> HttpResponse:
    """Workers, disk, database and queue."""
    now = timezone.now()
    context = {
        "alarm": signs.read_alarm(now=now),
        "workers": signs.read_workers(now=now),
        "queue": signs.read_queue(now=now),
        "database_bytes": signs.database_bytes(),
        "database_kind": connection.vendor,
        "can_mail": settings.EMAIL_IS_SET,
        "now": now,
    }
    return page(request, "site/system.html", context)
