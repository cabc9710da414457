"""The page to work on: how fast it is answered, and what it weighs."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from statistics import median
from typing import Any
from urllib.parse import urljoin

from bench.cases import Measurement, case, least, most
from bench.stage import Stage

YEAR_S = 31_536_000
_TEXT = re.compile(rb'(<div class="reading"[^>]*>).*?(?=</div>)', re.DOTALL)
_READING = re.compile(rb'(<div class="reading"[^>]*>.*?</div>)', re.DOTALL)
_LINK = re.compile(rb'<(?:link|script|img)[^>]*?(?:href|src)="([^"]+)"')
_IMPORT = re.compile(rb'(?:from|import)\s*"(\.[^"]+)"')
_CSS_URL = re.compile(rb"url\(\"?([^)\"]+)\"?\)")


@case("work_page_15")
def work_page_15(stage: Stage) -> Iterator[Measurement]:
    """The complete page of a session of 15 documents, compressed."""
    yield from _page(stage, stage.scene["few"], p50=10, rate=250)


@case("work_page_100")
def work_page_100(stage: Stage) -> Iterator[Measurement]:
    """The complete page of a session of 100 documents, compressed."""
    yield from _page(stage, stage.scene["all"][:1], p50=25, rate=None)


def _page(
    stage: Stage, readers: Sequence[Mapping[str, Any]], *, p50: float, rate: float | None
) -> Iterator[Measurement]:
    body = fetch(stage, readers[0]["page"], reader_headers(readers[0])).body
    folder = stage.folder / "floor"
    folder.mkdir(exist_ok=True)
    (folder / "page.html.gz").write_bytes(body)

    def one_round() -> dict[str, float]:
        count, bare = stage.effort.requests, "/__floor__/file/page.html.gz"
        alone = stage.load(page_clients(readers[:1], count=count))
        bare_alone = stage.load(page_clients(readers[:1], count=count, path=bare)).checked()
        crowd = stage.load(page_clients(readers, count=count))
        bare_crowd = stage.load(page_clients(readers, count=count, path=bare)).checked()
        return {
            "p50": median(alone.latencies_ms),
            "bare_p50": median(bare_alone.latencies_ms),
            "rate": crowd.per_second,
            "bare_rate": bare_crowd.per_second,
            "failures": crowd.failures + alone.failures,
        }

    found, bare = stage.rounds(one_round), "bare view that reads the same bytes from a file"
    yield Measurement("1 client, p50", found["p50"], "ms", most(p50), found["bare_p50"], bare)
    if rate is not None:
        yield Measurement(f"{len(readers)} clients", found["rate"], "/s", least(rate), found["bare_rate"], bare)
    yield Measurement("answers other than 200", found["failures"], "", most(0))
    yield Measurement("compressed", len(body) / 1024, "KiB")


def page_clients(readers: Sequence[Mapping[str, Any]], *, count: int, path: str = "") -> list[dict[str, Any]]:
    """Clients that each load their own page so often, or what is at `path`."""
    return [
        {"kind": "get", "path": path or reader["page"], "headers": reader_headers(reader), "count": count}
        for reader in readers
    ]


@case("page_weight")
def page_weight(stage: Stage) -> Iterator[Measurement]:
    """What a browser loads for the work page, without the texts of documents."""
    reader = stage.scene["few"][0]
    page = fetch(stage, reader["page"], reader_headers(reader))
    without_texts = gzip.compress(_TEXT.sub(rb"\1", page.plain), 6)
    assets = _assets(stage, reader["page"], page)
    kept = [
        path for path, asset in assets.items() if f"max-age={YEAR_S}" in asset.cache and "immutable" in asset.cache
    ]
    yield Measurement(
        "compressed, with scripts and styles",
        (len(without_texts) + sum(len(asset.body) for asset in assets.values())) / 1024,
        "KiB",
        most(150),
        len(without_texts) / 1024,
        "the page alone",
    )
    yield Measurement("requests", 1 + len(assets), "", most(20))
    yield Measurement("files that are not kept for a year by their hash", len(assets) - len(kept), "", most(0))


@dataclass(frozen=True, slots=True)
class Answer:
    """What came over the wire, and what it unpacks to."""

    body: bytes
    plain: bytes
    cache: str


def fetch(stage: Stage, path: str, headers: Mapping[str, str]) -> Answer:
    """Get one address of the server as a browser would."""
    connection = HTTPConnection("127.0.0.1", stage.server.port, timeout=30)
    try:
        connection.request("GET", path, headers={"Accept-Encoding": "gzip", **headers})
        response = connection.getresponse()
        body = response.read()
    finally:
        connection.close()
    if response.status != 200:
        raise RuntimeError(f"{path} answered {response.status}: {body[:500]!r}")
    plain = gzip.decompress(body) if response.headers["Content-Encoding"] == "gzip" else body
    return Answer(body=body, plain=plain, cache=response.headers["Cache-Control"] or "")


def _assets(stage: Stage, address: str, page: Answer) -> dict[str, Answer]:
    """Everything that the page loads, scripts by way of other scripts included."""
    found: dict[str, Answer] = {}
    waiting = [(address, link) for link in _LINK.findall(page.plain)]
    while waiting:
        base, link = waiting.pop()
        path = urljoin(base, link.decode())
        if path in found or path.startswith("data:"):
            continue
        found[path] = fetch(stage, path, {})
        pattern = _IMPORT if path.endswith(".js") else _CSS_URL if path.endswith(".css") else None
        waiting += [(path, each) for each in pattern.findall(found[path].plain)] if pattern else []
    return found


def texts_of(page: bytes) -> list[bytes]:
    """The texts of the documents in a work page, as HTML."""
    return _READING.findall(page)


def reader_headers(reader: Mapping[str, Any]) -> dict[str, str]:
    """The headers of a browser that is logged in."""
    return {
        "Cookie": f"sessionid={reader['sessionid']}; csrftoken={reader['csrftoken']}",
        "Accept-Encoding": "gzip",
    }
