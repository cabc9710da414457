"""The site as it is served in production, with the floor's views beside it. Only measurements serve this."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.handlers.exception import convert_exception_to_response
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest

from summhay_site.wsgi import application as site

PREFIX = "/__floor__/"


class BareRequest(WSGIRequest):
    """A request that knows the addresses of the floor only."""

    urlconf = "bench.floor"


class BareHandler(WSGIHandler):
    """Django with nothing between server and view."""

    request_class = BareRequest

    def load_middleware(self, is_async: bool = False) -> None:
        """Leave out all middleware."""
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        self._middleware_chain = convert_exception_to_response(self._get_response)  # type: ignore[attr-defined]


floor = BareHandler()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """The floor for its own addresses, the site for all others."""
    handler: Any = floor if environ["PATH_INFO"].startswith(PREFIX) else site
    answer: Iterable[bytes] = handler(environ, start_response)
    return answer
