"""Errors to a server that speaks Sentry's protocol; loaded where SENTRY_DSN is set, with the extra `sentry`.

What people wrote stays here: no bodies, no values of variables, no names or addresses.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import sentry_sdk
from django.conf import settings

from summhay_site.serving.logs import without_secrets


def start() -> None:
    """Report errors of this process from now on."""
    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=_release(),
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=_without_secrets,
    )


def _without_secrets(event: Any, _hint: Any) -> Any:
    """Leave out of the request and of the words of the error what the log leaves out."""
    request = event.get("request", {})
    request.pop("query_string", None)
    request.get("headers", {}).pop("Referer", None)
    for part, name in (
        (request, "url"),
        *((error, "value") for error in event.get("exception", {}).get("values", [])),
    ):
        if isinstance(part.get(name), str):
            part[name] = without_secrets(part[name])
    return event


def _release() -> str | None:
    try:
        return f"summhay@{version('summhay')}"
    except PackageNotFoundError:
        return None
