"""A judge behind a server that takes its time: what asking many questions at a time gains."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from django.utils import timezone

from bench import label_world
from bench.cases import Measurement, case, least
from bench.stage import ROOT, Stage
from benchmarks.engine import judging
from benchmarks.models import JudgeCall, Summary

DELAY_S = 0.2
AT_A_TIME = 32
N_SUMMARIES = 203
N_ONE_BY_ONE = 12
"""Summaries whose insights are judged one after another; more would only take longer."""


@case("model_judge")
def model_judge(stage: Stage) -> Iterator[Measurement]:
    """A model behind a server on this machine that answers in 200 ms, 32 requests at a time, verdicts stored."""
    found = stage.rounds(lambda: beside_a_server(stage, judge))
    yield Measurement(f"{found['verdicts']:,.0f} verdicts", found["seconds"], "s")
    yield Measurement(
        "verdicts", 1 / found["at_once"], "/s", None, AT_A_TIME / DELAY_S, "if nothing but waiting took time"
    )
    yield Measurement("times as fast as one after another", found["one_by_one"] / found["at_once"], "×", least(20))


def beside_a_server(stage: Stage, measure: Callable[[str], dict[str, float]]) -> dict[str, float]:
    """Measure something that asks a model server, whose address it gets."""
    with _serving(stage) as address:
        return stage.alone(measure, address, environment={"OPENAI_BASE_URLS": address})


@contextmanager
def _serving(stage: Stage) -> Iterator[str]:
    """The address of a running model server."""
    command = [sys.executable, "-m", "bench.model_server", str(DELAY_S)]
    process = subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=ROOT, env=stage.environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None  # noqa: S101  it is a pipe
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate()


def judge(address: str) -> dict[str, float]:
    """Seconds for a verdict one after another, and with many requests at a time."""
    label_world.make(n_summaries=N_SUMMARIES, n_people=0, n_judges=0, now=timezone.now())
    summaries = list(Summary.objects.select_related("subtopic"))
    _timed("warm", address, summaries[-1:], AT_A_TIME)
    alone_s, n_alone = _timed("alone", address, summaries[:N_ONE_BY_ONE], 1)
    crowd_s, n_crowd = _timed("crowd", address, summaries, AT_A_TIME)
    return {"one_by_one": alone_s / n_alone, "at_once": crowd_s / n_crowd, "verdicts": n_crowd, "seconds": crowd_s}


def _timed(model: str, address: str, summaries: Sequence[Summary], concurrency: int) -> tuple[float, int]:
    """Let a judge of its own, that shares no answers, judge these; seconds and verdicts."""
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
