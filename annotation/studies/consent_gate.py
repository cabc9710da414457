"""The one gate for everything that annotators send: after a withdrawal of consent nothing of it is stored.

Every address under `work/` is behind it, also one that comes later. What has to stay possible (agreeing,
withdrawing, leaving a study) is marked with `open_without_consent`. A view that gets texts is marked with
`kept_without_consent` and stores them as refused, for no text that somebody sent is ever discarded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from annotation.studies import consent

BEHIND = "work/"
SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
CODE = "consent"

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def open_without_consent(view: View) -> View:
    """Let this view be used by somebody who has withdrawn."""
    view.is_open_without_consent = True  # type: ignore[attr-defined]
    return view


def kept_without_consent(keep: Callable[..., HttpResponseBase]) -> Callable[[View], View]:
    """Have `keep` answer in place of the view, so that it can store a text as refused."""

    def mark(view: View) -> View:
        view.without_consent = keep  # type: ignore[attr-defined]
        return view

    return mark


def message() -> str:
    """Why nothing was stored."""
    return _("You have withdrawn your consent, so nothing is stored. Agree again to go on.")


def refusal() -> JsonResponse:
    """The refusal for a script."""
    return JsonResponse({"code": CODE, "message": message()}, status=409, headers={"Cache-Control": "no-store"})


class ConsentGate:
    """Refuse what an annotator sends after a withdrawal; pages to read are their own affair."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Nothing happens here: what matters is which view was found."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: list[Any], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Answer in place of the view where the gate is shut."""
        is_behind = request.resolver_match is not None and request.resolver_match.route.startswith(BEHIND)
        if request.method in SAFE or not is_behind or getattr(view, "is_open_without_consent", False):
            return None
        if not request.user.is_authenticated or consent.lets_work(request.user):
            return None
        keep = getattr(view, "without_consent", None)
        if keep is not None:
            kept: HttpResponseBase = keep(request, *args, **kwargs)
            return kept
        if "application/json" in (request.headers.get("Accept"), request.content_type):
            return refusal()
        messages.error(request, message())
        return redirect("annotation:consent")
