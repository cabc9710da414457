"""What a person waits for in the browser: reading 100 documents, typing beside them, searching in them."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from typing import Any

from bench.cases import Measurement, Unmeasurable, case, most
from bench.pages import fetch, reader_headers, texts_of
from bench.stage import Stage

QUERY = "the harbour"
TYPED = "- the crossing was late again [3, 17]"


@case("readable_100")
def readable_100(stage: Stage) -> Iterator[Measurement]:
    """100 documents of 800 words in Chromium, nothing cached: until readable, a key typed, a key searched."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium or importlib.util.find_spec("playwright") is None:
        raise Unmeasurable("Chromium and Playwright are needed; CHROMIUM names the program")
    reader = stage.scene["all"][0]
    page = fetch(stage, reader["page"], reader_headers(reader)).plain
    folder = stage.folder / "floor"
    folder.mkdir(exist_ok=True)
    (folder / "texts.html").write_bytes(_bare(texts_of(page)))
    job: dict[str, Any] = {
        "chromium": chromium,
        "address": stage.server.address,
        "page": reader["page"],
        "bare": "/__floor__/file/texts.html",
        "cookies": {name: reader[name] for name in ("sessionid", "csrftoken")},
        "rounds": max(stage.effort.rounds, 1) * 2 - 1,
        "query": QUERY,
        "typed": TYPED,
    }
    found: dict[str, float] = stage.run_module("browser", job=job)
    bare = "the same texts in bare HTML"
    yield Measurement("until readable, cold", found["readable"], "ms", most(350), found["bare_readable"], bare)
    yield Measurement("key typed, p95", found["typing"], "ms", most(16), found["bare_typing"], bare)
    yield Measurement(
        "key searched, worst", found["search"], "ms", most(8), found["bare_search"], "lower case and indexOf alone"
    )
    yield Measurement("hits of that search", found["hits"], "")
    yield Measurement("requests of the page", found["requests"], "", most(12))


def _bare(texts: list[bytes]) -> bytes:
    body = b"".join(b"<article>%s</article>" % text for text in texts)
    return b"<!doctype html><meta charset=utf-8><title>texts</title><textarea></textarea>%s" % body
