"""Runs of a model judge against a real HTTP server, well-behaved and not: counts and costs stay right."""

from __future__ import annotations

import json
import threading
from collections import Counter
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from benchmarks.engine import costs, judge_versions, judging, ledger, runs, sending
from benchmarks.engine.tasks import TASKS
from benchmarks.models import (
    Endpoint,
    Judge,
    JudgeCall,
    JudgeRun,
    JudgeRunItem,
    ModelPrice,
    Subtopic,
    Summary,
    Verdict,
)
from tests.fake_openai import MODEL, Answer, FakeServer, failing, judged, serving
from tests.makers import make_haystack, make_summary

pytestmark = pytest.mark.django_db

SAID = "- In part 1, the ferry leaves at six in the morning [1].\n- Nothing else happened on the island [2]."
NONE = json.dumps({"coverage": "none", "bullet_ids": []})
PER_CALL = Decimal("0.000256")
"""60 tokens at 2 dollars a million, 40 from its cache at 1, and 10 of the answer at 9.6; see `price`."""


@pytest.fixture
def subtopic(db: None) -> Subtopic:
    return Subtopic.objects.get(haystack=make_haystack(), number=1)


def make_judge(server: FakeServer, **config: Any) -> Judge:
    values = {"base_url": server.address, "model": MODEL, **config}
    return judge_versions.ensure_judge(name="sparrow", kind="openai", config=values, now=timezone.now())


def price(**fields: Any) -> ModelPrice:
    values = {"base_url": "", "model": MODEL, "valid_from": date(2020, 1, 1), **fields}
    numbers = {"input_per_million": 2, "cached_per_million": 1, "output_per_million": Decimal("9.6")}
    return ModelPrice.objects.create(**{**numbers, **values})


def request(judge: Judge, **options: Any) -> JudgeRun:
    run = judging.request_run(
        judge=judge,
        subjects=Summary.objects.all(),
        reason="test",
        now=timezone.now(),
        options=judging.ModelOptions(**options),
    )
    assert run is not None
    return run


def work(run: JudgeRun) -> runs.RunProgress:
    return judging.run_pending(run=run, clock=timezone.now)


def coverages(judge: Judge) -> Counter[str]:
    return Counter(judge.verdicts.values_list("coverage", flat=True))


def states() -> dict[str, int]:
    return dict(Counter(JudgeCall.objects.values_list("state", flat=True)))


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
    assert call is not None
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


