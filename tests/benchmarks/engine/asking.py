"""A model judge of one server, its price, and what a run of it came to."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from benchmarks.engine import judging, overview, runs, sending, versions
from benchmarks.engine.tasks import TASKS
from benchmarks.models import DraftText, Judge, JudgeCall, JudgeRun, ModelPrice, Subtopic, Summary
from benchmarks.summarizers.config import SummarizerConfig
from tests.fake_openai import MODEL, FakeServer
from tests.makers import make_summary

SAID = "- In part 1, the ferry leaves at six in the morning [1].\n- Nothing else happened on the island [2]."
NONE = json.dumps({"coverage": "none", "bullet_ids": []})
PER_CALL = Decimal("0.000256")
"""60 tokens at 2 dollars a million, 40 from its cache at 1, and 10 of the answer at 9.6; see `price`."""


def make_judge(server: FakeServer, name: str = "sparrow", **config) -> Judge:
    values = {"base_url": server.address, "model": MODEL, **config}
    return versions.ensure_judge(name=name, kind="openai", config=values, now=timezone.now())


def summarizer(server: FakeServer, name: str = "heron", **values) -> Judge:
    config = SummarizerConfig.from_mapping({"base_url": server.address, "model": MODEL, **values})
    return versions.save_model(name=name, config=config, by=None, now=timezone.now())


def remarks(subtopic: Subtopic, n: int) -> list[Summary]:
    return [
        make_summary(subtopic=subtopic, text=f"- Remark {number}.", system=f"s{number}") for number in range(n)
    ]


def price(**fields) -> ModelPrice:
    values = {"base_url": "", "model": MODEL, "valid_from": date(2020, 1, 1), **fields}
    numbers = {"input_per_million": 2, "cached_per_million": 1, "output_per_million": Decimal("9.6")}
    return ModelPrice.objects.create(**{**numbers, **values})


def request(judge: Judge, task: str = "coverage", **options) -> JudgeRun:
    """A run on all that there is."""
    return judging.request_run(
        judge=judge,
        task=task,
        subjects=TASKS[task].subject_model.objects.all(),
        reason="test",
        now=timezone.now(),
        options=judging.ModelOptions(**options),
    )


def work(run: JudgeRun) -> runs.RunProgress:
    return judging.run_pending(run=run, clock=timezone.now)


def estimated(judge: Judge, task: str, subjects: Iterable[Any]) -> overview.Estimate:
    return overview.estimate(judge=judge, task=task, subjects=subjects, repeats=1, now=timezone.now())


@contextmanager
def killed(*, after: int) -> Iterator[None]:
    """Work that is killed once so many texts of drafts are stored."""
    store = sending.Sending._store

    def stored(self, done) -> None:
        store(self, done)
        if DraftText.objects.count() == after:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending.Sending, "_store", stored)
        with pytest.raises(KeyboardInterrupt):
            yield
    assert DraftText.objects.count() == after


def coverages(judge: Judge) -> Counter[str]:
    return Counter(judge.verdicts.values_list("coverage", flat=True))


def states() -> dict[str, int]:
    return dict(Counter(JudgeCall.objects.values_list("state", flat=True)))
