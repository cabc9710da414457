"""The card with the newest results, which the home page loads once it is shown."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.agreement.latest import latest_of
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


@requires("annotation.view_session")
@require_safe
def latest(request: HtmxHttpRequest) -> HttpResponse:
    """A small chart of the study that was worked in last; empty where no study has results."""
    context = {"latest": latest_of(request.user, timezone.now())}
    return page(request, "annotation/_latest.html", context)
