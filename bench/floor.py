"""The floor: the least that a server of this kind can do. Served only while something is measured.

The views have no middleware, no login and no template; they run in the same server on the same database.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter_ns

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path

from annotation.models import Annotator
from benchmarks.web.permissions import public


@public
def row(request: HttpRequest, pk: int) -> HttpResponse:
    """One SELECT and one UPDATE of a small column of one row."""
    person = Annotator.objects.get(pk=pk)
    Annotator.objects.filter(pk=pk).update(accommodation_note=f"{person.label} {perf_counter_ns()}")
    return _sized(HttpResponse(b"ok", content_type="text/plain"))


@public
def file(request: HttpRequest, name: str) -> HttpResponse:
    """A file of the folder of measurements, as it is."""
    content = (Path(settings.DATA_DIR) / "floor" / Path(name).name).read_bytes()
    response = HttpResponse(content, content_type="text/html; charset=utf-8")
    if name.endswith(".gz"):
        response["Content-Encoding"] = "gzip"
    return _sized(response)


def _sized(response: HttpResponse) -> HttpResponse:
    """With its length, which a middleware would set, so that the connection is kept."""
    response["Content-Length"] = str(len(response.content))
    return response


urlpatterns = [path("__floor__/row/<int:pk>/", row), path("__floor__/file/<str:name>", file)]
