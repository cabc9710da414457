"""Runs with a budget, a server that takes money, and summaries of uneven size."""

import threading
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

from django.utils import timezone

from benchmarks.engine import costs, judging, versions
from benchmarks.models import Judge, JudgeRun, ModelPrice, Subtopic
from tests.benchmarks.engine.asking import request as request
from tests.fake_openai import MODEL, Answer, FakeServer, judged
from tests.makers import make_summary

INPUT, OUTPUT = Decimal(20), Decimal(80)
"""US dollars per million tokens."""
CENT = Decimal("0.01")
MILLION = 1_000_000


def price(**fields) -> ModelPrice:
    values = {"model": MODEL, "valid_from": date(2020, 1, 1), "input_per_million": INPUT}
    return ModelPrice.objects.create(**{**values, "output_per_million": OUTPUT, **fields})


def make_judge(server: FakeServer, name: str = "sparrow", **config) -> Judge:
    values = {"base_url": server.address, "model": MODEL, "prompt": "Say.", **config}
    return versions.ensure_judge(name=name, kind="openai", config=values, now=timezone.now())


def work(run: JudgeRun) -> JudgeRun:
    judging.run_pending(run=run, clock=timezone.now)
    return JudgeRun.objects.get(pk=run.pk)


def uneven(subtopic: Subtopic, n: int = 8) -> None:
    """Summaries of ten words and of some thousand, in turns, the small first."""
    for at in range(n):
        words = 3_000 if at % 2 else 5
        make_summary(subtopic=subtopic, text="- " + "word " * words + f"{at}.", system=f"s{at}")


def all_used(body: dict[str, Any]) -> dict[str, Any]:
    """The usage of a request that takes its whole worst case."""
    sent, back = costs.worst_tokens(body)
    return {"prompt_tokens": sent, "completion_tokens": back, "total_tokens": sent + back}


def dollars(usage: dict[str, Any]) -> Decimal:
    return (usage["prompt_tokens"] * INPUT + usage["completion_tokens"] * OUTPUT) / MILLION


class Till:
    """Stands behind the server: what all requests may have cost so far, at any moment."""

    def __init__(self, *, share: float = 1.0, lose: Callable[[int], bool] = lambda n: False) -> None:
        self.taken, self._lock, self.share, self.lose = Decimal(0), threading.Lock(), share, lose

    def __call__(self, number: int, body: dict[str, Any]) -> Answer:
        usage = all_used(body)
        with self._lock:
            self.taken += dollars(usage)
        paid = {name: int(count * self.share) for name, count in usage.items()}
        if self.lose(number):
            return Answer(judged(body), usage=paid, cut=True)
        with self._lock:
            self.taken -= dollars(usage) - dollars(paid)
        return Answer(judged(body), usage=paid)
