"""Who asks the API and how often, errors in one shape, what has not changed, and rows that give way to people."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import quote_etag
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_POST, require_safe

from benchmarks import audit
from benchmarks.web.permissions import public, requires
from summhay_site.accounts.logins import client_ip
from summhay_site.models import Token

PREFIX = "shy_"
LIMITED_FOR_S = 60
USED_EVERY = timedelta(minutes=1)
View = Callable[..., HttpResponseBase]
ROWS = 50
Row = TypeVar("Row")


def make_token(
    *,
    user: Any,
    name: str,
    ends_at: datetime | None,
    now: datetime,
    scope: str = Token.Scope.READ,
    budget: Decimal | None = None,
) -> tuple[Token, str]:
    """A new token, and what it is in plain, which nobody can find out later."""
    plain = PREFIX + secrets.token_urlsafe(32)
    values = {"name": name, "scope": scope, "budget": budget, "ends_at": ends_at}
    with transaction.atomic():
        token = Token.objects.create(user=user, sha256=_hash(plain), made_at=now, **values)
        audit.record(actor=user, action="token.made", target=user, now=now, uid=str(token.uid), scope=token.scope)
    return token, plain


@transaction.atomic
def revoke_token(*, token: Token, by: Any, now: datetime) -> None:
    """Let it open nothing any more."""
    if Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
        audit.record(actor=by, action="token.revoked", target=token.user, now=now, uid=str(token.uid))


def _hash(plain: str) -> str:
    return hashlib.sha256(plain.encode()).hexdigest()


def _person(request: HttpRequest, now: datetime) -> Any:
    """Whose token is sent, which the request keeps, or who is logged in; None for a token that opens nothing."""
    kind, _space, plain = request.headers.get("Authorization", "").partition(" ")
    request.token = None  # type: ignore[attr-defined]
    if not kind:
        return request.user
    token = Token.objects.live(now).select_related("user").filter(sha256=_hash(plain.strip())).first()
    if kind.lower() != "bearer" or token is None:
        return None
    if token.used_at is None or token.used_at <= now - USED_EVERY:
        Token.objects.filter(pk=token.pk).update(used_at=now.replace(second=0, microsecond=0))
    request.token = token  # type: ignore[attr-defined]
    return token.user


def guarded(view: View, permission: str, *, scope: str, is_sent_to: bool) -> View:
    """A view of the API, for who has a permission on pages (empty: for anybody), with errors as JSON.

    A token opens it if it has the scope. What `is_sent_to` takes POST; pages' check against foreign pages is made
    where no token is sent.
    """
    mark = requires(permission, json=True) if permission else public
    checked = require_POST(csrf_protect(partial(view))) if is_sent_to else require_safe(view)
    inner = mark(checked)

    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = _person(request, timezone.now())
        if user is None:
            return error(401, "The token is unknown, revoked or expired.")
        request.user = user
        token: Token | None = request.token  # type: ignore[attr-defined]
        if token is not None:
            request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
        if permission and token is not None and token.scope != scope:
            return error(403, f"This takes a token of the scope “{scope}”; yours is for “{token.scope}”.")
        if _is_over_the_limit(user.pk or client_ip(request)):
            return error(429, "Too many requests; wait a minute.", retry_after=LIMITED_FOR_S)
        try:
            response = inner(request, *args, **kwargs)
        except Http404:
            return error(404, "There is no such thing, or you may not see it.")
        except PermissionDenied as refusal:
            return error(403, str(refusal) or "Your role does not allow this.")
        except BadRequest as problem:
            return error(400, str(problem))
        except RequestDataTooBig:
            return error(413, "It is too long.")
        if response.status_code >= 400 and not getattr(response, "is_error", False):
            return error(response.status_code, retry_after=response.headers.get("Retry-After"))
        patch_vary_headers(response, ["Authorization", "Cookie"])
        return _unless_known(request, response)

    answer.access = inner.access  # type: ignore[attr-defined]
    answer.csrf_exempt = is_sent_to  # type: ignore[attr-defined]
    answer.__doc__ = view.__doc__
    return answer


MESSAGES = {
    401: "Send a token: Authorization: Bearer shy_…",
    405: "This address takes no such request.",
    503: "It is being computed; ask again.",
}


def error(status: int, message: str = "", *, retry_after: Any = None) -> HttpResponse:
    """An error in the one shape that they have."""
    code = re.sub(r"\W+", "_", HTTPStatus(status).phrase.lower())
    about = {"status": status, "code": code, "message": message or MESSAGES.get(status, HTTPStatus(status).phrase)}
    response = JsonResponse({"error": about}, status=status)
    response.is_error = True  # type: ignore[attr-defined]
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    if retry_after:
        response["Retry-After"] = str(retry_after)
    return response


def _is_over_the_limit(whose: Any) -> bool:
    key = f"api/{whose}"
    cache.add(key, 0, LIMITED_FOR_S)
    try:
        return bool(cache.incr(key) > settings.API_PER_MINUTE)
    except ValueError:  # its minute ended just now
        return False


def _unless_known(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """304 where the asker has it already; streams say their version themselves."""
    etag = response.headers.get("ETag")
    if etag is None and isinstance(response, HttpResponse) and response.status_code == 200:
        etag = quote_etag(hashlib.sha256(response.content).hexdigest()[:32])
        response["ETag"] = etag
    if etag is None:
        return response
    response["Cache-Control"] = "private, no-cache"
    known: Any = get_conditional_response(request, etag=etag, response=response)  # type: ignore[arg-type]
    if known is not response:  # to close it now would end the request for Django
        known._resource_closers += response._resource_closers  # type: ignore[attr-defined]
    answer: HttpResponseBase = known
    return answer


def row_by_row(request: HttpRequest, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows for a program, which give way now and then."""
    for n, row in enumerate(rows):
        if not n % ROWS:
            request.give_way()  # type: ignore[attr-defined]
        yield row
