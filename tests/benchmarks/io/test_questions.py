"""Questions into the database and out again: all or nothing, idempotent, texts never change."""

import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from benchmarks.io.reading.problems import ImportFailed
from benchmarks.io.running import Report
from benchmarks.io.schemas import long2rag
from benchmarks.io.writers import questions_of
from benchmarks.models import AuditEvent, KeyPoint, Question, Response, Span, System
from summhay_site.demo.cast import read
from tests.running import output_of
from tests.taking_in import import_questions

pytestmark = pytest.mark.django_db
TEXT = "Ice stopped the boats for weeks. Fog did so for days."


def line(**fields) -> dict[str, Any]:
    points = [
        {"key": "ice", "text": "Ice.", "autods": 0.5, "spans": ["Ice stopped the boats", "Rails were laid down"]}
    ]
    responses = [{"system": "model-a", "text": "It froze."}]
    base = {"key": "q", "question": "Why?", "documents": [{"key": "d", "text": TEXT}]}
    return base | {"key_points": points, "responses": responses} | fields


def take(now: datetime, *lines: dict[str, Any], **kwargs) -> Report:
    return import_questions(long2rag.parse(lines), actor=None, now=now, **kwargs)


def stored() -> list[Any]:
    return list(questions_of(Question.objects.all()))


def test_what_comes_in_goes_out_the_same(now: datetime) -> None:
    questions = long2rag.parse(read("questions.jsonl"))
    import_questions(questions, dataset="demo", actor=None, now=now)
    assert stored() == list(questions)
    question = Question.objects.get(key=questions[0].key)
    assert question.n_words == sum(document.n_words for document in question.documents.all())


def test_importing_again_changes_nothing_and_leaves_no_trace(now: datetime) -> None:
    first = take(now, line())
    again = take(now, line())
    assert first.created == {
        "questions": 1, "documents": 1, "key_points": 1, "spans": 2, "systems": 1, "responses": 1
    }  # fmt: skip
    assert not any(again.created.values())
    assert not any(again.updated.values())
    assert again.unchanged == first.created
    assert AuditEvent.objects.filter(action="questions.imported").count() == 1


def test_a_span_that_was_not_found_is_stored_without_a_place(now: datetime) -> None:
    take(now, line())
    found, lost = Span.objects.order_by("number")
    assert (found.start, found.end, found.is_exact, found.match_ratio) == (0, 21, True, 1.0)
    assert (lost.is_located, lost.document, lost.match_ratio) == (False, None, None)
    # New key points and responses are added and scores and names corrected
    points = [
        {"key": "fog", "text": "Fog."},
        {"key": "ice", "text": "Ice.", "autods": 0.75, "spans": line()["key_points"][0]["spans"]},
    ]
    responses = [{"system": "model-b", "text": "Fog."}]
    report = take(now, line(category="causal", key_points=points, responses=responses))
    assert {kind for kind, count in report.created.items() if count} == {"key_points", "systems", "responses"}
    assert {kind for kind, count in report.updated.items() if count} == {"questions", "key_points"}
    assert list(KeyPoint.objects.values_list("key", "number", "autods")) == [("ice", 1, 0.75), ("fog", 2, None)]
    assert Response.objects.count() == 2
    assert Question.objects.get().category == "causal"
    assert take(now, line()).updated["questions"] == 0, "a file without a category takes none away"


