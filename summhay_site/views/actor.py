"""Who asks, as the type that verbs take."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest

from summhay_site.models import User


def actor(request: HttpRequest) -> User:
    """The logged-in user of a view that `requires` a login."""
    return cast("User", request.user)
