"""A judge behind a server that answers in 200 ms: what asking 32 questions at a time gains, verdicts stored."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

from django.core.management import call_command
from django.utils import timezone

from bench.driver import Case, Figure, Row
from bench.processes import fake_model
from bench.site import Site
from benchmarks.engine import judge_versions

DELAY_S, AT_A_TIME = 0.2, 32


def measure(site: Site, _prepared: Any) -> Row:
    """Few summaries one question after another, then a quarter of all with many at a time."""
    n_crowd = max(2, site.size.summaries // 4)
    jobs = ((1, max(1, n_crowd // 16)), (AT_A_TIME, n_crowd))
    with fake_model(DELAY_S) as address:
        alone, crowd = (site.call(__name__, "judge", address, *job, OPENAI_BASE_URLS=address) for job in jobs)
    return {
        "crowd": crowd["calls"] / crowd["seconds"],
        "alone": alone["calls"] / alone["seconds"],
        "waiting": AT_A_TIME / DELAY_S,
    }


def judge(address: str, concurrency: int, n_summaries: int) -> dict[str, Any]:
    """What the command reports of a sample of summaries and a judge that shares no answers."""
    name, printed = f"measured {concurrency}", StringIO()
    config = {"base_url": address, "model": name}
    judge_versions.ensure_judge(name=name, kind="openai", config=config, now=timezone.now())
    words = ("run_judge", name, "--sample", str(n_summaries), "--concurrency", str(concurrency), "--json")
    call_command(*words, stdout=printed, stderr=StringIO())
    report: dict[str, Any] = json.loads(printed.getvalue())
    if report["failed"] or report["invalid"] or not report["calls"]:
        raise SystemExit(f"not every answer became a verdict: {report}")
    return report


CASE = Case(
    "haystack",
    [
        Figure("crowd", "verdicts, 32 at a time", "/s", None, 20, "alone", "one after another", of_floor=True),
        Figure(
            "crowd", "the same beside waiting alone", "/s", floor="waiting", floor_is="if only waiting took time"
        ),
    ],
    measure,
)
