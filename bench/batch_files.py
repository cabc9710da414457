"""Batch files of many requests: how fast they are written and read, and in how much memory."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from django.utils import timezone

from bench import label_world
from bench.cases import Measurement, Target, case
from bench.model_server import COMPLETION
from bench.stage import Stage
from benchmarks.engine import batch_replies, batches, judging, runs
from benchmarks.models import JudgeRun, Summary, Verdict

FEW, MANY = 715, 7_143
"""Summaries of 7 insights each: 5,005 and 50,001 requests."""
ADDRESS = "http://127.0.0.1:9/v1"
REPLIES = "replies.jsonl"
FLAT = Target(1.2, of="ratio")


@case("batch_files")
def batch_files(stage: Stage) -> Iterator[Measurement]:
    """50,001 requests of a run written to files, their replies read back; memory beside that of a tenth."""
    few, many = _round(stage, FEW), _round(stage, MANY)
    for name, about in (("write", "writing"), ("read", "reading")):
        yield Measurement(f"{about}", many[name]["requests"] / many[name]["seconds"], "/s")
        yield Measurement(
            f"most memory of the process while {about}",
            many[name]["mib"],
            "MiB",
            FLAT,
            few[name]["mib"],
            f"{few[name]['requests']:,.0f} requests",
        )


def _round(stage: Stage, n_summaries: int) -> dict[str, dict[str, float]]:
    """Each step in a process of its own, whose memory is its peak."""
    folder = str(stage.folder / f"batch-{n_summaries}")
    with stage.fresh_database() as database:

        def step(function: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
            return stage.elsewhere(function, *arguments, environment={**database, "OPENAI_BASE_URLS": ADDRESS})

        step(make, n_summaries)
        return {"write": step(write, folder), "reply": step(reply, folder), "read": step(read, folder)}


def make(n_summaries: int) -> dict[str, float]:
    """A run of a model judge that nobody works on."""
    now = timezone.now()
    label_world.make(n_summaries=n_summaries, n_people=0, n_judges=0, now=now)
    config = {"base_url": ADDRESS, "model": "batched"}
    judge = judging.ensure_judge(name="batched", kind="openai", config=config, now=now)
    options = judging.ModelOptions()
    run = judging.request_run(
        judge=judge, subjects=Summary.objects.all(), reason="bench", now=now, options=options
    )
    if run is None:
        raise SystemExit("there was nothing to judge")
    runs.hold(run=run, message="for batch files")
    return {"summaries": run.items.count()}


def write(folder: str) -> dict[str, float]:
    """All of its requests as files."""
    began = time.perf_counter()
    found = batches.write(run=JudgeRun.objects.get(), folder=Path(folder), clock=timezone.now)
    return _measured(began, found.n_requests)


def reply(folder: str) -> dict[str, float]:
    """A reply for each request, the last one first."""
    keys = []
    for path in sorted(Path(folder).glob("requests-*.jsonl")):
        with path.open("rb") as handle:
            keys += [json.loads(line)["custom_id"] for line in handle]
    body = json.loads(COMPLETION)
    with (Path(folder) / REPLIES).open("w") as out:
        for key in reversed(keys):
            out.write(json.dumps({"custom_id": key, "response": {"status_code": 200, "body": body}}) + "\n")
    return {"requests": len(keys)}


def read(folder: str) -> dict[str, float]:
    """The replies, to the last verdict."""
    began = time.perf_counter()
    found = batch_replies.read(folder=Path(folder), clock=timezone.now)
    measured = _measured(began, found.answered)
    if Verdict.objects.filter(is_valid=True).count() != found.answered:
        raise SystemExit("not every reply became a verdict")
    return measured


def _measured(began: float, n_requests: int) -> dict[str, float]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB on Linux, bytes on macOS
    mib = peak / 2**10 if sys.platform != "darwin" else peak / 2**20
    return {"seconds": time.perf_counter() - began, "requests": n_requests, "mib": mib}
