"""The position of content, without a server."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.leaderboard.positions import place_missing
from bench.cases import Measurement, case, most
from bench.figures import researcher
from bench.offline import haystack_file
from bench.stage import Stage
from benchmarks.models import Summary

SUBTOPICS = (9, 9, 8, 8, 8)
"""With summaries, of each of the five haystacks."""


@case("positions")
def positions(stage: Stage) -> Iterator[Measurement]:
    """Where 3,276 summaries over 500 documents take their content from, found by a worker; the page of them."""
    stage.static_files()
    found = stage.alone(measure, haystack_file(stage))
    yield Measurement(f"{found['placed']:,.0f} of {found['texts']:,.0f} texts", found["seconds"], "s", most(60))
    yield Measurement("seeing that nothing is missing", found["again_s"], "s", most(1))
    yield Measurement("page", found["page_s"], "s", most(10), found["page_again_s"], "remembered")
    yield Measurement("queries of the page", found["queries"], "")


def measure(path: str) -> dict[str, float]:
    """What placing all texts and the page of them take."""
    _import(Path(path))
    return _time_placing() | _time_page()


def _import(path: Path) -> None:
    """Import a haystack five times under other ids, with the summaries of so many subtopics."""
    topic = json.loads(path.read_bytes())
    with TemporaryDirectory() as folder:
        for at, n_subtopics in enumerate(SUBTOPICS):
            left_out = [{**one, "summaries": {}, "eval_summaries": {}} for one in topic["subtopics"][n_subtopics:]]
            subtopics = [*topic["subtopics"][:n_subtopics], *left_out]
            file = Path(folder) / f"bench{at}.json"
            file.write_text(json.dumps({**topic, "topic_id": f"bench{at}", "subtopics": subtopics}))
            call_command("import_dataset", "summhay", str(file), stdout=io.StringIO(), stderr=io.StringIO())


def _time_placing() -> dict[str, float]:
    """Seconds of a worker for all texts, seconds to see that nothing is missing, and how many texts there are."""
    began = time.perf_counter()
    n_placed = place_missing()
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    if place_missing():
        raise SystemExit("texts were placed twice")
    again_s = time.perf_counter() - began
    return {"seconds": seconds, "again_s": again_s, "placed": n_placed, "texts": Summary.objects.count()}


def _time_page() -> dict[str, float]:
    """The page of all of them: warm, but with nothing of it remembered; then remembered; its queries."""
    client = researcher()
    address = reverse("annotation:content-positions")
    client.get(address)
    cache.clear()
    began = time.perf_counter()
    response = client.get(address)
    page_s = time.perf_counter() - began
    if response.status_code != 200 or b"plot-figure" not in response.content:
        raise SystemExit(f"the page was not shown: {response.status_code}")
    with CaptureQueriesContext(connection) as queries:
        began = time.perf_counter()
        client.get(address)
        again = time.perf_counter() - began
    return {"page_s": page_s, "page_again_s": again, "queries": len(queries)}
