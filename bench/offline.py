"""Work without a server: taking a haystack in, and the offline judge."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from django.core.management import call_command
from django.utils import timezone

from bench import corpus
from bench.cases import Measurement, case, least, most
from bench.stage import Stage
from benchmarks.engine import judging
from benchmarks.models import Summary, Verdict

PUBLISHED = "summhay/topic_news1.json"


@case("import")
def import_haystack(stage: Stage) -> Iterator[Measurement]:
    """A haystack of 100 documents, 702 summaries and 5,070 verdicts, by command into an empty database."""
    path = haystack_file(stage)
    found = stage.rounds(lambda: stage.alone(time_import, path))
    yield Measurement(
        "the command as a whole", found["seconds"], "s", most(3), found["read_s"], "reading and parsing the file"
    )
    yield Measurement("rows", found["rows"] / found["seconds"], "/s")


def time_import(path: str) -> dict[str, float]:
    """Seconds of the command, rows that it made, and seconds to read the same file."""
    began = time.perf_counter()
    json.loads(Path(path).read_bytes())
    read_s = time.perf_counter() - began
    printed = io.StringIO()
    began = time.perf_counter()
    call_command("import_dataset", "summhay", path, "--json", stdout=printed, stderr=io.StringIO())
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "read_s": read_s, "rows": sum(json.loads(printed.getvalue())["created"].values())}


@case("judge")
def judge(stage: Stage) -> Iterator[Measurement]:
    """The offline judge on all summaries of that haystack, on one core, verdicts stored."""
    path = haystack_file(stage)
    cpus = sorted(os.sched_getaffinity(0))[:1]
    found = stage.rounds(lambda: stage.alone(time_judge, path, cpus=cpus))
    yield Measurement(
        "verdicts",
        found["verdicts"] / found["seconds"],
        "/s",
        least(2000),
        found["verdicts"] / found["split_s"],
        "splitting the same bullets into words",
    )


def time_judge(path: str) -> dict[str, float]:
    """Seconds to judge every summary of the file, verdicts stored, and seconds to split their lines into words."""
    time_import(path)
    summaries = list(Summary.objects.select_related("subtopic"))
    began = time.perf_counter()
    for summary in summaries:
        for line in summary.lines:
            line.lower().split()
    split_s = time.perf_counter() - began
    asked = judging.default_judge(now=timezone.now())
    began = time.perf_counter()
    run = judging.request_run(judge=asked, subjects=summaries, reason="bench", now=timezone.now())
    if run is None:
        raise SystemExit("there was nothing to judge")
    judging.run_pending(run=run, clock=timezone.now)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "split_s": split_s, "verdicts": Verdict.objects.filter(run=run).count()}


def haystack_file(stage: Stage) -> str:
    """The published file if SUMMHAY_DATA names its folder, else one of our own of the same size."""
    published = Path(os.environ.get("SUMMHAY_DATA", "-")) / PUBLISHED
    if published.exists():
        return str(published.resolve())
    made = stage.folder / "bench.json"
    if not made.exists():
        made.write_text(json.dumps(corpus.topic()))
    print(f"without SUMMHAY_DATA: {made.name} made up, {made.stat().st_size:,} bytes", file=sys.stderr)
    return str(made)
