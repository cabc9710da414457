"""Log-in through the institution, by OpenID Connect: it says who somebody is, the site says what they may do.

Accounts are made here as before; nobody gets one by logging in there. The first log-in finds the account by the
mail address, where the institution has verified it and exactly one account has it. From then on the account is
known by what the institution calls the person: a new address or an old one given to somebody else changes nothing.
"""

from __future__ import annotations

import logging
from typing import Any

import jwt
import requests
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.core.cache import cache
from django.core.exceptions import SuspiciousOperation
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView, OIDCAuthenticationRequestView

from benchmarks.audit import record
from benchmarks.grouping import join_named
from benchmarks.web.permissions import public
from summhay_site.accounts.models import User

logger = logging.getLogger(__name__)

DISCOVERED_FOR_S = 3600
PARTS = {
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "authorization_endpoint",
    "OIDC_OP_TOKEN_ENDPOINT": "token_endpoint",
    "OIDC_OP_USER_ENDPOINT": "userinfo_endpoint",
    "OIDC_OP_JWKS_ENDPOINT": "jwks_uri",
}
BROKEN = (requests.RequestException, jwt.PyJWTError, SuspiciousOperation, KeyError, TypeError, ValueError)
"""Errors of an institution that is away, or answers rubbish."""


class NoAccount(Exception):
    """The institution knows them, this site does not: no wrong password, so nobody is locked out by it."""


def discovered() -> dict[str, Any]:
    """The institution's settings from its well-known address; asked once an hour.

    Raises `requests.RequestException`, or `ValueError` where it calls itself otherwise or leaves an address out.
    """
    key = f"oidc:{settings.OIDC_ISSUER}"
    document: dict[str, Any] | None = cache.get(key)
    if document is None:
        address = settings.OIDC_ISSUER.rstrip("/") + "/.well-known/openid-configuration"
        answer = requests.get(address, timeout=settings.OIDC_TIMEOUT)
        answer.raise_for_status()
        document = answer.json()
        if document.get("issuer") != settings.OIDC_ISSUER or not all(
            document.get(part) for part in PARTS.values()
        ):
            raise ValueError(f"{address} does not describe {settings.OIDC_ISSUER}.")
        cache.set(key, document, DISCOVERED_FOR_S)
    return document


class _Discovers:
    """Takes addresses from the institution's own description, and everything else from the settings."""

    @staticmethod
    def get_settings(attr: str, *args: Any) -> Any:
        """A setting of the library by its name."""
        if attr in PARTS:
            return discovered()[PARTS[attr]]
        return getattr(settings, attr, *args)


class InstitutionBackend(_Discovers, OIDCAuthenticationBackend):  # type: ignore[misc]
    """The account of whoever comes back from the institution."""

    def __init__(self) -> None:
        """Nothing is asked before somebody comes back: each check of a password makes this too."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        """The account; None where this is about a password.

        Raises `NoAccount`, and what is in `BROKEN`.
        """
        if request is None or "nonce" not in credentials:
            return None
        super().__init__()
        account: User | None = super().authenticate(request, **credentials)
        return account

    def verify_token(self, token: str, **kwargs: Any) -> Any:
        """The signature and the nonce, and beyond the library: by this institution, for this site."""
        claims = super().verify_token(token, **kwargs)
        audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if claims["iss"] != settings.OIDC_ISSUER or self.OIDC_RP_CLIENT_ID not in audience or "exp" not in claims:
            raise SuspiciousOperation("The token is of another institution, for another site, or never expires.")
        return claims

    def get_or_create_user(self, access_token: str, id_token: str, payload: Any) -> User:
        """The account that is known by the subject, or else the one with the verified address; none is made."""
        about = self.get_userinfo(access_token, id_token, payload)
        if about["sub"] != payload["sub"]:
            raise ValueError("The institution speaks of somebody else than its token.")
        subject = f"{payload['iss']} {payload['sub']}"
        people = User.objects.filter(is_active=True, is_recruited=False)
        known: User | None = people.filter(subject=subject).first()
        if known is not None:
            return known
        address = str(about.get("email") or "")
        if not address or about.get("email_verified") is not True:
            raise NoAccount
        with transaction.atomic():
            same: list[User] = list(people.select_for_update().filter(email__iexact=address)[:2])
            if len(same) != 1 or same[0].subject:
                raise NoAccount
            [user] = same
            user.subject = subject
            user.save(update_fields=["subject"])
            record(actor=user, action="account.institution", target=user, now=timezone.now())
            join_named(names=settings.OIDC_GROUPS, person=user)
        return user


class _ToInstitution(_Discovers, OIDCAuthenticationRequestView):  # type: ignore[misc]
    """Sends somebody there, and remembers with which state, nonce and verifier."""


class _FromInstitution(_Discovers, OIDCAuthenticationCallbackView):  # type: ignore[misc]
    """Takes somebody who comes back."""

    def login_success(self) -> HttpResponse:
        """Log in as with a password, so that whatever ends those log-ins ends these."""
        login(self.request, self.user, settings.ACCOUNT_BACKEND)
        return HttpResponseRedirect(self.success_url)

    def login_failure(self) -> HttpResponse:
        """They turned back, or this is no answer to anything that was asked."""
        raise ValueError("Nobody was logged in there.")


@public
@require_safe
def to_institution(request: HttpRequest) -> HttpResponse:
    return _tried(_ToInstitution, request)


@public
@require_safe
def from_institution(request: HttpRequest) -> HttpResponse:
    """Back from it: logged in and on to where the person wanted to, or to the log-in page, which says why not."""
    return _tried(_FromInstitution, request)


def _tried(view: type[Any], request: HttpRequest) -> HttpResponse:
    try:
        answer: HttpResponse = view.as_view()(request)
    except NoAccount:
        why = _("No account here has your mail address there. Ask your researcher to enter it.")
    except BROKEN:
        logger.warning("A log-in through the institution failed.", exc_info=True)
        why = _("Your institution could not log you in. Try again, or use your password.")
    else:
        return answer
    messages.error(request, why)
    return redirect("login")
