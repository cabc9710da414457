"""Runs of a model judge against a real HTTP server that behaves, stopped and not: counts and costs stay right."""

import json
import threading
from collections import Counter
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from benchmarks.engine import costs, judging, ledger, runs
from benchmarks.engine.tasks import TASKS
from benchmarks.models import (
    Judge,
    JudgeRun,
    JudgeRunItem,
    Subtopic,
    Summary,
)
from tests.benchmarks.engine.asking import (
    PER_CALL,
    SAID,
    coverages,
    make_judge,
    price,
    remarks,
    request,
    work,
)
from tests.fake_openai import Answer, FakeServer, judged
from tests.makers import make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge(server: FakeServer, subtopic: Subtopic) -> Judge:
    """One that has a summary with three insights to judge."""
    make_summary(subtopic=subtopic, text=SAID)
    return make_judge(server)


# A server that behaves


def test_every_insight_is_asked_once_and_the_answer_is_kept_with_all_that_is_known_of_it(
    server: FakeServer, subtopic: Subtopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-test")
    make_summary(subtopic=subtopic, text=SAID)
    judge = make_judge(server, seed=7)
    run = request(judge)
    assert work(run).n_done == 1
    assert run.state == JudgeRun.State.DONE
    assert (server.n_asked, coverages(judge)) == (3, {"full": 1, "none": 2})
    verdict = judge.verdicts.get(insight__number=1)
    assert (verdict.lines, verdict.is_linked, verdict.is_valid) == ([1], True, True)
    call = verdict.call
    assert (call.prompt_tokens, call.cached_tokens, call.completion_tokens, call.reasoning_tokens) == (
        100,
        40,
        10,
        4,
    )
    assert (call.model_returned, call.fingerprint, call.response_format, call.seed) == (
        "sparrow-1-0301", "fp_nest", "json_schema", 7,
    )  # fmt: skip
    assert call.request_id.startswith("req-")
    assert call.latency_ms is not None
    assert "full" in call.reply["choices"][0]["message"]["content"]
    assert server.keys == ["Bearer sk-secret-of-the-test"] * 3
    assert "sk-secret" not in json.dumps([judge.config, call.reply, call.error])


def test_bullets_come_before_the_insight_and_the_shape_is_strict(server: FakeServer, judge: Judge) -> None:
    work(request(judge))
    asked = [body["messages"][1]["content"] for body in server.bodies]
    assert len({text.partition("Insight:")[0] for text in asked}) == 1
    assert asked[0].startswith("Bullets:\n[1] In part 1, the ferry leaves at six in the morning.\n[2]")
    shape = server.bodies[0]["response_format"]["json_schema"]
    assert (shape["strict"], shape["schema"]["additionalProperties"]) == (True, False)


def test_a_second_run_costs_nothing_and_neither_does_a_judge_that_asks_the_same(
    server: FakeServer, subtopic: Subtopic, judge: Judge
) -> None:
    make_summary(subtopic=subtopic, text=SAID, system="copycat")
    work(request(judge))
    assert (server.n_asked, judge.verdicts.count()) == (3, 6)
    assert judging.missing(judge=judge, task="coverage", subjects=Summary.objects.all()) == []
    twin = make_judge(server, "twin")
    assert work(request(twin)).n_done == 2
    assert (server.n_asked, coverages(twin)) == (3, coverages(judge))


@pytest.mark.parametrize(
    ("config", "seeds"), [({"seed": 1}, {1: 3, 2: 3, 3: 3}), ({}, {None: 9})], ids=["seed", "none"]
)
def test_repeats_are_asked_for_themselves(
    server: FakeServer, subtopic: Subtopic, config: dict[str, int], seeds: dict[int | None, int]
) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    judge = make_judge(server, **config)
    work(request(judge))
    work(request(judge, repeats=3))
    assert Counter(judge.verdicts.values_list("repeat", flat=True)) == {0: 3, 1: 3, 2: 3}
    assert Counter(body.get("seed") for body in server.bodies) == seeds


def test_all_insights_in_one_call_are_each_usable_or_not(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    rows = [
        {"insight": 1, "coverage": "full", "bullet_ids": [1]},
        {"insight": 2, "coverage": "full", "bullet_ids": [9]},
        {"insight": 3, "coverage": "none", "bullet_ids": []},
    ]
    server.behaviour = lambda n, body: Answer(json.dumps({"verdicts": rows}))
    judge = make_judge(server, protocol="all")
    work(request(judge))
    assert server.n_asked == 2, "one call, one repair"
    assert coverages(judge) == {"full": 1, "": 1, "none": 1}
    assert judge.verdicts.get(is_valid=False).raw == {"problem": "There is no bullet 9."}


def test_many_requests_run_side_by_side_and_never_more_than_asked_for(
    server: FakeServer, subtopic: Subtopic
) -> None:
    remarks(subtopic, 8)
    server.delay_s = 0.05
    work(request(make_judge(server), concurrency=6))
    assert (server.n_asked, server.most_at_a_time) == (24, 6)


def test_the_next_items_are_asked_before_the_last_answer_on_those_at_hand(
    server: FakeServer, subtopic: Subtopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "BATCH_OF_MODELS", 2)
    for number in range(5):
        make_summary(subtopic=subtopic, text=f"{SAID} {number}", system=f"s{number}")
    all_are_here = threading.Event()

    def hold(number: int, body: dict[str, Any]) -> None:
        if number == 15:  # of five summaries with three insights, claimed two by two
            all_are_here.set()
        assert all_are_here.wait(30)

    server.behaviour = hold
    run = request(make_judge(server), concurrency=16)
    said: list[runs.RunProgress] = []
    assert judging.run_pending(run=run, clock=timezone.now, progress=said.append).n_done == 5
    assert (server.n_asked, server.most_at_a_time) == (15, 15)
    assert said[-1].n_done == 5


def test_an_item_that_breaks_the_claim_it_came_with_is_found_alone(
    server: FakeServer, subtopic: Subtopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "BATCH_OF_MODELS", 2)
    made = [make_summary(subtopic=subtopic, text=f"{SAID} {number}", system=f"s{number}") for number in range(5)]
    ask = TASKS["coverage"].questions

    def questions(*, items: list[JudgeRunItem], **values):
        if any(item.summary_id == made[3].pk for item in items):
            raise RuntimeError("this summary cannot be asked about")
        return ask(items=items, **values)

    monkeypatch.setattr(TASKS["coverage"], "questions", questions)
    run = request(make_judge(server), concurrency=16)
    with pytest.raises(RuntimeError, match="this summary"):
        work(run)
    assert Counter(run.items.values_list("state", "attempts")) == {("done", 0): 4, ("pending", 1): 1}
    assert not run.items.exclude(claimed_by="").filter(state="pending").exists()
    assert server.n_asked == 12


def test_all_workers_together_keep_the_limit_of_a_server(server: FakeServer, subtopic: Subtopic, settings) -> None:
    settings.OPENAI_MAX_IN_FLIGHT = 3
    remarks(subtopic, 4)
    server.delay_s = 0.2
    work(request(make_judge(server), concurrency=20))
    assert (server.n_asked, server.most_at_a_time) == (12, 3)


# Money


def test_the_cost_is_what_the_server_counted_times_the_price_of_the_day(server: FakeServer, judge: Judge) -> None:
    run = request(judge)
    work(run)
    assert costs.cost_of(run.calls.all()).dollars is None
    assert "no price for sparrow-1" in costs.cost_of(run.calls.all()).reason
    price()
    price(valid_from=date(2999, 1, 1), input_per_million=99)
    price(model="another", input_per_million=99)
    cost = costs.cost_of(run.calls.all())
    assert (cost.dollars, cost.n_calls, cost.prompt_tokens, cost.cached_tokens) == (3 * PER_CALL, 3, 300, 120)
    price(base_url=server.address, input_per_million=0, cached_per_million=0, output_per_million=0)
    assert costs.cost_of(run.calls.all()).dollars == 0


def test_a_server_that_counts_no_tokens_has_no_known_cost(server: FakeServer, judge: Judge) -> None:
    price()
    server.behaviour = lambda n, body: Answer(judged(body), usage=None)
    run = request(judge)
    work(run)
    cost = costs.cost_of(run.calls.all())
    assert (cost.dollars, cost.reason) == (None, "3 answers came without a token count.")


def test_a_run_pauses_before_its_budget_is_passed_and_goes_on_with_more(
    server: FakeServer, subtopic: Subtopic
) -> None:
    price()
    remarks(subtopic, 6)
    judge = make_judge(server)
    run = request(judge, budget=Decimal("0.0075"), concurrency=4)
    work(run)
    spent = costs.cost_of(run.calls.all())
    assert run.state == JudgeRun.State.PAUSED
    assert "budget of $0.0075" in JudgeRun.objects.get().message
    assert 0 < spent.dollars <= Decimal("0.0075")
    assert 0 < judge.verdicts.count() == server.n_asked < 18
    JudgeRun.objects.update(budget=Decimal(1))
    runs.resume_run(run=run)
    run.refresh_from_db()
    work(run)
    assert (judge.verdicts.count(), server.n_asked, run.state) == (18, 18, JudgeRun.State.DONE)


def test_a_budget_without_a_price_asks_nothing(server: FakeServer, judge: Judge) -> None:
    run = request(judge, budget=Decimal(1))
    work(run)
    assert (server.n_asked, run.state) == (0, JudgeRun.State.PAUSED)
    assert "no price for sparrow-1" in JudgeRun.objects.get().message


# Stopping and going on


def test_a_run_that_is_cancelled_in_the_middle_keeps_what_it_has(server: FakeServer, subtopic: Subtopic) -> None:
    remarks(subtopic, 6)
    judge = make_judge(server)
    run = request(judge, concurrency=2)
    real = ledger.close

    def cancel_after_some(**kwargs) -> None:
        real(**kwargs)
        if server.n_asked >= 6:
            runs.cancel_run(run=run, now=timezone.now())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger, "close", cancel_after_some)
        work(run)
    assert run.state == JudgeRun.State.CANCELLED
    assert 6 <= server.n_asked <= 8
    assert judge.verdicts.count() == server.n_asked, "what was in flight is kept too"
    assert run.items.filter(state="pending").exclude(claimed_by="").count() == 0
    work(request(judge))
    assert (server.n_asked, judge.verdicts.count()) == (18, 18)


def test_an_interrupted_worker_leaves_nothing_held(server: FakeServer, subtopic: Subtopic) -> None:
    remarks(subtopic, 3)
    judge = make_judge(server)
    run = request(judge, concurrency=2)
    with pytest.MonkeyPatch.context() as patch:

        def interrupt(**kwargs) -> None:
            raise KeyboardInterrupt

        patch.setattr(ledger, "close", interrupt)
        with pytest.raises(KeyboardInterrupt):
            work(run)
    assert work(run).n_done == 3
    assert judge.verdicts.count() == 9
    assert server.n_asked <= 9 + 2
