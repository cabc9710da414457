"""The site as it is served, and beside it the floor: a view without middleware that reads and changes one row."""

from collections.abc import Iterable
from time import perf_counter_ns
from typing import Any

from django.apps import apps
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.test.utils import override_settings
from django.urls import path

from summhay_site.wsgi import application as site


def row(request: HttpRequest, pk: int) -> HttpResponse:
    """One SELECT and one UPDATE of a small column of one row."""
    people: Any = apps.get_model("annotation", "Annotator")._default_manager
    note = f"{people.get(pk=pk).label} {perf_counter_ns()}"
    people.filter(pk=pk).update(accommodation_note=note)
    return HttpResponse(b"ok", headers={"Content-Length": "2"})


urlpatterns = [path("__floor__/<int:pk>/", row)]


class BareRequest(WSGIRequest):
    """A request that knows the address of the floor only."""

    urlconf = __name__


with override_settings(MIDDLEWARE=[]):
    floor = WSGIHandler()
floor.request_class = BareRequest


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """The floor for its own address, the site for all others."""
    handler: Any = floor if environ["PATH_INFO"].startswith("/__floor__/") else site
    answer: Iterable[bytes] = handler(environ, start_response)
    return answer
