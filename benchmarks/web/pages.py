"""A page, or the fragment of it that htmx asked for."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails


class HtmxHttpRequest(HttpRequest):
    """A request as the middleware of django-htmx leaves it."""

    htmx: HtmxDetails


def wants_fragment(request: HtmxHttpRequest) -> bool:
    """Whether htmx asks for a fragment; a history restore and a form sent in place want the complete page."""
    return bool(request.htmx) and not (request.htmx.history_restore_request or request.htmx.boosted)


def page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    part: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render `template`, or only its partial `part` when htmx asks for a fragment."""
    name = f"{template}#{part}" if part and wants_fragment(cast("HtmxHttpRequest", request)) else template
    response = render(request, name, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
