"""Who may open a view: every view carries one of these marks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils import timezone
from django.utils.encoding import iri_to_uri
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from benchmarks import audit
from benchmarks.access import sight
from benchmarks.access.owning import may_change
from benchmarks.models import Haystack

_listeners: list[Callable[..., None]] = []


def register(listener: Callable[..., None]) -> None:
    """Call `listener(users=, haystacks=, reason=, now=)` at every exposure."""
    if listener not in _listeners:
        _listeners.append(listener)


def saw_insights(user: Any, *haystacks: Haystack, reason: str = "page") -> None:
    """Tell that this user is being shown reference insights of these haystacks."""
    for listener in _listeners:
        listener(users=[user], haystacks=haystacks, reason=reason, now=timezone.now())


View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def public(view: View) -> View:
    view.access = "public"  # type: ignore[attr-defined]
    return view


def requires(permission: str, *, json: bool = False) -> Callable[[View], View]:
    """Only users with this permission: strangers are asked to log in, others are refused (403).

    With `json`, or for an htmx request that writes, a lost login is a 401 with an event instead of a redirect,
    so that text on screen survives.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _ask_to_log_in(request, json=json)
            if permission != LOGGED_IN and not request.user.has_perm(permission):
                raise PermissionDenied
            if "%00" in request.META.get("QUERY_STRING", ""):
                raise BadRequest("NUL in the address")  # no form sends it, and PostgreSQL holds no such text
            if permission != WORK:
                sight.begin(request.user)
            response = view(request, *args, **kwargs)
            _note_download(request, response)
            return response

        guarded.access = permission  # type: ignore[attr-defined]
        return guarded  # type: ignore[return-value]

    return decorate


LOGGED_IN = "logged-in"
WORK = "annotation.do_work"
"""Whoever has it sees the tasks that they were given, whatever research group the texts belong to."""


def refuse_others(user: Any, row: Model, *, words: str | Promise) -> None:
    """Refuse (403, with these words) whoever may not change a row; see `benchmarks.access.owning`."""
    if not may_change(user, row):
        raise PermissionDenied(words)


def wanted(request: HttpRequest, name: str) -> bool:
    """The state that a form asks for, 1 or 0, so that sending it twice is the same; anything else is a 400."""
    try:
        return {"1": True, "0": False}[request.POST.get(name, "")]
    except KeyError:
        raise BadRequest(f"{name} is 1 or 0") from None


def _note_download(request: HttpRequest, response: HttpResponseBase) -> None:
    """Write into the audit log who took which file, before the first byte of it leaves."""
    kept = getattr(response, "kept", None)
    if kept is None or request.method == "HEAD":
        return
    detail = {"file": kept.name} | ({"filter": query} if (query := request.META.get("QUERY_STRING", "")) else {})
    audit.record(actor=request.user, action="file.downloaded", target=kept.about, now=timezone.now(), **detail)


def _ask_to_log_in(request: HttpRequest, *, json: bool) -> HttpResponseBase:
    is_htmx = bool(getattr(request, "htmx", False))
    if json or (is_htmx and request.method != "GET"):
        response = JsonResponse({"code": "login", "message": _("Your login has expired.")}, status=401)
        response["HX-Trigger"] = "login-expired"
        return response
    redirect = redirect_to_login(_where_to_go_on(request))
    if is_htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": redirect["Location"]})
    return redirect


def _where_to_go_on(request: HttpRequest) -> str:
    """The address after a login: this one or, where a form was sent to it, the page that held the form."""
    if request.method in {"GET", "HEAD"}:
        return request.get_full_path()
    came_from = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(came_from, {request.get_host()}, require_https=request.is_secure()):
        return "/"
    parts = urlsplit(came_from)
    return iri_to_uri("/" + parts.path.lstrip("/") + (f"?{parts.query}" if parts.query else ""))
