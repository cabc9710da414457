"""Pages and fragments, Markdown, marked passages, and the limit on uploads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.safestring import SafeString, mark_safe
from django_htmx.middleware import HtmxDetails
from markdown_it import MarkdownIt

STOP_POLLING = 286
"""What tells htmx that a fragment need not be asked for again."""


class HtmxHttpRequest(HttpRequest):
    """A request as the middleware of django-htmx leaves it."""

    htmx: HtmxDetails


def wants_fragment(request: HtmxHttpRequest) -> bool:
    """Whether htmx asks for a fragment; a history restore and a form sent in place want the complete page."""
    return bool(request.htmx) and not (request.htmx.history_restore_request or request.htmx.boosted)


def page(
    request: HtmxHttpRequest,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    part: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render `template`, or only its partial `part` when htmx asks for a fragment."""
    name = f"{template}#{part}" if part and wants_fragment(request) else template
    response = render(request, name, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def polled(
    request: HtmxHttpRequest, template: str, context: dict[str, Any], *, part: str, is_working: bool
) -> HttpResponse:
    """A page whose `part` is asked for again and again, until nobody works on what it shows."""
    is_last = wants_fragment(request) and not is_working
    return page(request, template, context, part=part, status=STOP_POLLING if is_last else 200)


@lru_cache(maxsize=128)
def render_markdown(body: str) -> SafeString:
    """HTML of a text that somebody typed: no raw HTML, no images, headings one level down, safe links only."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(body)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + (1 if token.tag == 'h1' else 0))}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
    html: str = parser.renderer.render(tokens, parser.options, {})
    return mark_safe(html)  # noqa: S308  raw HTML is off in the parser, everything else it escapes


@dataclass(frozen=True, slots=True)
class Mark:
    """A passage from `start` to `end` (code points, end excluded) that belongs to key point `point`."""

    start: int
    end: int
    point: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text inside the same marks throughout; `anchors` are of the marks that begin with it."""

    text: str
    points: tuple[int, ...] = ()
    anchors: tuple[str, ...] = ()


def segments(text: str, marks: Iterable[Mark]) -> list[Segment]:
    """Pieces in order, together the whole text; marks outside of it are cut off."""
    inside = [mark for mark in marks if mark.start < min(mark.end, len(text))]
    borders = sorted(
        {0, len(text), *(mark.start for mark in inside), *(min(mark.end, len(text)) for mark in inside)}
    )
    return [
        Segment(
            text=text[start:end],
            points=tuple(sorted({mark.point for mark in inside if mark.start <= start and end <= mark.end})),
            anchors=tuple(mark.anchor for mark in inside if mark.start == start),
        )
        for start, end in pairwise(borders)
    ]


TOO_LARGE = "upload_was_too_large"


class LimitedUploadHandler(FileUploadHandler):
    """Stops at `UPLOAD_LIMIT_BYTES`, reads the rest away so that an answer can be given, and marks the request."""

    n_seen = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Pass chunks on to the handlers that store them, until there are too many."""
        self.n_seen += len(raw_data)
        if self.n_seen > settings.UPLOAD_LIMIT_BYTES:
            setattr(self.request, TOO_LARGE, True)
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Storing is the business of the handlers after this one."""


def was_too_large(request: HttpRequest) -> Any:
    """Whether the request held a file over the limit; its form then has no file."""
    return getattr(request, TOO_LARGE, False)
