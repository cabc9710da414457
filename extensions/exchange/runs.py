"""Runs as METR publishes them, a line each: people, who also give up, beside systems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from statistics import geometric_mean
from typing import Any

from benchmarks.web.downloads import json_lines
from extensions.exchange.collected import SUBMITTED, TIMED_OUT, Answer, Collection, Out, Run

MEASURE = "coverage"
SUCCESS = 0.5
"""The share of insights from which a text counts as a success; who gives up has none."""
MS = 60_000


def files(collection: Collection) -> Iterator[Out]:
    minutes: dict[str, list[float]] = defaultdict(list)
    for run in collection.runs:
        for answer in run.answers:
            if answer.work and answer.work.outcome in {SUBMITTED, TIMED_OUT} and answer.work.active_ms:
                minutes[answer.task].append(answer.work.active_ms / MS)
    usual = {task: geometric_mean(of) for task, of in minutes.items()}
    rows = (_row(collection, run, answer, usual) for run in collection.runs for answer in run.answers)
    yield "runs.jsonl", "Runs", json_lines(rows)


def _row(collection: Collection, run: Run, answer: Answer, usual: dict[str, float]) -> dict[str, Any]:
    """A run; of people its active minutes, of a system those that people usually take, null where nobody tried.

    A person who gave up has the score of the last mark, and no success.
    """
    work = answer.work
    score = answer.scores.get(MEASURE)
    if work is not None and score is None and work.curve:
        score = work.curve[-1][1].get(MEASURE)
    has_ended = work is None or work.outcome in {SUBMITTED, TIMED_OUT}
    return {
        "run_id": work.session if work else collection.id_of("run", run.title, answer.task, str(answer.epoch)),
        "task_id": answer.task,
        "task_family": answer.family,
        "task_source": "summhay",
        "alias": "human" if run.is_people else run.title,
        "model": work.person if work else run.system,
        "score_cont": score,
        "score_binarized": None if score is None else int(has_ended and score >= SUCCESS),
        "score_threshold": SUCCESS,
        "human_minutes": work.active_ms / MS if work else usual.get(answer.task),
        "outcome": work.outcome if work else SUBMITTED,
        "started_at": _ms(work.started_at) if work else None,
        "completed_at": _ms(work.ended_at) if work and work.ended_at else None,
        **(
            {"active_ms": work.active_ms, "paused_ms": work.paused_ms, "is_excluded": work.is_excluded}
            if work
            else {}
        ),
    }


def _ms(moment: datetime) -> int:
    """Milliseconds since 1970, as in their files."""
    return round(moment.timestamp() * 1_000)
