"""AutoDS scores from a real HTTP server's log-probabilities: stored, never asked twice, failures counted."""

import io
import json
import math
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from benchmarks.engine import ledger, runs
from benchmarks.engine.runs import Lease
from benchmarks.engine.tasks.key_points import newest_scores
from benchmarks.judges.questions import ModelConfig
from benchmarks.models import AutodsScore, Judge, JudgeCall, JudgeRun, KeyPoint, LostReply
from tests.benchmarks.engine.asking import make_judge, price, request, work
from tests.fake_openai import MODEL, Answer, FakeServer
from tests.makers import make_haystack, make_summary
from tests.makers_verification import make_questions
from tests.running import output_of

pytestmark = pytest.mark.django_db(transaction=True)


def listed(**tokens: float) -> Answer:
    """A reply that lists tokens with their probabilities."""
    tops = [{"token": token, "logprob": math.log(share)} for token, share in tokens.items()]
    return Answer(content="yes", logprobs={"content": [{"token": "yes", "logprob": 0.0, "top_logprobs": tops}]})


def run(**options) -> dict[str, Any]:
    """The counts that the command prints, without the cost."""
    found = said(**options)
    del found["cost"]
    found.pop("cost_unknown", None)
    return found


def said(**options) -> dict[str, Any]:
    out = io.StringIO()
    try:
        call_command("score_key_points", "sparrow", json=True, stdout=out, **options)
    finally:
        found: dict[str, Any] = json.loads(out.getvalue()) if out.getvalue() else {}
    return found


def yes_and_no(number: int, body: dict[str, Any]) -> Answer | None:
    """Log-probabilities to who asks for them, a verdict to a judge."""
    return listed(yes=0.5, no=0.5) if "logprobs" in body else None


def test_spellings_are_added_up_and_a_second_run_asks_nothing(server: FakeServer, judge: Judge) -> None:
    make_questions(2, n_points=2)
    server.behaviour = lambda number, body: listed(**{"yes": 0.5, " Yes": 0.1, "no": 0.2, "maybe": 0.1})
    assert run() == {"n_scored": 4, "n_bounded": 0, "n_unanswered": 0, "n_failed": 0, "n_asked": 4}
    assert list(KeyPoint.objects.values_list("autods", flat=True)) == [pytest.approx(0.6 / 0.8)] * 4
    found = said()
    assert (found["n_asked"], found["cost"]) == (0, 0)
    AutodsScore.objects.all().delete()
    found = said()
    assert found == {"n_scored": 4, "n_bounded": 0, "n_unanswered": 0, "n_failed": 0, "n_asked": 0, "cost": 0}
    call = JudgeCall.objects.all()[0]
    assert (call.state, call.prompt_tokens, call.n_sent) == ("answered", 100, 1)


def test_scores_are_kept_for_each_judge_and_the_first_stays_with_the_key_point(
    server: FakeServer, judge: Judge
) -> None:
    make_questions(1, n_points=2, autods=[0.9, None])
    server.behaviour = lambda number, body: listed(yes=0.5, no=0.5)
    assert run()["n_scored"] == 2, "an imported score is not this judge's"
    assert list(KeyPoint.objects.order_by("number").values_list("autods", flat=True)) == [0.9, 0.5]
    other = make_judge(server, "tern", model="sparrow-2")
    server.behaviour = lambda number, body: listed(yes=0.2, no=0.6)
    output_of("score_key_points", "tern")
    assert list(other.autods_scores.values_list("value", flat=True)) == [pytest.approx(0.25)] * 2
    assert list(judge.autods_scores.values_list("value", flat=True)) == [0.5, 0.5]
    assert list(KeyPoint.objects.order_by("number").values_list("autods", flat=True)) == [0.9, 0.5]


def test_a_judge_can_be_asked_again_and_its_newest_score_counts(server: FakeServer, judge: Judge) -> None:
    make_questions(1, n_points=2)
    server.behaviour = lambda number, body: listed(yes=0.5, no=0.5)
    assert run(limit=1)["n_asked"] == 1
    server.behaviour = lambda number, body: listed(yes=0.6, no=0.2)
    assert run(again=True)["n_asked"] == 1, "only what was scored is asked again"
    assert run(again=True)["n_asked"] == 1
    assert list(judge.autods_scores.order_by("repeat").values_list("repeat", "value")) == [
        (0, 0.5), (1, pytest.approx(0.75)), (2, pytest.approx(0.75))
    ]  # fmt: skip
    first, second = KeyPoint.objects.order_by("number").values_list("pk", flat=True)
    assert newest_scores([first, second]) == {judge.pk: {first: pytest.approx(0.75)}}
    assert run()["n_asked"] == 1
    assert newest_scores([first, second])[judge.pk][second] == pytest.approx(0.75)


