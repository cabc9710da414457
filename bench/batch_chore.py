"""One step of a batch of requests: `python -m bench.batch_chore NAME ARGUMENT…`."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import django

from bench.model_server import COMPLETION

REPLIES = "replies.jsonl"


def make(address: str, n_summaries: str) -> dict[str, float]:
    """A run of a model judge that nobody works on."""
    from django.core.management import call_command
    from django.utils import timezone

    from bench.label_world import make
    from benchmarks.engine import judging, runs
    from benchmarks.models import Summary

    call_command("migrate", interactive=False, verbosity=0)
    now = timezone.now()
    make(n_summaries=int(n_summaries), n_people=0, n_judges=0, now=now)
    config = {"base_url": address, "model": "batched"}
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
    from django.utils import timezone

    from benchmarks.engine import batches
    from benchmarks.models import JudgeRun

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
    from django.utils import timezone

    from benchmarks.engine import batch_replies
    from benchmarks.models import Verdict

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


CHORES: dict[str, Callable[..., dict[str, float]]] = {"make": make, "write": write, "reply": reply, "read": read}

if __name__ == "__main__":
    django.setup()
    print(json.dumps(CHORES[sys.argv[1]](*sys.argv[2:])))
