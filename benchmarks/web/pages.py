"""A page, or the fragment of it that htmx asked for."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers


def wants_fragment(request: HttpRequest) -> bool:
    """Tell whether htmx asks for a part; a history restore wants the whole page."""
    htmx = getattr(request, "htmx", None)
    return bool(htmx and not htmx.history_restore_request)


def page(
    request: HttpRequest,
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
