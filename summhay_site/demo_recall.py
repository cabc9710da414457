"""The key point part of the demo: the offline judge on the responses to its questions, and baseline responses."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from benchmarks.engine import judging, summarizing
from benchmarks.engine.responding import Documents
from benchmarks.models import Judge, JudgeRun, Question, Response
from benchmarks.summarizers.conditions import CUT, Condition

TASKS = (JudgeRun.Task.RECALL, JudgeRun.Task.EXTRACTION, JudgeRun.Task.SUPPORT)
CONDITIONS = (Condition(), Condition(CUT, tokens=128))
"""The demo's documents are short."""


def load(*, dataset: str, now: datetime) -> None:
    """Judge what responses recall, split them into points, and look for what supports these."""
    judge = judging.default_judge(now=now)
    responses = list(Response.objects.filter(question__dataset=dataset))
    for task in TASKS:
        _run(judge, task, responses, now=now)


def respond(*, dataset: str, now: datetime) -> None:
    """Answer the questions by the offline baseline, from whole documents and from cut ones, and judge that too."""
    writer = summarizing.extractive(now=now)
    questions = list(Question.objects.filter(dataset=dataset).order_by("pk"))
    for shown in map(Documents, CONDITIONS):
        drafts = summarizing.drafted(judge=writer, subjects=questions, shown=shown, now=now)
        _run(writer, shown.task, drafts, now=now, scope=shown.scope(dataset))
    load(dataset=dataset, now=now)


def _run(
    judge: Judge, task: str, subjects: Sequence[Any], *, now: datetime, scope: dict[str, Any] | None = None
) -> None:
    run = judging.request_run(judge=judge, task=task, subjects=subjects, reason="demo", now=now, scope=scope)
    if run is not None:
        judging.run_pending(run=run, clock=lambda: now)
