"""Reasons beside answers: why a point is not entailed, why a bullet covers no insight. Only where a study asks."""

import csv
import io
import re
import time

import pytest
from django.db import IntegrityError
from django.urls import reverse

from annotation.labelling.handling import TaskRefused
from annotation.linking import files
from annotation.linking.files import files_of, unlinked_of
from annotation.models import CoverageLabel, EntailmentLabel, LabelTask, Study, UnlinkedLabel
from annotation.validation.answers import PairAnswer
from annotation.validation.files import COLUMNS, label_rows
from annotation.validation.results import as_json, results_of
from annotation.validation.sheet import sheet
from annotation.work.views import last_answers
from benchmarks.results.writing import long_rows
from benchmarks.web.downloads import PROGRAMS
from tests.annotation.test_linking_pages import JSON, choose
from tests.annotation.test_validation import first, make, make_judged, say
from tests.makers import NOW, label_task, label_url, make_linking_study

pytestmark = pytest.mark.django_db


# Why a point is not entailed


def test_a_reason_stands_after_neutral_and_no_and_goes_with_a_yes(ben) -> None:
    task = first(make([ben], make_judged(), asks_why_not=True), ben)
    assert say(task, "no", why_not="missing").answer.why_not == "missing"
    assert say(task, "neutral", why_not="general").answer == PairAnswer("neutral", why_not="general")
    assert say(task, "yes", why_not="general").answer == PairAnswer("yes")
    assert say(task, "no", op="plain").task.state == "done"  # it is optional
    assert list(EntailmentLabel.objects.order_by("pk").values_list("why_not", flat=True)) == [
        *("missing", "general", "", "")
    ]
    with pytest.raises(TaskRefused, match="Reasons are"):
        say(task, "no", op="odd", why_not="tired")
    with pytest.raises(IntegrityError):
        EntailmentLabel.objects.filter(answer="yes").update(why_not="missing")


def test_undo_brings_a_reason_back_and_says_what_it_took(ben, as_ben) -> None:
    task = first(make([ben], make_judged(), asks_why_not=True), ben)
    for data in ({"answer": "no", "why": "contradicted"}, {"answer": "no", "why": "missing"}):
        assert as_ben.post(label_url("label-choice", task), data, headers=JSON).json()["why_not"] == data["why"]
    undone = as_ben.post(label_url("label-undo", task), headers=JSON).json()
    assert undone["why_not"] == "contradicted"
    assert "no, not mentioned" in undone["message"]


@pytest.mark.parametrize(
    ("answer", "fitting", "others"),
    [
        ("neutral", ("incomplete", "general"), ("missing", "contradicted")),
        ("no", ("missing", "contradicted"), ("incomplete", "general")),
    ],
)
def test_each_answer_has_reasons_of_its_own(
    ben, as_ben, answer: str, fitting: tuple[str, ...], others: tuple[str, ...]
) -> None:
    task = first(make([ben], make_judged(), asks_why_not=True), ben)

    def post(why: str):
        return as_ben.post(label_url("label-choice", task), {"answer": answer, "why": why}, headers=JSON)

    page = as_ben.get(label_url("label-task", task)).text
    for why in fitting:
        assert post(why).json()["why_not"] == why
        assert re.search(rf'data-reason-of="{answer}"><input type="radio" name="why" value="{why}"', page)
    for why in others:
        assert (post(why).status_code, post(why).json()["code"]) == (409, "reason_of_another_answer")


def test_a_reason_that_was_stored_with_another_answer_stays_valid(ben, as_ben) -> None:
    """Until each answer had its own, any reason could be given with neutral or no."""
    study = make([ben], make_judged(), asks_why_not=True)
    task = first(study, ben)
    say(task, "no", why_not="missing")
    EntailmentLabel.objects.update(why_not="incomplete")
    page = as_ben.get(label_url("label-task", task)).text
    assert re.search(r'data-reason-of="no"><input type="radio" name="why" value="incomplete"\s+checked', page)
    data = {"answer": "no", "why": "incomplete", "unsure": "1"}
    assert as_ben.post(label_url("label-choice", task), data, headers=JSON).json()["why_not"] == "incomplete"
    [row] = [row for row in results_of(study).reasons if row.of == "annotator"]
    assert row.counts["incomplete"] == 1
    assert "incomplete" in [row[list(COLUMNS).index("why_not")] for row in label_rows(study)]


def test_a_study_that_asks_for_no_reason_shows_and_stores_none(ben, as_ben) -> None:
    study = make([ben], make_judged())
    task = first(study, ben)
    assert b"data-why" not in as_ben.get(label_url("label-task", task)).content
    as_ben.post(label_url("label-choice", task), {"answer": "no", "why": "missing"}, headers=JSON)
    assert EntailmentLabel.objects.get().why_not == ""
    assert results_of(study).reasons == ()
    asking = make([ben], make_judged(name="other"), asks_why_not=True)
    assert b"data-why" in as_ben.get(label_url("label-task", first(asking, ben))).content


def test_reasons_are_counted_by_annotator_and_system_and_are_in_every_file(ben, cleo) -> None:
    study = make([ben, cleo], make_judged(systems=("alpha",)), n=3, asks_why_not=True)
    given = ("missing", "contradicted", "")
    for task, why_not in zip(study.label_tasks.filter(annotator__user=ben).order_by("pk"), given, strict=True):
        say(task, "no", why_not=why_not)
    for task in study.label_tasks.filter(annotator__user=cleo):
        say(task, "yes", op="cleo")
    found = results_of(study, public=True)
    assert {(row.of, row.n) for row in found.reasons} == {("annotator", 3), ("system", 3)}
    [mine] = [row for row in found.reasons if row.of == "annotator"]
    assert list(mine.counts.values()) == [0, 0, 1, 1, 1]
    counts = {"incomplete": 0, "general": 0, "missing": 1, "contradicted": 1, "none_given": 1}
    assert as_json(found)["why_not"][1] == {"of": "system", "name": "alpha", "n": 3, **counts}
    assert ("why-not", "alpha", "missing", 1, None, None, None, None, "", "", "") in list(long_rows(sheet(found)))
    at = list(COLUMNS).index("why_not")
    assert sorted(row[at] for row in label_rows(study)) == ["", "", "", "", "contradicted", "missing"]


def test_the_results_page_shows_reasons(ada, as_ada, ben) -> None:
    study = make([ben], make_judged(), by=ada, asks_why_not=True)
    say(first(study, ben), "neutral", why_not="incomplete")
    html = as_ada.get(reverse("annotation:study-figures", args=[study.uid])).text
    assert "Why not entailed" in html
    assert "No reason given" in html


# Why a bullet covers no insight


@pytest.fixture
def study(ada, ben, cleo) -> Study:
    return make_linking_study(annotators=[ben, cleo], researcher=ada, people_per_item=2, asks_unlinked=True)


@pytest.fixture
def later():
    """Let some time pass: acts of one moment have no order."""
    return lambda: time.sleep(0.002)


def give(client, task: LabelTask, **reasons: str):
    fields = {name.replace("line_", "reason-"): reason for name, reason in reasons.items()}
    return client.post(label_url("label-choice", task), {"beside": "1", **fields}, headers=JSON)


def finish(client, task: LabelTask, line: int) -> None:
    """Link the first insight to a line, and no other."""
    n = task.item.summary.subtopic.insights.count()
    for at in range(n):
        choose(client, task, "full" if at == 0 else "none", line if at == 0 else None, at)


def test_reasons_are_stored_beside_and_do_not_answer_the_task(study: Study, ben, as_ben) -> None:
    task = label_task(study, ben)
    body = give(as_ben, task, line_3="general", line_4="unsupported").json()
    assert body["reasons"] == [[3, "general"], [4, "unsupported"]]
    assert (body["n_answered"], body["state"]) == (0, "begun")
    assert UnlinkedLabel.objects.get().reasons == {"3": "general", "4": "unsupported"}
    finish(as_ben, task, 3)
    task.refresh_from_db()
    assert (task.state, task.n_answered) == ("done", task.n_questions)
    assert as_ben.get(label_url("label-task", task)).text.count("data-unlinked-line") == 3
    assert CoverageLabel.objects.filter(is_current=True).count() == task.n_questions


@pytest.mark.parametrize(
    ("fields", "code"), [({"line_3": "boring"}, "invalid"), ({"line_99": "general"}, "no_such_line")]
)
def test_what_is_no_reason_is_refused(study: Study, ben, as_ben, fields, code: str) -> None:
    answer = give(as_ben, label_task(study, ben), **fields)
    assert (answer.status_code, answer.json()["code"]) == (409, code)
    assert not UnlinkedLabel.objects.exists()


def test_a_study_that_does_not_ask_takes_no_reason(ben, as_ben) -> None:
    task = label_task(make_linking_study(annotators=[ben]), ben)
    assert give(as_ben, task, line_3="general").status_code == 409
    assert b"data-unlinked" not in as_ben.get(label_url("label-task", task)).content


def test_undo_takes_back_whatever_was_last(study: Study, ben, as_ben, later) -> None:
    task = label_task(study, ben)
    choose(as_ben, task, "none")
    later()
    give(as_ben, task, line_3="general")
    later()
    give(as_ben, task, line_3="unsupported")
    later()
    undo = label_url("label-undo", task)
    first_undo = as_ben.post(undo, {"op_id": "u1"}, headers=JSON).json()
    assert (first_undo["reasons"], "unsupported" in first_undo["message"]) == ([[3, "general"]], True)
    assert as_ben.post(undo, {"op_id": "u1"}, headers=JSON).json()["reasons"] == [[3, "general"]]
    later()
    assert as_ben.post(undo, {"op_id": "u2"}, headers=JSON).json()["reasons"] == []
    later()
    assert as_ben.post(undo, {"op_id": "u3"}, headers=JSON).json()["coverage"] == ""
    assert as_ben.post(undo, {"op_id": "u4"}, headers=JSON).json() == {"nothing": True}


def test_a_bullet_that_is_linked_counts_for_nothing(study: Study, ben, as_ben, cleo) -> None:
    task = label_task(study, ben)
    give(as_ben, task, line_3="general", line_4="subtopic")
    assert list(unlinked_of(study)) == []  # the task is not done
    finish(as_ben, task, 3)
    rows = [(line, reason) for _person, _summary, line, reason, _label in unlinked_of(study)]
    assert (3, "general") not in rows
    assert (4, "subtopic") in rows
    assert all(reason == "" for line, reason in rows if line != 4)


def test_reasons_are_among_the_last_answers(study: Study, ben, as_ben, later) -> None:
    task = label_task(study, ben)
    choose(as_ben, task, "none")
    later()
    give(as_ben, task, line_3="general", line_4="unsupported")
    reasons, coverage = last_answers(task.annotator)
    assert coverage.answer == "none"
    assert reasons.question.text.count("\n") == 1
    assert "too general" in reasons.answer
    assert "Bullets that cover no insight" in as_ben.get(reverse("annotation:last-answers")).text


def test_reasons_are_in_the_archive_and_on_the_overview(study: Study, as_ada, ben, as_ben) -> None:
    task = label_task(study, ben)
    give(as_ben, task, line_4="subtopic")
    finish(as_ben, task, 3)
    [file] = [one for one in files_of(study, NOW) if one.name == "bullets.csv"]
    text = "".join(part if isinstance(part, str) else part.decode() for part in file.make(reader=PROGRAMS))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert set(rows[0]) == set(files.UNLINKED_COLUMNS)
    [row] = [row for row in rows if row["label"]]
    assert (row["annotator"], row["line"], row["label"]) == ("annotator1", "4", "subtopic")
    assert row["bullet_text"]
    html = as_ada.get(reverse("annotation:study", args=[study.uid])).text
    assert "Bullets that cover no insight" in html
    plain = make_linking_study(annotators=[], name="Plain", haystack=task.item.summary.haystack, summaries=[])
    assert "bullets.csv" not in {one.name for one in files_of(plain, NOW)}
