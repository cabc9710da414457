"""Samples as lm-eval writes them with `--log_samples`: a file of each run, a line for each text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import orjson

from benchmarks.web.downloads import json_lines
from extensions.exchange.collected import Answer, Collection, Out


def files(collection: Collection) -> Iterator[Out]:
    made_at = collection.made_at.strftime("%Y-%m-%dT%H-%M-%S.%f")
    numbers = {
        task: at for at, task in enumerate(sorted({a.task for run in collection.runs for a in run.answers}))
    }
    for run in collection.runs:
        rows = json_lines(_row(numbers[answer.task], answer) for answer in run.answers)
        name = f"{run.name}/samples_{collection.name}_{made_at}.jsonl"
        yield name, f"Samples of {run.title}", rows


def _row(number: int, answer: Answer) -> dict[str, Any]:
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
