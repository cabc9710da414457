"""Whoever reads a page, and its language: annotators have theirs (`User.reads_in`), others that of the browser."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language_from_request

from summhay_site.accounts.models import User


def language_of(request: HttpRequest) -> str:
    """The language of a page: that of its reader, else what the browser asks for.

    Roles are asked for only where somebody would read another language than those who run studies.
    """
    user: Any = request.user
    language = (user.chosen_language if user.is_authenticated else "") or get_language_from_request(request)
    if language != settings.LANGUAGE_CODE and user.is_authenticated and user.runs_studies:
        return settings.LANGUAGE_CODE
    return language


def actor(request: HttpRequest) -> User:
    """The logged-in user of a view that `requires` a login."""
    return cast("User", request.user)
