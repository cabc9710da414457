"""The key point part of the demo: the offline judge on the responses to the demo's questions."""

from __future__ import annotations

from datetime import datetime

from benchmarks.engine import judging
from benchmarks.models import JudgeRun, Response

TASKS = (JudgeRun.Task.RECALL, JudgeRun.Task.EXTRACTION, JudgeRun.Task.SUPPORT)


def load(*, dataset: str, now: datetime) -> None:
    """Judge what responses recall, split them into points, and look for what supports these."""
    judge = judging.default_judge(now=now)
    responses = list(Response.objects.filter(question__dataset=dataset))
    for task in TASKS:
        run = judging.request_run(judge=judge, task=task, subjects=responses, reason="demo", now=now)
        if run is not None:
            judging.run_pending(run=run, clock=lambda: now)