def test_one_side_or_none_gives_no_score_and_is_counted(server: FakeServer, judge: Judge) -> None:
    make_questions(1, n_points=3)
    answers = [listed(yes=0.9, sure=0.01), listed(perhaps=0.9), Answer(content="yes")]
    server.behaviour = lambda number, body: answers[(number - 1) % 3]
    found = run(concurrency=1)
    assert (found["n_scored"], found["n_bounded"], found["n_unanswered"]) == (0, 1, 2)
    bounded, *others = AutodsScore.objects.order_by("key_point__number")
    assert (bounded.value, bounded.high) == (None, 1.0)
    assert bounded.low == pytest.approx(0.9 / 0.91)
    assert all(one.low is None for one in others)
    assert not KeyPoint.objects.exclude(autods=None).exists()


def test_a_refused_key_stops_it_and_wrong_names_are_said(server: FakeServer, judge: Judge) -> None:
    make_questions(1, n_points=1)
    server.behaviour = lambda number, body: Answer(status=401, error={"message": "no such key"})
    with pytest.raises(CommandError, match="no such key"):
        run()
    with pytest.raises(CommandError, match="no model judge"):
        call_command("score_key_points", "nobody")
    with pytest.raises(CommandError, match="from 1 on"):
        run(limit=0)


def test_scoring_key_points_does_not_change_how_a_judge_is_asked(server: FakeServer, judge: Judge) -> None:
    server.behaviour = yes_and_no
    subtopic = make_haystack().subtopics.get(number=1)
    make_summary(subtopic=subtopic, text="- Nothing happened.")

    def let_judge(name: str) -> list[dict[str, Any]]:
        twin = make_judge(server, name)
        before = server.n_asked
        work(request(twin))
        return server.bodies[before:]

    first = let_judge("first")
    make_questions(1, n_points=2)
    assert run()["n_scored"] == 2
    assert let_judge("second") == [], "what was answered is not paid again"
    make_summary(subtopic=subtopic, text="- Another day.", system="other")
    later = let_judge("third")
    assert {body["response_format"]["type"] for body in first + later} == {"json_schema"}
    assert len(later) == len(first) == 3


def test_a_judges_seed_prompt_and_shape_do_not_change_how_a_key_point_is_asked(
    server: FakeServer, judge: Judge
) -> None:
    make_questions(1, n_points=1)
    server.behaviour = yes_and_no
    make_judge(server, seed=7, temperature=1.0, max_tokens=900, prompt="Say none.")
    run()
    sent = {name: value for name, value in server.bodies[0].items() if name != "messages"}
    assert sent == {
        "model": MODEL, "max_completion_tokens": 1, "temperature": 0.0, "logprobs": True, "top_logprobs": 20,
    }  # fmt: skip


def test_a_request_that_another_worker_is_sending_is_left_to_it_until_its_lease_ends(
    server: FakeServer, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_questions(1, n_points=1)
    server.behaviour = yes_and_no
    run()
    monkeypatch.setattr(ledger, "CALL_LEASE", Lease(timedelta(seconds=1)))
    AutodsScore.objects.all().delete()
    began = timezone.now()
    JudgeCall.objects.update(state="asked", claimed_by="a live worker elsewhere", claimed_at=began)
    assert "a live worker elsewhere" not in runs.gone()
    assert run()["n_scored"] == 1
    call = JudgeCall.objects.get()
    assert (call.n_sent, server.n_asked) == (2, 2)
    assert call.claimed_at - began >= timedelta(seconds=1)
    assert LostReply.objects.get().call == call, "what the other may have paid stays counted"


def test_scoring_stops_before_its_budget_is_spent_and_says_what_it_cost(server: FakeServer, judge: Judge) -> None:
    price(output_per_million=8)
    make_questions(2, n_points=5)
    server.behaviour = yes_and_no
    out = io.StringIO()
    with pytest.raises(CommandError, match=r"budget of \$0\.001"):
        call_command("score_key_points", "sparrow", budget="0.001", stdout=out)
    n_scored = KeyPoint.objects.exclude(autods=None).count()
    assert 0 < n_scored == server.n_asked < 10
    spent = n_scored * Decimal("0.00024")
    assert spent <= Decimal("0.001")
    assert f"{n_scored} scored" in out.getvalue()
    assert f"cost ${spent:.4f}" in out.getvalue()
    assert JudgeRun.objects.get().task == "autods"
    assert said()["n_scored"] == 10 - n_scored
    with pytest.raises(CommandError, match="not a number of dollars"):
        run(budget="much")


def test_a_pasted_prompt_is_what_is_asked_and_makes_another_version(server: FakeServer, judge: Judge) -> None:
    make_questions(1, n_points=1)
    server.behaviour = lambda number, body: listed(yes=0.8, no=0.2)
    usual = ModelConfig.from_mapping(judge.config)
    assert "autods_prompt" not in usual.as_mapping()  # judges of before keep their version
    make_judge(server, autods_prompt="Is this point key? YES or NO.")
    run()
    assert [body["messages"][0]["content"] for body in server.bodies] == ["Is this point key? YES or NO."]
    assert AutodsScore.objects.get().judge.version == 2
