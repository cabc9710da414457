"""Accounts of people who come by a recruitment link: no password, known by a signed cookie of one browser."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from annotation.models import Annotator, RecruitmentLink
from annotation.people.recruitment.joining import join
from summhay_site.accounts.accounts import NewAccount, create_account
from summhay_site.accounts.models import User
from summhay_site.accounts.roles import ANNOTATOR

COOKIE = "participant"
PATH = "/join/"
AGE = timedelta(days=180)
SALT = "summhay_site.recruits"


@transaction.atomic
def recruit(
    *,
    link: RecruitmentLink,
    panel_id: str,
    references: dict[str, str],
    digest: str = "",
    now: datetime,
    language: str = "",
) -> User:
    """Make a pseudonymous account that takes part in the study of a link; nothing is made where it cannot join.

    `digest` is that of the network address, where the link counts them; raises what `join` raises.
    """
    name = f"participant-{secrets.token_hex(4)}"
    user = create_account(
        actor=None, row=NewAccount(name, ""), role=ANNOTATOR, now=now, group_id=link.study.group_id
    )
    user.is_recruited, user.language = True, language
    user.save(update_fields=["is_recruited", "language"])
    annotator = Annotator.objects.get(user=user)
    join(link=link, annotator=annotator, panel_id=panel_id, references=references, digest=digest, now=now)
    return user


def user_of_cookie(request: HttpRequest) -> User | None:
    """The account whose cookie this browser holds, if it may still log in by it."""
    try:
        value: Any = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=AGE)
        uid, logins_ended = UUID(value["u"]), int(value["n"])
    except (signing.BadSignature, KeyError, TypeError, ValueError):
        return None
    user: User | None = User.objects.filter(
        uid=uid, logins_ended=logins_ended, is_recruited=True, is_active=True
    ).first()
    return user if user is not None and user.role == ANNOTATOR else None


def give_cookie(response: HttpResponse, user: User) -> None:
    """Let this browser, and no other, log in to the account from now on."""
    response.set_cookie(
        COOKIE,
        signing.dumps({"u": user.uid.hex, "n": user.logins_ended}, salt=SALT),
        max_age=AGE,
        path=PATH,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )
