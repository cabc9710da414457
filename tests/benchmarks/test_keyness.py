"""AutoDS scores from a real HTTP server's log-probabilities: stored, never asked twice, failures counted."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from benchmarks import judging, keyness
from benchmarks.models import Judge, JudgeCall, KeyPoint
from tests.fake_openai import MODEL, Answer, FakeServer, serving
from tests.makers_verification import make_questions

pytestmark = pytest.mark.django_db(transaction=True)


def listed(**tokens: float) -> Answer:
    """A reply that lists tokens with their probabilities."""
    tops = [{"token": token, "logprob": math.log(share)} for token, share in tokens.items()]
    return Answer(content="yes", logprobs={"content": [{"token": "yes", "logprob": 0.0, "top_logprobs": tops}]})


@pytest.fixture
def server(settings: Any) -> Iterator[FakeServer]:
    with serving() as running:
        settings.OPENAI_BASE_URLS = [running.address]
        yield running


@pytest.fixture
def judge(server: FakeServer) -> Judge:
    values = {"base_url": server.address, "model": MODEL}
    return judging.ensure_judge(name="sparrow", kind="openai", config=values, now=timezone.now())


def run(**options: Any) -> dict[str, int]:
    out = io.StringIO()
    call_command("score_key_points", "sparrow", json=True, stdout=out, **options)
    found: dict[str, int] = json.loads(out.getvalue())
    return found


def test_spellings_are_added_up_and_a_second_run_asks_nothing(server: FakeServer, judge: Judge) -> None:
    make_questions(2, n_points=2)
    server.behaviour = lambda number, body: listed(**{"yes": 0.5, " Yes": 0.1, "no": 0.2, "maybe": 0.1})
    assert run() == {"n_scored": 4, "n_bounded": 0, "n_unanswered": 0, "n_failed": 0, "n_asked": 4}
    assert list(KeyPoint.objects.values_list("autods", flat=True)) == [pytest.approx(0.6 / 0.8)] * 4
    assert run()["n_asked"] == 0
    KeyPoint.objects.update(autods=None)
    assert run() == {"n_scored": 4, "n_bounded": 0, "n_unanswered": 0, "n_failed": 0, "n_asked": 0}
    call = JudgeCall.objects.first()
    assert call is not None
    assert (call.state, call.prompt_tokens, call.n_sent) == ("answered", 100, 1)


def test_one_side_or_none_gives_no_score_and_is_counted(server: FakeServer, judge: Judge) -> None:
    make_questions(1, n_points=3)
    answers = [listed(yes=0.9, sure=0.01), listed(perhaps=0.9), Answer(content="yes")]
    server.behaviour = lambda number, body: answers[(number - 1) % 3]
    found = run(concurrency=1)
    assert (found["n_scored"], found["n_bounded"], found["n_unanswered"]) == (0, 1, 2)
    assert not KeyPoint.objects.exclude(autods=None).exists()


def test_a_busy_server_is_asked_again_and_a_broken_one_counts_as_failed(
    server: FakeServer, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_questions(1, n_points=2)
    busy = Answer(status=429, headers={"Retry-After": "0"}, error={"message": "slow down"})
    server.behaviour = lambda number, body: busy if number == 1 else listed(yes=0.25, no=0.75)
    found = run(limit=1)
    assert (found["n_scored"], found["n_failed"]) == (1, 0)
    assert KeyPoint.objects.get(number=1).autods == pytest.approx(0.25)
    server.behaviour = lambda number, body: Answer(status=500, headers={}, error={"message": "broken"})
    monkeypatch.setattr(keyness, "TRIES", 1)
    found = run()
    assert (found["n_scored"], found["n_failed"], found["n_asked"]) == (0, 1, 1)
    server.behaviour = lambda number, body: listed(yes=0.5, no=0.5)
    assert run()["n_scored"] == 1
    assert JudgeCall.objects.filter(n_sent=2).count() == 1


def test_a_refused_key_stops_it_and_wrong_names_are_said(server: FakeServer, judge: Judge) -> None:
    make_questions(1, n_points=1)
    server.behaviour = lambda number, body: Answer(status=401, error={"message": "no such key"})
    with pytest.raises(CommandError, match="no such key"):
        run()
    with pytest.raises(CommandError, match="no model judge"):
        call_command("score_key_points", "nobody")
    with pytest.raises(CommandError, match="from 1 on"):
        run(limit=0)
