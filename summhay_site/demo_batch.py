"""The model judge of the demo's ratings: asked and answered by a batch file, so that nothing leaves the machine.

No model was asked: the replies are invented like the people's ratings, from what the offline judge found.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from django.conf import settings

from benchmarks.engine import batch_replies, batches, judging
from benchmarks.judges.questions import ModelConfig
from benchmarks.models import JudgeRun, Summary
from benchmarks.scoring.likert import ASPECTS, HIGHEST, LOWEST

NAME, MODEL = "example-rater", "example-model"
RATE = 0.3
"""How often a rating is a step off."""


def rate(summaries: Sequence[Summary], expected: Mapping[int, Sequence[int]], *, now: datetime) -> JudgeRun:
    """Write the requests for ratings of the summaries to a file, answer them, and read the replies."""
    values = {"base_url": settings.OPENAI_BASE_URLS[0], "model": MODEL, "protocol": "all"}
    judge = judging.save_judge(
        name=NAME,
        config=ModelConfig.from_mapping(values),
        note="Invented for the demo; its ratings came by a batch file.",
        by=None,
        now=now,
    )
    run = judging.request_run(judge=judge, task=JudgeRun.Task.RATINGS, subjects=summaries, reason="demo", now=now)
    if run is None:
        raise RuntimeError("the demo is loaded once")
    by_text = {f"Summary:\n{one.text}\n": expected[one.pk] for one in summaries}
    with TemporaryDirectory(prefix="batch-") as name:
        folder = Path(name)
        batches.write(run=run, folder=folder, clock=lambda: now)
        replies = [
            _reply(orjson.loads(line), by_text)
            for path in sorted(folder.glob(f"{batches.REQUESTS}*"))
            for line in path.read_bytes().splitlines()
        ]
        (folder / "replies.jsonl").write_bytes(b"\n".join(replies))
        batch_replies.read(folder=folder, clock=lambda: now)
    return run


def _reply(request: Mapping[str, Any], by_text: Mapping[str, Sequence[int]]) -> bytes:
    """The line of a file of replies: a chat completion with a rating for each aspect."""
    asked = request["body"]["messages"][-1]["content"]
    dice = random.Random(request["custom_id"])  # noqa: S311 - the same demo every time
    values = next(ratings for text, ratings in by_text.items() if text in asked)
    steps = [dice.choice([-1, 1]) if dice.random() < RATE else 0 for _aspect in ASPECTS]
    given = {
        aspect: min(HIGHEST, max(LOWEST, value + step))
        for aspect, value, step in zip(ASPECTS, values, steps, strict=True)
    }
    message = {"role": "assistant", "content": orjson.dumps(given).decode()}
    body = {
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{"message": message, "finish_reason": "stop"}],
    }
    response = {"status_code": 200, "body": body}
    return orjson.dumps({"custom_id": request["custom_id"], "response": response, "error": None})
