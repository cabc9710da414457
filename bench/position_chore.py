"""Where 3,276 summaries over 500 documents take their content from: `python -m bench.position_chore FILE`."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import django

SUBTOPICS = (9, 9, 8, 8, 8)
"""With summaries, of each of the five haystacks."""


def make_haystacks(path: Path) -> None:
    """Import a haystack five times under other ids, with the summaries of so many subtopics."""
    from django.core.management import call_command

    topic = json.loads(path.read_bytes())
    with TemporaryDirectory() as folder:
        for at, n_subtopics in enumerate(SUBTOPICS):
            left_out = [{**one, "summaries": {}, "eval_summaries": {}} for one in topic["subtopics"][n_subtopics:]]
            subtopics = [*topic["subtopics"][:n_subtopics], *left_out]
            file = Path(folder) / f"bench{at}.json"
            file.write_text(json.dumps({**topic, "topic_id": f"bench{at}", "subtopics": subtopics}))
            call_command("import_dataset", "summhay", str(file), stdout=io.StringIO(), stderr=io.StringIO())


def time_placing() -> dict[str, float]:
    """Seconds of a worker for all texts, seconds to see that nothing is missing, and how many texts there are."""
    from annotation.leaderboard.positions import place_missing
    from benchmarks.models import Summary

    began = time.perf_counter()
    n_placed = place_missing()
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    if place_missing():
        raise SystemExit("texts were placed twice")
    return {
        "seconds": seconds,
        "again_s": time.perf_counter() - began,
        "placed": n_placed,
        "texts": Summary.objects.count(),
    }


def time_page() -> dict[str, float]:
    """The page of all of them: warm, but with nothing of it remembered; then remembered; its queries."""
    from django.core.cache import cache
    from django.db import connection
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    from bench.label_chores import researcher

    client: Any = researcher()
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


if __name__ == "__main__":
    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    make_haystacks(Path(sys.argv[1]))
    print(json.dumps(time_placing() | time_page()))
