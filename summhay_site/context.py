"""What every template may use."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """Name and contact of the site."""
    return {"site_name": "SummHay", "contact_address": settings.CONTACT_ADDRESS}
