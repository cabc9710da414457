"""Assignments of nuggetizer, a line for each text; nuggets are reference insights or key points.

All are vital, since ours are not weighed, and partial coverage is worth half: its `all_score` is our coverage, or
key point recall.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.web.downloads import json_lines
from extensions.exchange.collected import Answer, Collection, Out, Run

ASSIGNMENTS = {
    "full": "support",
    "yes": "support",
    "partial": "partial_support",
    "none": "not_support",
    "neutral": "not_support",
    "no": "not_support",
}


def files(collection: Collection) -> Iterator[Out]:
    for run in collection.runs:
        rows = json_lines(_row(run, answer) for answer in run.answers if answer.points)
        yield f"{run.name}.jsonl", f"Assignments of {run.title}", rows


def _row(run: Run, answer: Answer) -> dict[str, Any]:
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
