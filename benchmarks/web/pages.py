"""A page, or the fragment of it that htmx asked for."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails

STOP_POLLING = 286
"""What tells htmx that a fragment need not be asked for again."""


class HtmxHttpRequest(HttpRequest):
    """A request as the middleware of django-htmx leaves it."""

    htmx: HtmxDetails


def wants_fragment(request: HtmxHttpRequest) -> bool:
    """Whether htmx asks for a fragment; a history restore and a form sent in place want the complete page."""
    return bool(request.htmx) and not (request.htmx.history_restore_request or request.htmx.boosted)


def page(
    request: HtmxHttpRequest,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    part: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render `template`, or only its partial `part` when htmx asks for a fragment."""
    name = f"{template}#{part}" if part and wants_fragment(request) else template
    response = render(request, name, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def polled(
    request: HtmxHttpRequest, template: str, context: dict[str, Any], *, part: str, is_working: bool
) -> HttpResponse:
    """A page whose `part` is asked for again and again, until nobody works on what it shows."""
    is_last = wants_fragment(request) and not is_working
    return page(request, template, context, part=part, status=STOP_POLLING if is_last else 200)
