"""Formats of rows in JSON lines: samples of lm-eval, assignments of nuggetizer and runs of METR.

lm-eval has a file of each run, a line for each text, as it writes them with `--log_samples`. Nuggets of
nuggetizer are reference insights or key points: all are vital, since ours are not weighed, and partial coverage is
worth half, so that its `all_score` is our coverage, or key point recall. METR publishes runs, a line each: people,
who also give up, beside systems.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from statistics import geometric_mean
from typing import Any

import orjson

from benchmarks.web.downloads import json_lines
from extensions.exchange.collected import SUBMITTED, TIMED_OUT, Answer, Collection, Out, Run

ASSIGNMENTS = {
    "full": "support",
    "yes": "support",
    "partial": "partial_support",
    "none": "not_support",
    "neutral": "not_support",
    "no": "not_support",
}
MEASURE = "coverage"
SUCCESS = 0.5
"""The share of insights from which a text counts as a success; who gives up has none."""
MS = 60_000


def samples(collection: Collection) -> Iterator[Out]:
    made_at = collection.made_at.strftime("%Y-%m-%dT%H-%M-%S.%f")
    numbers = {
        task: at for at, task in enumerate(sorted({a.task for run in collection.runs for a in run.answers}))
    }
    for run in collection.runs:
        rows = json_lines(_sample(numbers[answer.task], answer) for answer in run.answers)
        name = f"{run.name}/samples_{collection.name}_{made_at}.jsonl"
        yield name, f"Samples of {run.title}", rows


def _sample(number: int, answer: Answer) -> dict[str, Any]:
    doc: dict[str, Any] = {"id": answer.task, "query": answer.query, "haystack": answer.family}
    if answer.work is not None:
        doc |= answer.work.as_json()
    target = "\n".join(point.text for point in answer.points if point.text)
    return {
        "doc_id": number,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": answer.query, "arg_1": {}}},
        "resps": [[answer.text]],
        "filtered_resps": [answer.text],
        "filter": "none",
        "metrics": list(answer.scores),
        "doc_hash": _hash(orjson.dumps(doc)),
        "prompt_hash": _hash(answer.query.encode()),
        "target_hash": _hash(target.encode()),
        **answer.scores,
    }


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def assignments(collection: Collection) -> Iterator[Out]:
    for run in collection.runs:
        rows = json_lines(_assignments(run, answer) for answer in run.answers if answer.points)
        yield f"{run.name}.jsonl", f"Assignments of {run.title}", rows


def _assignments(run: Run, answer: Answer) -> dict[str, Any]:
    """A text; a nugget without its text has its key in place of it, and `label` is what was said."""
    return {
        "query": answer.query,
        "qid": answer.task,
        "answer_text": answer.text,
        "response_length": len(answer.text.split()),
        "run_id": run.title,
        "epoch": answer.epoch,
        "nuggets": [
            {
                "text": point.text or point.key,
                "importance": "vital",
                "assignment": ASSIGNMENTS[point.label],
                "label": point.label,
            }
            for point in answer.points
        ],
    }


def runs(collection: Collection) -> Iterator[Out]:
    minutes: dict[str, list[float]] = defaultdict(list)
    for run in collection.runs:
        for answer in run.answers:
            if answer.work and answer.work.outcome in {SUBMITTED, TIMED_OUT} and answer.work.active_ms:
                minutes[answer.task].append(answer.work.active_ms / MS)
    usual = {task: geometric_mean(of) for task, of in minutes.items()}
    rows = (_run(collection, run, answer, usual) for run in collection.runs for answer in run.answers)
    yield "runs.jsonl", "Runs", json_lines(rows)


def _run(collection: Collection, run: Run, answer: Answer, usual: dict[str, float]) -> dict[str, Any]:
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
