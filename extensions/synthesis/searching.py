"""Documents from a search server: a small JSON protocol over HTTP, with limits of size and time, no redirects.

`POST ADDRESS` with `{"query", "n", "language"}` gives `{"results": [{"url", "title", "text" or "html"}, …]}`, the
best first. Addresses are on the list of the settings, the key is in the environment.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from django.conf import settings
from pydantic import BaseModel, ConfigDict, ValidationError

from benchmarks.judges.parsing import clean_text
from extensions.synthesis.sources import Source, from_html, tidy

KEY_VARIABLE = "SEARCH_API_KEY"
TIMEOUT_S = 60.0
"""Of one request, from its first byte to the last of the answer."""
MOST_BYTES = 20_000_000
MOST_LETTERS = 400_000
LONGEST_URL = 2000
"""Of one document; longer ones are left out."""
MOST_TRIES = 4
BACKOFF_S = 0.5
LONGEST_WAIT_S = 30.0
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_PIECE = 64 * 1024


class SearchFailed(Exception):
    """A search brought nothing that can be used; the message says why and can be shown."""


@dataclass(frozen=True)
class SearchHit:
    """A document with its title and where it comes from."""

    title: str
    text: str
    url: str = ""

    def as_json(self) -> dict[str, str]:
        """Plain values, for storing."""
        return asdict(self)


@dataclass(frozen=True)
class Results:
    """What a search brought, the best first; `n_left_out` held no text, too much of it, or an endless address."""

    hits: tuple[SearchHit, ...]
    n_left_out: int = 0


class _Result(BaseModel):
    model_config = ConfigDict(extra="ignore")

    url: str = ""
    title: str = ""
    text: str = ""
    html: str = ""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    results: list[_Result]


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Follow none: an address that is allowed must not lead to one that is not."""


@dataclass(frozen=True)
class _Trouble:
    """Why a request brought nothing, and how many seconds to wait; None where waiting does not help."""

    message: str
    wait_s: float | None


def check_search(address: str) -> str:
    """The address as it is used; ValueError if the settings do not list it."""
    allowed = {each.rstrip("/") for each in settings.SEARCH_URLS}
    if address.rstrip("/") not in allowed:
        raise ValueError(f"{address} is not allowed; SEARCH_URLS lists {', '.join(sorted(allowed)) or 'none'}.")
    return address.rstrip("/")


def search(address: str, query: str, *, n: int, language: str) -> Results:
    """The best documents for a query, `n` at most.

    What waiting may heal is tried again.

    Raises:
        SearchFailed: the address is not allowed, the server refuses, or it keeps failing.
    """
    try:
        url = check_search(address)
    except ValueError as error:
        raise SearchFailed(str(error)) from error
    body = json.dumps({"query": query, "n": n, "language": language}).encode()
    for n_tried in range(1, MOST_TRIES + 1):
        answer = _once(url, body)
        if not isinstance(answer, _Trouble):
            return _usable(answer[:n])
        if answer.wait_s is None or n_tried == MOST_TRIES:
            raise SearchFailed(answer.message)
        time.sleep(min(LONGEST_WAIT_S, answer.wait_s or BACKOFF_S * 2 ** (n_tried - 1)))
    raise AssertionError("unreachable")


def _once(url: str, body: bytes) -> list[_Result] | _Trouble:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if key := os.environ.get(KEY_VARIABLE, "").strip():
        headers["Authorization"] = f"Bearer {key}"
    deadline = time.monotonic() + TIMEOUT_S
    request = Request(url, data=body, headers=headers, method="POST")  # noqa: S310 - on the list of the settings
    try:
        with build_opener(_NoRedirects).open(request, timeout=TIMEOUT_S) as answer:
            content = _content(answer, deadline)
    except HTTPError as error:
        error.close()
        return _refused(error)
    except (URLError, HTTPException, OSError, ValueError) as error:
        return _Trouble(f"The search server did not answer ({clean_text(str(error))[:200]}).", 0)
    if content is None:
        return _Trouble(f"The search server sent more than {MOST_BYTES:,} bytes.", None)
    try:
        read = _Answer.model_validate_json(content)
    except (ValidationError, ValueError, RecursionError):
        return _Trouble("The search server's answer is not what the protocol says.", 0)
    return read.results


def _usable(rows: Sequence[_Result]) -> Results:
    documents = [_document(row) for row in rows]
    usable = tuple(
        each for each in documents if each.text and len(each.text) <= MOST_LETTERS and len(each.url) <= LONGEST_URL
    )
    return Results(usable, len(documents) - len(usable))


def _refused(error: HTTPError) -> _Trouble:
    if 300 <= error.code < 400:
        return _Trouble(f"{error.code}: the search server sends somewhere else, which is not followed.", None)
    message = f"{error.code}: the search server refused."
    if error.code not in _BUSY:
        return _Trouble(message, None)
    wait = error.headers.get("Retry-After", "")
    return _Trouble(message, float(wait) if wait.replace(".", "", 1).isdecimal() else 0)


def _content(answer: Any, deadline: float) -> bytes | None:
    """All of an answer; None if it is too long, TimeoutError if it takes too long."""
    content = bytearray()
    while piece := answer.read1(_PIECE):
        content += piece
        if len(content) > MOST_BYTES:
            return None
        if time.monotonic() > deadline:
            raise TimeoutError(f"longer than {TIMEOUT_S:.0f} s")
    return bytes(content)


def _document(row: _Result) -> SearchHit:
    source = from_html(clean_text(row.html)) if row.html else Source("", tidy(clean_text(row.text)))
    title = " ".join(clean_text(row.title).split()) or source.title
    return SearchHit(title[:300], source.text, clean_text(row.url))
