"""Models give the two judgments that annotators give on key points, over a real HTTP server."""

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from benchmarks.models import Judge, JudgeRun, KeyPoint, KeyPointVerdict
from tests.benchmarks.engine.asking import make_judge
from tests.fake_openai import Answer, FakeServer
from tests.makers_verification import make_questions
from tests.running import json_of

pytestmark = pytest.mark.django_db(transaction=True)


def run(*args: str):
    return json_of("run_judge", "sparrow", "--task", "verification", *args)


def asked(body: dict[str, Any]) -> str:
    return body["messages"][1]["content"]


def careful(number: int, body: dict[str, Any]) -> Answer:
    """The second point of a question is in no passage, and only points on pier 1 are key."""
    text = asked(body)
    if text.startswith("Passages:"):
        is_there = "Fact 1 holds." in text
        return Answer(json.dumps({"answer": "yes" if is_there else "no", "evidence": [1] if is_there else []}))
    return Answer(json.dumps({"answer": " Agree" if "pier 1" in text else "disagree"}))


def verdicts() -> dict[tuple[str, str, str], str]:
    rows = KeyPointVerdict.objects.values_list("key_point__question__key", "key_point__key", "judgment", "answer")
    return {(question, point, judgment): answer for question, point, judgment, answer in rows}


def test_both_judgments_are_asked_once_each_and_the_documents_only_for_the_first(
    server: FakeServer, judge: Judge
) -> None:
    make_questions(2, n_points=2)
    server.behaviour = careful
    found = run()
    assert (found["key_points"], found["calls"], found["invalid"], found["failed"]) == (4, 8, 0, 0)
    assert verdicts() == {
        ("q1", "k1", "grounded"): "yes",
        ("q1", "k1", "key_point"): "agree",
        ("q1", "k2", "grounded"): "no",
        ("q1", "k2", "key_point"): "agree",
        ("q2", "k1", "grounded"): "yes",
        ("q2", "k1", "key_point"): "disagree",
        ("q2", "k2", "grounded"): "no",
        ("q2", "k2", "key_point"): "disagree",
    }
    assert run()["calls"] == 0
    assert server.n_asked == 8
    keyness = [asked(body) for body in server.bodies if asked(body).startswith("Question:")]
    assert len(keyness) == 4
    assert not any("Boats come and go" in text for text in keyness)
    grounded = next(body for body in server.bodies if asked(body).startswith("Passages:"))
    assert "Boats come and go" in asked(grounded)
    schema = grounded["response_format"]["json_schema"]["schema"]["properties"]
    assert schema["answer"]["enum"] == ["yes", "no"]
    row = KeyPointVerdict.objects.filter(judgment="grounded", answer="yes")[0]
    assert row.raw["documents"] == [1]
    assert row.call is not None
    assert row.run == JudgeRun.objects.first()


def test_an_answer_that_is_none_is_asked_for_once_more_then_kept_as_unusable(
    server: FakeServer, judge: Judge
) -> None:
    make_questions(1, n_points=1)
    server.behaviour = lambda number, body: Answer(json.dumps({"answer": "yes", "evidence": []}))
    found = run()
    assert (found["calls"], found["invalid"]) == (2, 2)
    assert set(KeyPointVerdict.objects.values_list("answer", "is_valid")) == {("", False)}
    repairs = [body["messages"][-1]["content"] for body in server.bodies if len(body["messages"]) > 2]
    assert any("must name what says it" in text for text in repairs)
    assert any("agree" in text for text in repairs)


def test_repeats_are_kept_apart_and_documents_that_are_too_long_are_cut(server: FakeServer) -> None:
    document = make_questions(1, n_points=1, n_documents=1)[0].documents.get()
    document.text = " ".join(f"Remark number {n} says nothing of it." for n in range(400)) + " Fact 1 holds."
    document.save()
    make_judge(server, document_tokens=300)
    server.behaviour = careful
    assert run("--repeats", "2")["calls"] == 4
    assert set(KeyPointVerdict.objects.values_list("judgment", "repeat")) == {
        ("grounded", 0), ("grounded", 1), ("key_point", 0), ("key_point", 1)
    }  # fmt: skip
    row = KeyPointVerdict.objects.filter(judgment="grounded")[0]
    assert 0 < row.raw["passages_shown"] < row.raw["passages"]
    assert row.answer == "yes", "the passage that says it is among those shown"


def test_the_offline_judge_cannot_verify_and_a_question_set_narrows_down(server: FakeServer, judge: Judge) -> None:
    make_questions(1, n_points=2)
    make_questions(1, n_points=3, dataset="others")
    server.behaviour = careful
    assert run("--dataset", "others")["key_points"] == 3
    with pytest.raises(CommandError, match="takes one"):
        call_command("run_judge", "lexical", "--task", "verification")
    with pytest.raises(CommandError, match="nowhere"):
        run("--dataset", "nowhere")


@pytest.mark.parametrize(
    "wrong",
    [
        {"judgment": "grounded", "answer": "agree"},
        {"judgment": "key_point", "answer": "yes"},
        {"judgment": "keep", "answer": "keep"},
        {"judgment": "grounded", "answer": ""},
    ],
)
def test_the_database_knows_which_answer_goes_with_which_judgment(judge: Judge, wrong: dict[str, str]) -> None:
    make_questions(1, n_points=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        KeyPointVerdict.objects.create(
            judge=judge, key_point=KeyPoint.objects.get(), created_at=timezone.now(), **wrong
        )
