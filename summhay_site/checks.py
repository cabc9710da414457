"""System checks of our own: what makes the program unsafe or slow, said before it starts."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register


@register(Tags.security, deploy=True)
def https_is_on(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """In production passwords must not travel in the clear."""
    if settings.HTTPS:
        return []
    return [Warning("HTTPS is off.", hint="Set HTTPS=1 behind a proxy that ends TLS.", id="summhay.W001")]


@register(Tags.files)
def data_folder_is_private(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """The folder with the database and the key must not be open to others on the machine."""
    if not settings.DATA_DIR.exists():
        return []
    mode = settings.DATA_DIR.stat().st_mode & 0o777
    if mode & 0o002:
        return [
            Error(
                f"The data folder {settings.DATA_DIR} can be written by anybody.",
                hint=f"chmod 700 {settings.DATA_DIR}",
                id="summhay.E001",
            )
        ]
    return []
