"""A model judge at work: `python -m bench.model_chore ADDRESS CONCURRENCY`, on an empty database."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import django

N_SUMMARIES = 203
N_ONE_BY_ONE = 12
"""Summaries whose insights are judged one after another; more would only take longer."""


def judge(*, address: str, concurrency: int) -> dict[str, float]:
    """Seconds for a verdict one after another, and with so many requests at a time."""
    from django.core.management import call_command
    from django.utils import timezone

    from bench.label_world import make
    from benchmarks.models import Summary

    call_command("migrate", interactive=False, verbosity=0)
    make(n_summaries=N_SUMMARIES, n_people=0, n_judges=0, now=timezone.now())
    summaries = list(Summary.objects.select_related("subtopic"))
    _timed("warm", address, summaries[-1:], concurrency)
    alone_s, n_alone = _timed("alone", address, summaries[:N_ONE_BY_ONE], 1)
    crowd_s, n_crowd = _timed("crowd", address, summaries, concurrency)
    return {"one_by_one": alone_s / n_alone, "at_once": crowd_s / n_crowd, "verdicts": n_crowd, "seconds": crowd_s}


def _timed(model: str, address: str, summaries: Sequence[Any], concurrency: int) -> tuple[float, int]:
    """Let a judge of its own, that shares no answers, judge these; seconds and verdicts."""
    from django.utils import timezone

    from benchmarks.engine import judging
    from benchmarks.models import JudgeCall

    config = {"base_url": address, "model": model}
    asked = judging.ensure_judge(name=model, kind="openai", config=config, now=timezone.now())
    began = time.perf_counter()
    run = judging.request_run(
        judge=asked,
        subjects=summaries,
        reason="bench",
        now=timezone.now(),
        options=judging.ModelOptions(concurrency=concurrency),
    )
    if run is None:
        raise SystemExit("there was nothing to judge")
    judging.run_pending(run=run, clock=timezone.now)
    seconds = time.perf_counter() - began
    n_verdicts = asked.verdicts.filter(is_valid=True).count()
    if JudgeCall.objects.filter(run=run, state="answered").count() != n_verdicts:
        raise SystemExit("not every verdict was asked for")
    return seconds, n_verdicts


if __name__ == "__main__":
    django.setup()
    print(json.dumps(judge(address=sys.argv[1], concurrency=int(sys.argv[2]))))
