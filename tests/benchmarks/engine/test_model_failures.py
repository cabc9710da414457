"""Runs of a model judge against a real HTTP server that is busy, slow, broken or answers rubbish."""

import json
from collections import Counter
from typing import Any

import pytest
from django.utils import timezone

from benchmarks.engine import costs, judging, runs, sending
from benchmarks.models import (
    Endpoint,
    Judge,
    JudgeCall,
    JudgeRun,
    LostReply,
    Subtopic,
    Verdict,
)
from tests.benchmarks.engine.asking import (
    PER_CALL,
    SAID,
    coverages,
    make_judge,
    price,
    remarks,
    request,
    states,
    work,
)
from tests.fake_openai import Answer, FakeServer, failing, judged
from tests.makers import make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge(server: FakeServer, subtopic: Subtopic) -> Judge:
    """One that has a summary with three insights to judge."""
    make_summary(subtopic=subtopic, text=SAID)
    return make_judge(server)


def test_when_it_says_429_everybody_waits_as_told_and_fewer_ask_at_a_time(
    server: FakeServer, subtopic: Subtopic
) -> None:
    remarks(subtopic, 4)
    server.delay_s = 0.02
    server.behaviour = lambda n, body: failing(429, "slow down", retry_after="0.3") if n <= 8 else None
    judge = make_judge(server)
    began = timezone.now()
    done = work(request(judge, concurrency=8))
    assert (done.n_done, judge.verdicts.count(), states()) == (4, 12, {"answered": 12})
    assert (timezone.now() - began).total_seconds() >= 0.3
    assert server.n_asked == 20
    assert sum(JudgeCall.objects.values_list("n_sent", flat=True)) == 20
    assert Endpoint.objects.get().last_halved_at is not None


def test_a_server_that_stays_busy_pauses_the_run(
    server: FakeServer, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "MAX_BUSY", 2)
    server.behaviour = lambda n, body: failing(429, "never", retry_after="0.01")
    run = request(judge)
    work(run)
    assert run.state == JudgeRun.State.PAUSED
    assert "stays busy" in JudgeRun.objects.get().message
    assert Endpoint.objects.get().limit_now == 1


def test_a_500_is_asked_again_a_few_times(server: FakeServer, judge: Judge) -> None:
    server.behaviour = lambda n, body: failing(500, "oops") if n % 2 else None
    assert work(request(judge, concurrency=1)).n_done == 1
    assert (server.n_asked, judge.verdicts.count(), states()) == (6, 3, {"answered": 3})


def test_a_server_that_only_fails_is_asked_a_bounded_number_of_times_and_counted(
    server: FakeServer, judge: Judge
) -> None:
    bad = "pier opens"
    server.behaviour = lambda n, body: failing(503, "no") if bad in body["messages"][1]["content"] else None
    run = request(judge)
    for _ in range(runs.MAX_ATTEMPTS):
        with pytest.raises(sending.CallFailed, match="503"):
            work(run)
    assert (work(run).n_failed, run.state, judge.verdicts.count()) == (1, JudgeRun.State.DONE, 2)
    assert server.n_asked == 2 + runs.MAX_ATTEMPTS * sending.MAX_SENT
    assert states() == {"answered": 2, "failed": 1}


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_pauses_the_run_and_says_so(server: FakeServer, judge: Judge, status: int) -> None:
    server.behaviour = lambda n, body: failing(status, "Your key is wrong.")
    run = request(judge, concurrency=1)
    work(run)
    assert (server.n_asked, run.state) == (1, JudgeRun.State.PAUSED)
    assert JudgeRun.objects.get().message == f"{status}: Your key is wrong."
    assert run.items.get().attempts == 0
    server.behaviour = None
    runs.resume_run(run=run)
    run.refresh_from_db()
    assert work(run).n_done == 1


def test_a_used_up_quota_pauses_though_it_is_called_429(server: FakeServer, judge: Judge) -> None:
    server.behaviour = lambda n, body: failing(429, "You are broke.", code="insufficient_quota")
    run = request(judge, concurrency=1)
    work(run)
    assert (server.n_asked, run.state) == (1, JudgeRun.State.PAUSED)


def test_json_that_is_cut_off_is_asked_again_with_more_room(server: FakeServer, judge: Judge) -> None:
    cut = Answer('{"coverage": "fu', finish_reason="length")
    server.behaviour = lambda n, body: cut if len(body["messages"]) == 2 else None
    work(request(judge))
    assert (server.n_asked, coverages(judge)) == (6, {"full": 1, "none": 2})
    assert Counter(body["max_completion_tokens"] for body in server.bodies) == {400: 3, 800: 3}
    assert JudgeCall.objects.filter(is_repair=True).count() == 3


def test_an_answer_that_stays_unusable_is_invalid_and_is_never_paid_again(
    server: FakeServer, judge: Judge
) -> None:
    server.behaviour = lambda n, body: Answer('{"coverage": "full", "bullet_ids": [7]}')
    work(request(judge))
    assert (server.n_asked, judge.verdicts.filter(is_valid=False).count()) == (6, 3)
    assert judge.verdicts.valid().count() == 0
    assert "There is no bullet 7." in server.bodies[-1]["messages"][-1]["content"]
    twin = make_judge(server, "twin")
    work(request(twin))
    assert (server.n_asked, twin.verdicts.filter(is_valid=False).count()) == (6, 3)


