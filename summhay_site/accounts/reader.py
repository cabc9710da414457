"""Whoever reads a page, and its language: annotators have theirs (`User.reads_in`), others that of the browser."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import Exists, OuterRef
from django.http import HttpRequest
from django.utils.translation import get_language_from_request

from summhay_site.accounts.models import User
from summhay_site.accounts.roles import ADMIN, RESEARCHER


def research_role_of(user: OuterRef) -> Exists:
    """Whether a user is a researcher or an admin, as an expression; `user` names them in the query."""
    members = User.groups.through.objects
    return Exists(members.filter(user_id=user, group__name__in=(RESEARCHER, ADMIN)))


def language_of(request: HttpRequest) -> str:
    """The language of a page: that of its reader, else what the browser asks for."""
    user: Any = request.user
    own = user.reads_in if user.is_authenticated else ""
    return own or get_language_from_request(request)


def actor(request: HttpRequest) -> User:
    """The logged-in user of a view that `requires` a login."""
    return cast("User", request.user)
