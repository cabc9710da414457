"""Extraction recall: points that people named, looked for among key points and those taken from responses."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.models import KeyPoint, Question, QuestionDocument
from benchmarks.recall import extraction
from benchmarks.scoring.keypoints import extraction_recall
from tests.makers import flat
from tests.makers_recall import NOW, extract, make_judge, make_response
from tests.running import json_of, output_of

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
    assert 0.89 < micro.low < 0.985 < micro.high <= 1


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
    return dict(json_of("report", "extraction", path, *arguments))


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
    shown = output_of("report", "extraction", path)
    assert re.search(r"Not found\n.*\nq1 .* Fares rose by a tenth\. ", shown)
    assert "boats land" not in shown


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


PAGE = "/questions/recall/extraction/"


def uploaded(text: str, name: str = "points.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def test_the_page_shows_what_the_command_says(question: Question, as_ada, tmp_path: Path) -> None:
    text = (
        "question,point,found\nq1,The ferry leaves the island at six.,yes\n"
        "q1,Fares rose by a tenth.,no\nq1,A whale was seen.,\n"
    )
    page = as_ada.post(PAGE, {"points": uploaded(text), "dataset": "ferry"})
    sheet, said = page.context["sheet"], report(written(tmp_path, text))
    people, lexical = sheet.table("extraction").rows
    assert people.number("micro") == said["people"]["micro"] == 0.5
    assert lexical.number("macro") == said["lexical"]["macro"] == pytest.approx(1 / 3)
    assert lexical.number("accuracy") == said["agreement"]["accuracy"]
    assert [row.names[2] for row in sheet.table("missing").rows] == ["Fares rose by a tenth.", "A whale was seen."]
    assert "A whale was seen." in page.content.decode()


def test_the_page_says_what_is_wrong_with_a_file(
    question: Question, as_ada, monkeypatch: pytest.MonkeyPatch
) -> None:
    for files, said in (
        ({}, "Choose a file."),
        ({"points": uploaded("question,point\nq9,a\n")}, "there is no question “q9”"),
        ({"points": uploaded('{"question": "q1"', "points.jsonl")}, "line 1"),
    ):
        answer = as_ada.post(PAGE, files)
        assert answer.status_code == 422
        assert said in flat(answer.content.decode())
    monkeypatch.setattr(extraction, "MOST_BYTES", 20)
    assert as_ada.post(PAGE, {"points": uploaded("question,point\nq1,a pier\n")}).status_code == 422


def test_points_of_a_response_need_whoever_extracted_them(question: Question, as_ada) -> None:
    response = make_response("q1", system="heron", n_points=0, dataset="ferry")
    judge = make_judge("owl")
    extract(judge, response, 2)
    line = json.dumps({"question": "q1", "system": "heron", "point": "Point 2."})
    sent = {"points": uploaded(line, "points.jsonl")}
    assert "nobody has extracted points" in as_ada.post(PAGE, sent).content.decode()
    sent = {"points": uploaded(line, "points.jsonl"), "judge": str(judge.uid)}
    assert as_ada.post(PAGE, sent).context["sheet"].table("extraction").rows[1].number("micro") == 1.0
