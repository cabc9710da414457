"""A model judge of one server, its price, and what a run of it came to."""

import json
from collections import Counter
from datetime import date
from decimal import Decimal

from django.utils import timezone

from benchmarks.engine import judging, runs, versions
from benchmarks.models import (
    Judge,
    JudgeCall,
    JudgeRun,
    ModelPrice,
    Summary,
)
from tests.fake_openai import MODEL, FakeServer

SAID = "- In part 1, the ferry leaves at six in the morning [1].\n- Nothing else happened on the island [2]."
NONE = json.dumps({"coverage": "none", "bullet_ids": []})
PER_CALL = Decimal("0.000256")
"""60 tokens at 2 dollars a million, 40 from its cache at 1, and 10 of the answer at 9.6; see `price`."""


def make_judge(server: FakeServer, **config) -> Judge:
    values = {"base_url": server.address, "model": MODEL, **config}
    return versions.ensure_judge(name="sparrow", kind="openai", config=values, now=timezone.now())


def price(**fields) -> ModelPrice:
    values = {"base_url": "", "model": MODEL, "valid_from": date(2020, 1, 1), **fields}
    numbers = {"input_per_million": 2, "cached_per_million": 1, "output_per_million": Decimal("9.6")}
    return ModelPrice.objects.create(**{**numbers, **values})


def request(judge: Judge, **options) -> JudgeRun:
    return judging.request_run(
        judge=judge,
        subjects=Summary.objects.all(),
        reason="test",
        now=timezone.now(),
        options=judging.ModelOptions(**options),
    )


def work(run: JudgeRun) -> runs.RunProgress:
    return judging.run_pending(run=run, clock=timezone.now)


def coverages(judge: Judge) -> Counter[str]:
    return Counter(judge.verdicts.values_list("coverage", flat=True))


def states() -> dict[str, int]:
    return dict(Counter(JudgeCall.objects.values_list("state", flat=True)))
