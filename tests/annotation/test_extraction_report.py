"""Extraction recall: points that people named, looked for among key points and those taken from responses."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.models import KeyPoint, Question, QuestionDocument
from benchmarks.scoring.keypoints import extraction_recall
from tests.makers_recall import NOW, extract, make_judge, make_response

POINTS = ("The ferry leaves the island at six.", "The pier was rebuilt in 2019.")


def test_points_are_pooled_and_questions_averaged() -> None:
    found = extraction_recall([("a", True), ("a", True), ("a", True), ("b", False)])
    assert (found["micro"].value, found["macro"].value) == (0.75, 0.5)
    assert extraction_recall([])["micro"].undefined_reason == "no named point was looked for"


def test_the_paper_s_figure_over_ten_questions_has_an_interval() -> None:
    drawn = [
        (question, (question, at) not in {(2, 0), (7, 1), (9, 2)}) for question in range(10) for at in range(20)
    ]
    micro = extraction_recall(drawn)["micro"]
    assert micro.value == 0.985
    assert micro.low is not None
    assert micro.high is not None
    assert 0.9 < micro.low < 0.985 < micro.high <= 1


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans())))
def test_recall_is_a_share(found: list[tuple[int, bool]]) -> None:
    for figure in extraction_recall(found).values():
        assert figure.value is None if not found else 0 <= (figure.value or 0) <= 1


@pytest.fixture
def question(db: None) -> Question:
    one = Question.objects.create(dataset="ferry", key="q1", text="What of the ferry?", n_words=9, created_at=NOW)
    QuestionDocument.objects.create(question=one, number=1, key="d", text=" ".join(POINTS), n_words=12)
    for number, text in enumerate(POINTS, 1):
        KeyPoint.objects.create(question=one, number=number, key=str(number), text=text)
    return one


def report(path: Path, *arguments: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("report", "extraction", str(path), *arguments, "--json", stdout=out)
    return dict(json.loads(out.getvalue()))


def written(tmp_path: Path, text: str, name: str = "points.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_named_points_are_found_by_people_and_by_words(question: Question, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "Question,point,found\n"
        "q1,The ferry leaves the island at six.,yes\n"
        "q1,The ferry leaves the island at six.,yes\n"
        "q1,Somebody repaired where boats land.,Yes\n"
        "q1,Fares rose by a tenth.,no\n"
        'q1,"The pier, rebuilt in 2019.",\n',
    )
    found = report(path)
    assert (found["n_points"], found["n_questions"]) == (4, 1)
    assert (found["people"]["n_points"], found["people"]["micro"]) == (3, pytest.approx(2 / 3))
    assert (found["lexical"]["n_points"], found["lexical"]["micro"]) == (4, 0.5)
    assert found["agreement"]["accuracy"] == pytest.approx(2 / 3)
    assert found["points"][-1]["closest"] == POINTS[1]
    out = io.StringIO()
    call_command("report", "extraction", str(path), stdout=out)
    assert "not found: q1: Fares rose by a tenth." in out.getvalue()
    assert "boats land" not in out.getvalue()


def test_points_of_a_response_are_looked_for_among_those_that_a_judge_took_from_it(
    question: Question, tmp_path: Path
) -> None:
    response = make_response("q1", system="heron", n_points=0, dataset="ferry")
    line = {"question": "q1", "system": "heron", "point": "Point 2."}
    path = written(tmp_path, json.dumps(line), "points.jsonl")
    with pytest.raises(CommandError, match="nobody has extracted points"):
        report(path, "--judge", "owl")
    extract(make_judge("owl"), response, 2)
    assert report(path, "--judge", "owl")["lexical"]["micro"] == 1.0
    with pytest.raises(CommandError, match="from a response of “heron” to “q1”"):
        report(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question,text\nq1,a\n", "head without point"),
        ("question,point\nq2,a\n", "row 2: there is no question “q2”"),
        ("question,point,found\nq1,a,perhaps\n", "yes, no or nothing"),
        ("question,point\nq1,\n", "not empty"),
        ("question,point\n", "at least one point"),
        ("question,point,system\nq1,a,<script>\n", "extracted"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(question: Question, tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        report(written(tmp_path, text))


def test_a_question_of_two_sets_must_be_named_with_its_set(question: Question, tmp_path: Path) -> None:
    make_response("q1", system="heron", n_points=1, dataset="other")
    path = written(tmp_path, "question,point\nq1,The ferry leaves the island at six.\n")
    with pytest.raises(CommandError, match="--dataset"):
        report(path)
    assert report(path, "--dataset", "ferry")["lexical"]["micro"] == 1.0
    with pytest.raises(CommandError, match="No such file"):
        report(tmp_path / "none.csv")
