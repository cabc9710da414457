"""The first page after the login: what to do next, by role."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_safe

from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import LOGGED_IN, requires
from summhay_site.home.overview import read_admin, read_researcher
from summhay_site.operations.system import read_alarm


@requires(LOGGED_IN)
@require_safe
def home(request: HtmxHttpRequest) -> HttpResponse:
    """Show each role its next steps; annotators find theirs on the page of their work."""
    user = request.user
    context: dict[str, Any] = {}
    if user.has_perm("annotation.do_work") and not user.has_perm("annotation.view_study"):
        return redirect("annotation:work")
    if user.has_perm("annotation.view_study"):
        context["research"] = read_researcher(user)
    if user.has_perm("summhay_site.view_user"):
        context["people"] = read_admin()
    if user.has_perm("summhay_site.view_workerheartbeat"):
        context["alarm"] = read_alarm(now=timezone.now())
    return page(request, "site/home.html", context)
