"""Errors to a server that speaks Sentry's protocol; loaded where SENTRY_DSN is set, with the extra `sentry`.

What people wrote stays here: no bodies, no values of variables, no names or addresses.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import sentry_sdk
from django.conf import settings


def start() -> None:
    """Report errors of this process from now on."""
    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=_release(),
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
    )


def _release() -> str | None:
    try:
        return f"summhay@{version('summhay')}"
    except PackageNotFoundError:
        return None