def test_bullets_come_before_the_insight_and_the_shape_is_strict(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    work(request(make_judge(server)))
    asked = [body["messages"][1]["content"] for body in server.bodies]
    assert len({text.partition("Insight:")[0] for text in asked}) == 1
    assert asked[0].startswith("Bullets:\n[1] In part 1, the ferry leaves at six in the morning.\n[2]")
    shape = server.bodies[0]["response_format"]["json_schema"]
    assert (shape["strict"], shape["schema"]["additionalProperties"]) == (True, False)


def test_a_second_run_costs_nothing_and_neither_does_a_judge_that_asks_the_same(
    server: FakeServer, subtopic: Subtopic
) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    make_summary(subtopic=subtopic, text=SAID, system="copycat")
    judge = make_judge(server)
    work(request(judge))
    assert (server.n_asked, judge.verdicts.count()) == (3, 6)
    assert judging.missing(judge=judge, task="coverage", subjects=Summary.objects.all()) == []
    twin = judge_versions.ensure_judge(name="twin", kind="openai", config=judge.config, now=timezone.now())
    assert work(request(twin)).n_done == 2
    assert (server.n_asked, coverages(twin)) == (3, coverages(judge))


def test_another_prompt_is_another_version_and_asks_anew(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    work(request(make_judge(server)))
    second = make_judge(server, prompt="Say none.")
    work(request(second))
    assert (second.version, server.n_asked) == (2, 6)
    assert server.bodies[-1]["messages"][0]["content"] == "Say none."


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
    for n in range(8):
        make_summary(subtopic=subtopic, text=f"- Remark {n}.", system=f"s{n}")
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
    judge = make_judge(server)
    run = request(judge, concurrency=16)
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

    def questions(*, items: list[JudgeRunItem], **values: Any) -> Any:
        if any(item.summary_id == made[3].pk for item in items):
            raise RuntimeError("this summary cannot be asked about")
        return ask(items=items, **values)

    monkeypatch.setattr(TASKS["coverage"], "questions", questions)
    judge = make_judge(server)
    run = request(judge, concurrency=16)
    with pytest.raises(RuntimeError, match="this summary"):
        work(run)
    counts = Counter(run.items.values_list("state", "attempts"))
    assert counts == {("done", 0): 4, ("pending", 1): 1}
    assert not run.items.exclude(claimed_by="").filter(state="pending").exists()
    assert server.n_asked == 12


def test_all_workers_together_keep_the_limit_of_a_server(
    server: FakeServer, subtopic: Subtopic, settings: Any
) -> None:
    settings.OPENAI_MAX_IN_FLIGHT = 3
    for n in range(4):
        make_summary(subtopic=subtopic, text=f"- Remark {n}.", system=f"s{n}")
    server.delay_s = 0.2
    work(request(make_judge(server), concurrency=20))
    assert (server.n_asked, server.most_at_a_time) == (12, 3)


# Money


def test_the_cost_is_what_the_server_counted_times_the_price_of_the_day(
    server: FakeServer, subtopic: Subtopic
) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    run = request(make_judge(server))
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


def test_a_server_that_counts_no_tokens_has_no_known_cost(server: FakeServer, subtopic: Subtopic) -> None:
    price()
    make_summary(subtopic=subtopic, text=SAID)
    server.behaviour = lambda n, body: Answer(judged(body), usage=None)
    run = request(make_judge(server))
    work(run)
    cost = costs.cost_of(run.calls.all())
    assert (cost.dollars, cost.reason) == (None, "3 answers came without a token count.")


def test_a_run_pauses_before_its_budget_is_passed_and_goes_on_with_more(
    server: FakeServer, subtopic: Subtopic
) -> None:
    price()
    for n in range(6):
        make_summary(subtopic=subtopic, text=f"- Remark {n}.", system=f"s{n}")
    judge = make_judge(server)
    run = request(judge, budget=Decimal("0.0075"), concurrency=4)
    work(run)
    spent = costs.cost_of(run.calls.all())
    assert run.state == JudgeRun.State.PAUSED
    assert "budget of $0.0075" in JudgeRun.objects.get().message
    assert spent.dollars is not None
    assert 0 < spent.dollars <= Decimal("0.0075")
    assert 0 < judge.verdicts.count() == server.n_asked < 18
    JudgeRun.objects.update(budget=Decimal(1))
    runs.resume_run(run=run)
    run.refresh_from_db()
    work(run)
    assert (judge.verdicts.count(), server.n_asked, run.state) == (18, 18, JudgeRun.State.DONE)


def test_a_budget_without_a_price_asks_nothing(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    run = request(make_judge(server), budget=Decimal(1))
    work(run)
    assert (server.n_asked, run.state) == (0, JudgeRun.State.PAUSED)
    assert "no price for sparrow-1" in JudgeRun.objects.get().message


# A server that does not behave


def test_when_it_says_429_everybody_waits_as_told_and_fewer_ask_at_a_time(
    server: FakeServer, subtopic: Subtopic
) -> None:
    for n in range(4):
        make_summary(subtopic=subtopic, text=f"- Remark {n}.", system=f"s{n}")
    server.delay_s = 0.02
    server.behaviour = lambda n, body: failing(429, "slow down", retry_after="0.3") if n <= 8 else None
    judge = make_judge(server)
    began = timezone.now()
    run = request(judge, concurrency=8)
    done = work(run)
    assert (done.n_done, judge.verdicts.count(), states()) == (4, 12, {"answered": 12})
    assert (timezone.now() - began).total_seconds() >= 0.3
    assert server.n_asked == 20
    assert sum(JudgeCall.objects.values_list("n_sent", flat=True)) == 20
    assert Endpoint.objects.get().last_halved_at is not None


def test_a_server_that_stays_busy_pauses_the_run(
    server: FakeServer, subtopic: Subtopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "MAX_BUSY", 2)
    make_summary(subtopic=subtopic, text=SAID)
    server.behaviour = lambda n, body: failing(429, "never", retry_after="0.01")
    run = request(make_judge(server))
    work(run)
    assert run.state == JudgeRun.State.PAUSED
    assert "stays busy" in JudgeRun.objects.get().message
    assert Endpoint.objects.get().limit_now == 1


def test_a_500_is_asked_again_a_few_times(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    server.behaviour = lambda n, body: failing(500, "oops") if n % 2 else None
    judge = make_judge(server)
    assert work(request(judge, concurrency=1)).n_done == 1
    assert (server.n_asked, judge.verdicts.count(), states()) == (6, 3, {"answered": 3})


def test_a_server_that_only_fails_is_asked_a_bounded_number_of_times_and_counted(
    server: FakeServer, subtopic: Subtopic
) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    bad = "pier opens"
    server.behaviour = lambda n, body: failing(503, "no") if bad in body["messages"][1]["content"] else None
    judge = make_judge(server)
    run = request(judge)
    for _ in range(runs.MAX_ATTEMPTS):
        with pytest.raises(sending.CallFailed, match="503"):
            work(run)
    done = work(run)
    assert (done.n_failed, run.state, judge.verdicts.count()) == (1, JudgeRun.State.DONE, 2)
    assert server.n_asked == 2 + runs.MAX_ATTEMPTS * sending.MAX_SENT
    assert states() == {"answered": 2, "failed": 1}


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_pauses_the_run_and_says_so(server: FakeServer, subtopic: Subtopic, status: int) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    server.behaviour = lambda n, body: failing(status, "Your key is wrong.")
    judge = make_judge(server)
    run = request(judge, concurrency=1)
    work(run)
    assert (server.n_asked, run.state) == (1, JudgeRun.State.PAUSED)
    assert JudgeRun.objects.get().message == f"{status}: Your key is wrong."
    assert run.items.get().attempts == 0
    server.behaviour = None
    runs.resume_run(run=run)
    run.refresh_from_db()
    assert work(run).n_done == 1


def test_a_used_up_quota_pauses_though_it_is_called_429(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    server.behaviour = lambda n, body: failing(429, "You are broke.", code="insufficient_quota")
    run = request(make_judge(server), concurrency=1)
    work(run)
    assert (server.n_asked, run.state) == (1, JudgeRun.State.PAUSED)


def test_json_that_is_cut_off_is_asked_again_with_more_room(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    cut = Answer('{"coverage": "fu', finish_reason="length")
    server.behaviour = lambda n, body: cut if len(body["messages"]) == 2 else None
    judge = make_judge(server)
    work(request(judge))
    assert (server.n_asked, coverages(judge)) == (6, {"full": 1, "none": 2})
    limits = Counter(body["max_completion_tokens"] for body in server.bodies)
    assert limits == {400: 3, 800: 3}
    assert JudgeCall.objects.filter(is_repair=True).count() == 3


def test_an_answer_that_stays_unusable_is_invalid_and_is_never_paid_again(
    server: FakeServer, subtopic: Subtopic
) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    server.behaviour = lambda n, body: Answer('{"coverage": "full", "bullet_ids": [7]}')
    judge = make_judge(server)
    work(request(judge))
    assert (server.n_asked, judge.verdicts.filter(is_valid=False).count()) == (6, 3)
    assert judge.verdicts.valid().count() == 0
    assert "There is no bullet 7." in server.bodies[-1]["messages"][-1]["content"]
    twin = judge_versions.ensure_judge(name="twin", kind="openai", config=judge.config, now=timezone.now())
    work(request(twin))
    assert (server.n_asked, twin.verdicts.filter(is_valid=False).count()) == (6, 3)


@pytest.mark.parametrize(
    "answer",
    [Answer("", refusal="I would rather not."), Answer("", finish_reason="content_filter")],
    ids=["refusal", "filter"],
)
def test_a_refusal_is_invalid_at_once(server: FakeServer, subtopic: Subtopic, answer: Answer) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    server.behaviour = lambda n, body: answer
    judge = make_judge(server)
    work(request(judge))
    assert (server.n_asked, judge.verdicts.filter(is_valid=False).count()) == (3, 3)
    assert judge.verdicts.first().raw == {"problem": "The model refused to answer."}  # type: ignore[union-attr]


def test_a_server_without_schemas_is_asked_in_the_shape_that_it_knows_and_that_is_remembered(
    server: FakeServer, subtopic: Subtopic
) -> None:
    def old(n: int, body: dict[str, Any]) -> Answer | None:
        if "response_format" in body:
            return failing(400, f"response_format {body['response_format']['type']} is not supported")
        return Answer(f"Sure! Here it is:\n```json\n{judged(body)}\n```\nAnything else?")

    make_summary(subtopic=subtopic, text=SAID)
    server.behaviour = old
    judge = make_judge(server)
    work(request(judge, concurrency=1))
    assert (server.n_asked, coverages(judge)) == (5, {"full": 1, "none": 2})
    assert {verdict.call.response_format for verdict in judge.verdicts.select_related("call")} == {"text"}
    make_summary(subtopic=subtopic, text="- Another.", system="s2")
    work(request(judge))
    assert server.n_asked == 8, "no shape is tried again that was refused"


def test_a_connection_that_breaks_in_the_middle_is_asked_again(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    server.behaviour = lambda n, body: Answer(judged(body), cut=True) if n == 1 else None
    judge = make_judge(server)
    work(request(judge))
    assert (server.n_asked, judge.verdicts.count()) == (4, 3)


def test_a_server_that_is_slower_than_the_limit_is_not_waited_for(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    server.delay_s = 0.5
    run = request(make_judge(server, timeout_s=0.05))
    with pytest.raises(sending.CallFailed, match="in time"):
        work(run)
    assert Verdict.objects.count() == 0


def test_a_server_that_dies_and_comes_back_loses_no_answer(subtopic: Subtopic, settings: Any) -> None:
    for n in range(4):
        make_summary(subtopic=subtopic, text=f"- Remark {n}.", system=f"s{n}")
    with serving() as dying:
        settings.OPENAI_BASE_URLS = [dying.address]
        judge = make_judge(dying)
        run = request(judge, concurrency=2)
        dying.behaviour = lambda n, body: failing(500, "dying") if n > 5 else None
        with pytest.raises(sending.CallFailed):
            work(run)
        kept = judge.verdicts.count()
        assert kept == 5
        dying.behaviour = None
        before = dying.n_asked
        work(run)
        assert dying.n_asked - before == 12 - kept
    assert (judge.verdicts.count(), run.state) == (12, JudgeRun.State.DONE)


def test_an_address_that_is_not_on_the_list_is_never_asked(
    server: FakeServer, subtopic: Subtopic, settings: Any
) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    judge = make_judge(server)
    run = request(judge)
    settings.OPENAI_BASE_URLS = ["https://elsewhere.example/v1"]
    work(run)
    assert (server.n_asked, run.state) == (0, JudgeRun.State.PAUSED)
    with pytest.raises(judging.JudgeUnavailable, match="is not allowed"):
        request(judge)


# Stopping and going on


def test_a_run_that_is_cancelled_in_the_middle_keeps_what_it_has(server: FakeServer, subtopic: Subtopic) -> None:
    for n in range(6):
        make_summary(subtopic=subtopic, text=f"- Remark {n}.", system=f"s{n}")
    judge = make_judge(server)
    run = request(judge, concurrency=2)
    real = ledger.close

    def cancel_after_some(**kwargs: Any) -> None:
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
    for n in range(3):
        make_summary(subtopic=subtopic, text=f"- Remark {n}.", system=f"s{n}")
    judge = make_judge(server)
    run = request(judge, concurrency=2)
    with pytest.MonkeyPatch.context() as patch:

        def interrupt(**kwargs: Any) -> None:
            raise KeyboardInterrupt

        patch.setattr(ledger, "close", interrupt)
        with pytest.raises(KeyboardInterrupt):
            work(run)
    assert work(run).n_done == 3
    assert judge.verdicts.count() == 9
    assert server.n_asked <= 9 + 2