@pytest.mark.parametrize(
    "answer",
    [Answer("", refusal="I would rather not."), Answer("", finish_reason="content_filter")],
    ids=["refusal", "filter"],
)
def test_a_refusal_is_invalid_at_once(server: FakeServer, judge: Judge, answer: Answer) -> None:
    server.behaviour = lambda n, body: answer
    work(request(judge))
    assert (server.n_asked, judge.verdicts.filter(is_valid=False).count()) == (3, 3)
    assert judge.verdicts.first().raw == {"problem": "The model refused to answer."}


def test_a_server_without_schemas_is_asked_in_the_shape_that_it_knows_for_the_rest_of_the_run(
    server: FakeServer, subtopic: Subtopic, judge: Judge
) -> None:
    def old(n: int, body: dict[str, Any]) -> Answer | None:
        if "response_format" in body:
            return failing(400, f"response_format {body['response_format']['type']} is not supported")
        return Answer(f"Sure! Here it is:\n```json\n{judged(body)}\n```\nAnything else?")

    server.behaviour = old
    work(request(judge, concurrency=1))
    assert (server.n_asked, coverages(judge)) == (5, {"full": 1, "none": 2})
    assert {verdict.call.response_format for verdict in judge.verdicts.select_related("call")} == {"text"}
    make_summary(subtopic=subtopic, text="- Another.", system="s2")
    work(request(judge, concurrency=1))
    assert server.n_asked == 5 + 5, "a later run begins with the strictest again"


def test_a_generation_that_fails_changes_nothing_for_later_requests(server: FakeServer, judge: Judge) -> None:
    failed = {"code": "json_validate_failed", "message": "Failed to generate JSON.", "failed_generation": "Hm {"}
    server.behaviour = lambda n, body: Answer(status=400, error=failed) if n == 1 else None
    run = request(judge, concurrency=1)
    work(run)
    assert (server.n_asked, coverages(judge)) == (4, {"full": 1, "none": 2})
    assert {body["response_format"]["type"] for body in server.bodies} == {"json_schema"}
    assert server.bodies[1]["messages"][-2]["content"] == "Hm {", "it is shown what it said"
    price()
    assert costs.cost_of(run.calls.all()).dollars == 3 * PER_CALL


def test_two_answers_that_differ_are_asked_for_again_as_one(server: FakeServer, judge: Judge) -> None:
    two = 'First {"coverage": "full", "bullet_ids": [2]}, or ```json\n{"coverage": "none", "bullet_ids": []}\n```'
    server.behaviour = lambda n, body: Answer(two) if n == 1 else None
    work(request(judge, concurrency=1))
    assert (server.n_asked, coverages(judge)) == (4, {"full": 1, "none": 2})
    assert "several answers that differ" in server.bodies[1]["messages"][-1]["content"]


def test_a_text_that_is_too_long_for_the_model_is_one_failure_and_no_reason_to_pause(
    server: FakeServer, judge: Judge
) -> None:
    too_long = (
        "'max_tokens' or 'max_completion_tokens' is too large: 400. This model's maximum context length is 512 "
        "tokens and your request has 300 input tokens (400 > 512 - 300)."
    )
    server.behaviour = lambda n, body: failing(400, too_long) if "pier opens" in str(body["messages"]) else None
    run = request(judge)
    with pytest.raises(sending.CallFailed, match="context length"):
        work(run)
    assert (run.state, judge.verdicts.count()) == ("running", 2)


def test_an_outage_inside_an_answer_is_asked_about_again_once_the_server_is_back(
    server: FakeServer, judge: Judge
) -> None:
    choices = [{"finish_reason": "error", "error": {"code": 502, "message": "Down"}, "message": {"content": ""}}]
    server.behaviour = lambda n, body: Answer(raw=json.dumps({"choices": choices}).encode())
    run = request(judge)
    with pytest.raises(sending.CallFailed, match="502: Down"):
        work(run)
    assert (judge.verdicts.count(), states(), LostReply.objects.count()) == (0, {"failed": 3}, 0)
    server.behaviour = None
    work(run)
    assert coverages(judge) == {"full": 1, "none": 2}


def test_a_server_is_asked_with_the_name_of_the_limit_and_without_a_temperature_where_it_takes_none(
    server: FakeServer, subtopic: Subtopic
) -> None:
    price()
    make_summary(subtopic=subtopic, text=SAID)
    judge = make_judge(server, limit_name="max_tokens", temperature=None)
    assert work(request(judge, budget=1)).n_done == 1
    assert all(body["max_tokens"] == 400 for body in server.bodies)
    assert not any({"temperature", "max_completion_tokens"} & body.keys() for body in server.bodies)


def test_a_connection_that_breaks_in_the_middle_is_asked_again(server: FakeServer, judge: Judge) -> None:
    server.behaviour = lambda n, body: Answer(judged(body), cut=True) if n == 1 else None
    work(request(judge))
    assert (server.n_asked, judge.verdicts.count()) == (4, 3)


def test_a_server_that_is_slower_than_the_limit_is_not_waited_for(server: FakeServer, subtopic: Subtopic) -> None:
    make_summary(subtopic=subtopic, text=SAID)
    server.delay_s = 0.5
    run = request(make_judge(server, timeout_s=0.05))
    with pytest.raises(sending.CallFailed, match="in time"):
        work(run)
    assert Verdict.objects.count() == 0


def test_an_address_that_is_not_on_the_list_is_never_asked(server: FakeServer, judge: Judge, settings) -> None:
    run = request(judge)
    settings.OPENAI_BASE_URLS = ["https://elsewhere.example/v1"]
    work(run)
    assert (server.n_asked, run.state) == (0, JudgeRun.State.PAUSED)
    with pytest.raises(judging.JudgeUnavailable, match="is not allowed"):
        request(judge)
