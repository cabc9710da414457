"""What was asked before is asked alike: requests have the keys under which replies are kept, rows their values.

The hashes were taken from 0.2.0. One that changes makes everybody pay anew for what was answered before.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.forms.models import model_to_dict

from benchmarks.engine import judging, overview, versions
from benchmarks.engine.ledger import Request
from benchmarks.engine.task import Origin
from benchmarks.engine.tasks import TASKS
from benchmarks.judges.aspects import ASPECTS
from benchmarks.judges.questions import ModelConfig, Question
from benchmarks.models import (
    AutodsScore,
    Extraction,
    Judge,
    JudgeCall,
    JudgeRun,
    KeyPoint,
    KeyPointVerdict,
    PointVerdict,
    Response,
    ResponsePoint,
    Summary,
    SummaryRating,
    Verdict,
)
from tests.benchmarks.engine.asking import price
from tests.makers import NOW, make_haystack, make_summary
from tests.makers_recall import make_response

pytestmark = pytest.mark.django_db
Task = JudgeRun.Task
SERVER = {"base_url": "https://api.openai.com/v1", "model": "sparrow-1", "seed": 5}
SAID = "Alpha 1 holds. The log of alpha says little. Nothing more."
TEXTS = ("summary", "insight", "response", "key_point", "point")
NOT_KEPT = {"id", "judge", "run", "call", *TEXTS}
"""Keys of rows, which stand for texts."""
MODELS: dict[str, type[Any]] = {
    Task.COVERAGE: Verdict,
    Task.RATINGS: SummaryRating,
    Task.RECALL: PointVerdict,
    Task.SUPPORT: PointVerdict,
    Task.EXTRACTION: Extraction,
    Task.VERIFICATION: KeyPointVerdict,
    Task.AUTODS: AutodsScore,
}


def texts_of(task: str) -> Sequence[Any]:
    """Two summaries of one haystack, two responses to one question, or the key points of it."""
    if TASKS[task].subject == "summary":
        haystack = make_haystack()
        for number in (1, 2):
            make_summary(subtopic=haystack.subtopics.get(number=number))
        return list(Summary.objects.order_by("pk"))
    make_response("alpha", system="heron", n_points=2, text=SAID)
    make_response("alpha", system="tern", n_points=2, text="Alpha 2. Little is said.")
    if TASKS[task].subject == "key_point":
        return list(KeyPoint.objects.select_related("question").order_by("pk"))
    return list(Response.objects.select_related("question").order_by("pk"))


def make_run(judge: Judge, task: str, texts: Sequence[Any]) -> JudgeRun:
    options = judging.ModelOptions(repeats=2)
    return judging.request_run(judge=judge, task=task, subjects=texts, reason="test", now=NOW, options=options)


def reply_to(question: Question) -> dict[str, Any]:
    """The first item is there, by the first passage; all others are not."""
    if question.task == "rating":
        names = question.keys if len(question.keys) > 1 else ("rating",)
        return {"rating": 4} if names == ("rating",) else dict.fromkeys(ASPECTS, 2)
    if question.task == "extraction":
        return {"points": ["Alpha 1 holds.", "The log says little."]}
    if question.task in {"keyness", "autods"}:
        return {"answer": "agree"}
    name, numbers = ("coverage", "bullet_ids") if question.task == "coverage" else ("answer", "evidence")
    yes, no = ("full", "none") if question.task == "coverage" else ("yes", "no")
    first = question.numbered[0][0]
    if question.protocol == "one":
        return {name: yes, numbers: [first]}
    item = "insight" if question.task == "coverage" else "point"
    rows = [{item: n, name: no if n > 1 else yes, numbers: [] if n > 1 else [first]} for n in (1, 2)]
    return {"verdicts": rows}


def completion(question: Question) -> Mapping[str, Any]:
    listed = [{"token": "yes", "logprob": -0.25}, {"token": "no", "logprob": -2.0}]
    return (
        {"choices": [{"logprobs": {"content": [{"top_logprobs": listed}]}}]} if question.task == "autods" else {}
    )


def short(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]


def stored(task: str) -> list[Any]:
    kept = []
    for row in MODELS[task].objects.order_by("pk"):
        about = [one.text for name in TEXTS if (one := getattr(row, name, None)) is not None]
        values = model_to_dict(row, exclude=NOT_KEPT).items()
        kept.append(
            {name: round(value, 3) if isinstance(value, float) else value for name, value in values}
            | {"about": about}
        )
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in kept)


def wanted(task: str, protocol: str) -> tuple[Judge, JudgeRun, list[Request], Sequence[Any]]:
    config = {**SERVER, "protocol": protocol}
    judge = versions.ensure_judge(name="sparrow", kind="openai", config=config, now=NOW)
    texts = texts_of(task)
    if task == Task.SUPPORT:
        for text in texts:
            row = Extraction.objects.create(judge=judge, response=text, created_at=NOW)
            for number in (1, 2):
                ResponsePoint.objects.create(extraction=row, number=number, text=f"Alpha {number}.")
    run = make_run(judge, task, texts)
    found = overview.requests_on(
        judge=judge, config=ModelConfig.from_mapping(config), task=task, subjects=texts, repeats=run.repeats
    )
    return judge, run, list(found), texts


@pytest.mark.parametrize(
    ("task", "protocol", "keys", "rows"),
    [
        (Task.COVERAGE, "one", "c8dba77dbca3b37f", "857dbcf4b9167b1f"),
        (Task.COVERAGE, "all", "168d6dc02ae5dc8f", "a5f2c095c3729a6e"),
        (Task.RATINGS, "one", "aed2b37ed0c3816e", "771bc5f00e5c3528"),
        (Task.RATINGS, "all", "354ab15234d71bbd", "fcf096f80ed97949"),
        (Task.RECALL, "one", "2496fca1bf8361d3", "b142468a58c551a4"),
        (Task.RECALL, "all", "8059794fa778e948", "6f470a7ce5ece232"),
        (Task.SUPPORT, "one", "b974b34ed0e37f2c", "9b41258195e5e86c"),
        (Task.SUPPORT, "all", "3d75a0f066699acd", "5011fbf716c488ba"),
        (Task.EXTRACTION, "one", "db13a8ff6fcd56d9", "ae35131c2b60056c"),
        (Task.VERIFICATION, "one", "df77fb85061c8bf2", "963e38d6244a6ee5"),
        (Task.AUTODS, "one", "8f3eb97399d88052", "3fca61e184c30db8"),
    ],
)
def test_a_reply_that_was_paid_is_found_again_and_gives_the_same_rows(
    task: str, protocol: str, keys: str, rows: str
) -> None:
    judge, run, requests, texts = wanted(task, protocol)
    assert short([request.key for request in requests]) == keys
    for request in requests:
        reply = json.dumps(reply_to(request.question))
        TASKS[task].store(
            request.question, request.question.read(reply, completion(request.question)), Origin(run, NOW)
        )
    assert short(stored(task)) == rows
    run.items.all().delete()
    assert judging.missing(judge=judge, task=task, subjects=texts, repeats=run.repeats) == []


def test_a_verdict_under_a_key_of_0_2_0_costs_nothing() -> None:
    judge, run, _requests, texts = wanted(Task.RECALL, "one")
    run.items.all().delete()
    price()
    key = "59e776c74338c170786a4ca6e2b6ac9876b4fb54519262b093612c94d2adf413"
    JudgeCall.objects.create(
        cache_key=key, run=run, base_url=SERVER["base_url"], model="sparrow-1", prompt_sha256="0",
        state="answered", claimed_at=NOW, answered_at=NOW,
    )  # fmt: skip
    found = overview.estimate(judge=judge, task=Task.RECALL, subjects=texts[:1], repeats=1, now=NOW)
    assert (found.n_calls, found.n_cached) == (2, 1)


@pytest.mark.parametrize(
    ("name", "task", "rows"),
    [
        ("lexical", Task.COVERAGE, "333e70b87b248086"),
        ("lexical-2", Task.COVERAGE, "9b0d653e7def31ae"),
        *(
            (name, task, rows)
            for name in ("lexical", "lexical-2")
            for task, rows in (
                (Task.RECALL, "a7c93c3279dada9b"),
                (Task.EXTRACTION, "c159e3404678face"),
                (Task.SUPPORT, "2121c18e62e767eb"),
            )
        ),
    ],
)
def test_the_offline_judges_store_what_they_stored(name: str, task: str, rows: str) -> None:
    judge, texts = versions.offline_judge(name=name, now=NOW), texts_of(task)
    for wanted_task in (Task.EXTRACTION, task) if task == Task.SUPPORT else (task,):
        judging.run_pending(run=make_run(judge, wanted_task, texts), clock=lambda: NOW)
    if task != Task.EXTRACTION:
        assert None not in MODELS[task].objects.values_list("score", flat=True)
    assert short(stored(task)) == rows
