"""The first page after the login: what to do next, by role."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchmarks.web.pages import page
from benchmarks.web.permissions import LOGGED_IN, requires


@require_safe
@requires(LOGGED_IN)
def home(request: HttpRequest) -> HttpResponse:
    """Show each role its next steps."""
    return page(request, "site/home.html", {})
