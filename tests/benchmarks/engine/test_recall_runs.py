"""A model on responses, against a real HTTP server: recall, extraction and support, whatever the server does."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.engine import overview
from benchmarks.engine.tasks.points import EntailmentReply, read_points
from benchmarks.judges.base import Background
from benchmarks.judges.parsing import LabelAnswer, Problem, read_labels
from benchmarks.judges.passages import PassageRanking, passages_of
from benchmarks.models import (
    Extraction,
    Judge,
    JudgeRun,
    PointVerdict,
    Response,
    ResponsePoint,
)
from tests.benchmarks.engine.asking import estimated, make_judge, request, work
from tests.fake_openai import Answer, FakeServer
from tests.makers_recall import make_response

pytestmark = pytest.mark.django_db
Task = JudgeRun.Task
SAID = "Alpha 1 holds. The log of alpha says little. Nothing more."
"""Says the first of two key points; its second sentence stands in the document."""


@pytest.fixture
def response(db: None) -> Response:
    return make_response("alpha", system="heron", n_points=2, text=SAID)


def said(judge: Judge, premise: str = "response") -> Counter[str]:
    return Counter(judge.point_verdicts.filter(premise=premise).values_list("answer", flat=True))


@pytest.mark.parametrize(("protocol", "n_calls"), [("one", 2), ("all", 1)])
def test_every_key_point_is_asked_once_with_its_own_prompt_and_evidence_is_kept(
    server: FakeServer, response: Response, protocol: str, n_calls: int
) -> None:
    judge = make_judge(server, protocol=protocol)
    run = request(judge, Task.RECALL)
    assert work(run).n_done == 1
    assert (run.state, server.n_asked, said(judge)) == ("done", n_calls, {"yes": 1, "no": 1})
    verdict = judge.point_verdicts.get(answer="yes")
    assert (verdict.key_point.number, verdict.raw["sentence"], verdict.raw["evidence"]) == (1, 1, "Alpha 1 holds.")
    assert (verdict.repeat, verdict.is_valid, verdict.call is not None) == (0, True, True)
    body = server.bodies[0]
    assert body["messages"][0]["content"].startswith("You check wh")
    assert body["messages"][1]["content"].startswith("Answer:\n[1] Alpha 1 holds.\n[2]")
    shape = body["response_format"]["json_schema"]
    assert (shape["name"], shape["strict"]) == ("entailment", True)


@pytest.mark.parametrize("protocol", ["one", "all"])
def test_points_are_extracted_and_held_against_documents_and_key_points(
    server: FakeServer, response: Response, protocol: str
) -> None:
    judge = make_judge(server, protocol=protocol)
    work(request(judge, Task.EXTRACTION))
    assert server.bodies[0]["messages"][1]["content"].startswith("Question:\nWhy alpha?\nAnswer:\nAlpha 1")
    points = list(ResponsePoint.objects.values_list("number", "text"))
    assert points == [(1, "Alpha 1 holds."), (2, "The log of alpha says little."), (3, "Nothing more.")]
    work(request(judge, Task.SUPPORT))
    assert server.n_asked == 1 + (6 if protocol == "one" else 2)
    assert (said(judge, "documents"), said(judge, "key_points")) == ({"yes": 1, "no": 2}, {"no": 3})
    verdict = judge.point_verdicts.get(premise="documents", answer="yes")
    assert (verdict.point.number, verdict.raw["document"], verdict.raw["passages_shown"]) == (2, 1, 1)


def test_repeats_are_asked_of_recall_only_and_the_first_is_repeat_0(
    server: FakeServer, response: Response
) -> None:
    judge = make_judge(server, seed=3)
    work(request(judge, Task.RECALL, repeats=3))
    assert Counter(judge.point_verdicts.values_list("repeat", flat=True)) == {0: 2, 1: 2, 2: 2}
    assert request(judge, Task.EXTRACTION, repeats=3).repeats == 1


# Servers that behave badly


@pytest.mark.parametrize(
    "content",
    [
        "I think so.",
        '{"answer": "perhaps", "evidence": []}',
        '{"answer": "yes", "evidence": []}',
        '{"answer": "yes", "evidence": [9]}',
        '{"answer": "no"}',
        '{"answer": "yes", "evidence": [1',
    ],
)
def test_an_unusable_answer_is_asked_once_more_and_then_invalid_and_counted(
    server: FakeServer, judge: Judge, response: Response, content: str
) -> None:
    server.behaviour = lambda number, body: Answer(content)
    assert work(request(judge, Task.RECALL)).n_done == 1
    assert (server.n_asked, said(judge)) == (4, {"": 2})
    assert judge.point_verdicts.filter(is_valid=False).count() == 2
    assert "cannot be used" in server.bodies[-1]["messages"][-1]["content"]


def test_a_wrong_number_spoils_its_own_verdict_only(server: FakeServer, response: Response) -> None:
    rows = [{"point": 1, "answer": "yes", "evidence": [1]}, {"point": 7, "answer": "yes", "evidence": [1]}]
    server.behaviour = lambda number, body: Answer(json.dumps({"verdicts": rows}))
    judge = make_judge(server, protocol="all")
    work(request(judge, Task.RECALL))
    assert said(judge) == {"yes": 1, "": 1}
    assert "2 has 0 verdicts" in judge.point_verdicts.get(answer="").raw["problem"]


def test_an_extraction_that_cannot_be_read_has_no_points_and_no_support(
    server: FakeServer, judge: Judge, response: Response
) -> None:
    server.behaviour = lambda number, body: Answer('{"points": ["", 3]}')
    work(request(judge, Task.EXTRACTION))
    row = Extraction.objects.get()
    assert (row.is_valid, row.points.count(), "problem" in row.raw) == (False, 0, True)
    assert request(judge, Task.SUPPORT) is None


def test_the_estimate_counts_calls_tokens_and_what_is_cached(
    server: FakeServer, judge: Judge, response: Response
) -> None:
    before = estimated(judge, Task.RECALL, [response])
    assert (before.n_subjects, before.n_calls, before.n_cached, before.dollars) == (1, 2, 0, None)
    assert before.prompt_tokens > 400
    assert server.n_asked == 0
    work(request(judge, Task.RECALL))
    after = estimated(make_judge(server, "twin"), Task.RECALL, [response])
    assert (after.n_calls, after.n_cached) == (2, 2)


def test_a_changed_text_or_prompt_makes_verdicts_stale(
    server: FakeServer, judge: Judge, response: Response
) -> None:
    work(request(judge, Task.RECALL))
    assert overview.stale_answers(judge=judge)[0]["recall"] == 0
    point = response.question.key_points.get(number=2)
    point.text = "Another claim."
    point.save()
    assert overview.stale_answers(judge=judge)[0]["recall"] == 1
    Response.objects.filter(pk=response.pk).update(text="Rewritten as a whole.")
    assert overview.stale_answers(judge=judge)[0]["recall"] == 2


# Pure


def test_long_documents_are_cut_to_the_passages_that_are_closest() -> None:
    filler = " ".join(f"Nothing of interest happened on day {day} of the long voyage." for day in range(400))
    documents = [(1, filler), (2, "The lantern keeper counted forty seals. Then he slept.")]
    cut = passages_of(documents)
    points = ["Forty seals were counted by the lantern keeper.", "Day 399 was dull."]
    background = Background(texts=tuple(text for _, text in documents), insights=tuple(points))
    shown = PassageRanking(cut, points, tokens=300, background=background).for_points([0])
    assert shown.n_all == len(cut) > len(shown.texts)
    assert 2 in shown.sources
    assert sum(len(text.split()) for text in shown.texts) * 1.25 <= 300
    assert list(shown.sources) == sorted(shown.sources)
    whole = PassageRanking(cut, points, tokens=10**6, background=background).for_points([0])
    assert (len(whole.texts), whole.n_all) == (len(cut), len(cut))


@given(st.text(max_size=60))
def test_no_reply_is_guessed(text: str) -> None:
    one = read_labels(text, EntailmentReply, keys=["k"], numbers=[1], several=False)
    assert isinstance(one["k"], Problem | LabelAnswer)
    assert isinstance(read_points(text), Problem | tuple)
    assert set(read_labels(text, EntailmentReply, keys=["a", "b"], numbers=[1], several=True)) == {"a", "b"}


def test_repeated_points_count_once_and_spaces_are_tidied() -> None:
    assert read_points('{"points": ["A  b.", "A b.", "C."]}') == ("A b.", "C.")
    assert isinstance(read_points(json.dumps({"points": ["x" * 2001]})), Problem)
    assert PointVerdict.Premise.RESPONSE == "response"