def test_a_dry_run_counts_and_writes_nothing(now: datetime) -> None:
    assert take(now, line(), dry_run=True).created["spans"] == 2
    assert not Question.objects.exists()
    assert not System.objects.exists()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"question": "Why then?"}, "line 1.question"),
        ({"documents": [{"key": "d", "text": TEXT + " "}]}, "line 1, documents[0].text"),
        ({"documents": [{"key": "d", "text": TEXT}, "More."]}, "line 1.documents"),
        ({"key_points": [{"key": "ice", "text": "Snow."}]}, "line 1, key_points[0].text"),
        ({"key_points": [{"key": "ice", "text": "Ice.", "spans": ["Ice"]}]}, "line 1, key_points[0].spans"),
        ({"responses": [{"system": "model-a", "text": "It thawed."}]}, "line 1, responses[0].text"),
    ],
)  # fmt: skip
def test_a_text_that_is_in_never_changes_and_the_whole_file_is_refused(
    change: dict[str, Any], place: str, now: datetime
) -> None:
    take(now, line())
    before = stored()
    with pytest.raises(ImportFailed, match="never change") as caught:
        take(now, line(**change), line(key="new"))
    assert str(caught.value).startswith(place)
    assert stored() == before


def test_the_same_key_in_another_dataset_is_another_question(now: datetime) -> None:
    take(now, line())
    take(now, line(question="Why now?"), dataset="other")
    assert Question.objects.count() == 2
    assert System.objects.count() == 1
    with pytest.raises(ImportFailed, match="letters, digits"):
        take(now, line(), dataset="no good")


def test_the_database_refuses_half_a_place_and_a_score_over_1(now: datetime) -> None:
    take(now, line())
    for change in ({"start": None}, {"start": 9, "end": 9}, {"match_ratio": 0.5}, {"document": None}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Span.objects.filter(number=1).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        KeyPoint.objects.update(autods=1.01)


def test_export_costs_queries_by_fifties_and_not_by_questions(now: datetime, django_assert_num_queries) -> None:
    take(now, *(line(key=number) for number in range(60)))
    with django_assert_num_queries(1 + 2 * 4):
        assert len(stored()) == 60


def run(*args: str) -> str:
    return output_of(*args)


def test_the_commands_take_in_and_write_out_and_the_round_trip_is_the_identity(tmp_path: Path) -> None:
    source, out, again = (tmp_path / name for name in ("in.jsonl", "out.jsonl", "again.jsonl"))
    source.write_bytes(b"".join(long2rag.dump(long2rag.parse(read("questions.jsonl")))))
    assert (
        json.loads(run("import_dataset", "long2rag", str(source), "--dry-run", "--json"))["created"]["questions"]
        == 10
    )
    assert not Question.objects.exists()
    run("import_dataset", "long2rag", str(source), "--dataset", "demo")
    run("export_dataset", "long2rag", "--dataset", "demo", "--out", str(out))
    assert out.read_bytes() == source.read_bytes()
    report = json.loads(run("import_dataset", "long2rag", str(out), "--dataset", "demo", "--json"))
    assert (sum(report["created"].values()), sum(report["updated"].values())) == (0, 0)
    run("import_dataset", "long2rag", str(out), "--dataset", "copy")
    run("export_dataset", "long2rag", "--dataset", "copy", "--out", str(again))
    assert again.read_bytes() == source.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.jsonl", "in.jsonl", "out.jsonl"]


def test_a_bad_file_is_refused_with_exit_code_1_and_nothing_of_any_file_is_in(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(json.dumps(line()) + "\n", encoding="utf-8")
    bad.write_text(json.dumps(line(key="b")) + "\n" + json.dumps({"key": "c"}) + "\n", encoding="utf-8")
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("import_dataset", "long2rag", str(good), str(bad), "--json", stdout=out)
    report = json.loads(out.getvalue())
    assert ended.value.code == 1
    assert {(error["file"], error["where"]) for error in report["errors"]} == {("bad.jsonl", "line 2")}
    assert not Question.objects.exists()
    with pytest.raises(SystemExit):
        call_command("import_dataset", "long2rag", str(good), str(good), stdout=out, stderr=io.StringIO())
    assert not Question.objects.exists()


def test_exporting_a_dataset_that_is_not_there_names_those_that_are(now: datetime, tmp_path: Path) -> None:
    take(now, line(), dataset="canals")
    with pytest.raises(CommandError, match="no dataset “x” of questions; known datasets: canals"):
        call_command("export_dataset", "long2rag", "--dataset", "x", "--out", str(tmp_path / "x"))
