"""A kind of study in one file has results in every form that any kind has them in."""

import io
import json
import zipfile

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.urls import reverse

from annotation.exports import views as exports
from annotation.kinds import kind_named
from annotation.models import CoverageLabel, LabelTask, Study
from annotation.results.frames import frame_of
from annotation.results.of_labels import LabelResults
from annotation.results.study import CARD, HEADLINE, OfStudy
from annotation.results.table import UnknownLabel
from benchmarks.models import Judge, Result, Verdict
from benchmarks.results import stored
from benchmarks.results.computation import CannotCompute
from benchmarks.web.downloads import is_available
from tests.annotation.toy_kind import KIND
from tests.makers import NOW, annotator_of, flat, make_haystack, make_linking_study
from tests.makers_recall import make_judge
from tests.running import csv_rows, json_of, output_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("grading")]
LEVELS = ("none", "partial", "full")


def graded(people, *, by, judge: str = "owl") -> Study:
    """Four summaries of two subtopics; the second person differs in two of ten labels."""
    study = make_linking_study(
        haystack=make_haystack(), annotators=people, researcher=by, people_per_item=len(people)
    )
    Study.objects.filter(pk=study.pk).update(kind=KIND.value, name="Grades")
    study.refresh_from_db()
    for place, person in enumerate(people):
        at = 0
        for task in study.label_tasks.filter(annotator=annotator_of(person)).order_by("item__pk"):
            for insight in task.item.summary.subtopic.insights.order_by("number"):
                _label(task, insight, LEVELS[(at + (place > 0 and at % 4 == 3)) % 3], at=at)
                at += 1
            _finish(task, active_ms=4_000 + 8_000 * place)
    if judge:
        owl = make_judge(judge)
        for label in CoverageLabel.objects.filter(annotator=annotator_of(people[0])):
            _judge(owl, label)
    return study


def _finish(task: LabelTask, *, active_ms: int) -> None:
    LabelTask.objects.filter(pk=task.pk).update(
        state="done", n_answered=F("n_questions"), active_ms=active_ms, done_at=NOW
    )


def _label(task: LabelTask, insight, level: str, *, at: int, **more) -> CoverageLabel:
    said = {"coverage": level, "is_linked": level != "none", "lines": [3] if level != "none" else []}
    row = {"is_complete": True, "is_unsure": at % 5 == 0, "op_id": f"op-{at}", "made_at": NOW} | said | more
    return CoverageLabel.objects.create(
        study=task.study, annotator=task.annotator, task=task, summary=task.item.summary, insight=insight, **row
    )


def _judge(judge: Judge, label: CoverageLabel) -> None:
    Verdict.objects.create(
        judge=judge, summary=label.summary, insight=label.insight, coverage=label.coverage,
        lines=label.lines, is_linked=label.is_linked, created_at=NOW,
    )  # fmt: skip


def url(study: Study, name: str = "") -> str:
    if name:
        return reverse("annotation:study-figures-file", args=[study.uid, name])
    return reverse("annotation:study-figures", args=[study.uid])


def test_its_page_shows_people_judges_and_how_each_person_worked(
    ada, as_ada, ben, cleo, django_assert_max_num_queries
) -> None:
    study = graded((ben, cleo), by=ada)
    assert kind_named("grading").results_page == "annotation:study-figures"
    as_ada.get(url(study))
    with django_assert_max_num_queries(20):
        answer = as_ada.get(url(study))
    shown = flat(answer.content.decode())
    for words in ("People agree most on “", "Doubts", "Each person"):
        assert words in shown
    assert "owl agrees with people" in as_ada.get(url(study), {"view": "judges"}).text
    sheet = answer.context["sheet"]
    keys = {table.key for table in sheet.tables}
    assert keys >= {
        *("grade-matrix", "grade-pairs", "grade-without", "grade-labels", "grade-judges", "grade-confusion-1"),
        *("doubt-matrix", "doubt-pairs", "speed", "grade-given", "doubt-given"),
    }
    measures = {measure.key for measure in sheet.table("grade-judges").measures}
    assert "pearson" in measures
    assert "linking" not in measures, "nothing can be linked in an answer that is one field"
    n = CoverageLabel.objects.filter(annotator=annotator_of(ben)).count()
    (pair,) = sheet.table("grade-pairs").rows
    assert (pair.names, pair.value("n")) == (("Ben", "Cleo"), n)
    assert pair.value("percent").value == pytest.approx(0.8)
    speed = {row.names[0]: row for row in sheet.table("speed").rows}
    assert {name: row.value("median") for name, row in speed.items()} == {"Ben": 4.0, "Cleo": 12.0}
    assert {name: row.value("fast").value for name, row in speed.items()} == {"Ben": 1.0, "Cleo": 0.0}
    given = {row.names[0]: row for row in sheet.table("grade-given").rows}
    assert given["Ben"].value("n") == n
    assert sum(given["Cleo"].value(level) for level in LEVELS) == n


def test_its_figures_are_files_under_pseudonyms_and_in_the_archive(ada, as_ada, ben, cleo) -> None:
    study = graded((ben, cleo), by=ada)
    plain = as_ada.get(url(study, "figures.json")).json()
    people = plain["questions"]["grade"]["people"]
    assert (people["percent"], people["annotators"]) == (0.8, ["annotator1", "annotator2"])
    assert [row["judge"] for row in plain["questions"]["grade"]["judges"]] == ["owl"]
    assert [row["annotator"] for row in plain["annotators"]] == ["annotator1", "annotator2"]
    whole = csv_rows(as_ada.get(url(study, "figures.csv")).getvalue())
    found = {(row["part"], row["row"], row["figure"]): row["value"] for row in whole}
    assert found["grade-pairs", "annotator1 | annotator2", "percent"] == "0.8"
    assert float(found["speed", "annotator2", "median"]) == 12
    (pair,) = csv_rows(as_ada.get(url(study, "grade-pairs.csv")).getvalue())
    assert (pair["a"], pair["b"], pair["percent"]) == ("annotator1", "annotator2", "0.8")
    tex = as_ada.get(url(study, "grade-pairs.tex")).getvalue().decode()
    assert "80.0" in tex
    assert "annotator1" in tex
    drawn = as_ada.get(url(study, "grade-forest.svg"))
    assert (drawn.status_code, drawn.headers["Content-Type"]) == (200, "image/svg+xml")
    assert b"owl" in drawn.content
    if is_available():
        import pyarrow.parquet as pq

        table = pq.read_table(io.BytesIO(as_ada.get(url(study, "figures.parquet")).getvalue()))
        assert table.num_rows == len(whole)
    assert as_ada.get(url(study, "nothing.csv")).status_code == 404
    everything = json.dumps(plain) + json.dumps(whole) + tex
    assert "Ben" not in everything
    assert "Cleo" not in everything
    answer = as_ada.get(reverse("annotation:study-archive-file", args=[study.uid]))
    with zipfile.ZipFile(io.BytesIO(answer.getvalue())) as archive:
        plain = json.loads(archive.read("grades/figures.json"))
        in_csv = archive.read("grades/figures.csv").decode()
        sheet = archive.read("grades/README.md").decode()
    in_file = as_ada.get(url(study, "figures.json")).json()
    del in_file["data_version"]
    assert plain == in_file
    assert csv_rows(in_csv) == csv_rows(as_ada.get(url(study, "figures.csv")).getvalue())
    assert "figures.csv" in sheet


def test_card_headline_and_console_follow(ada, as_ada, ben, cleo, monkeypatch: pytest.MonkeyPatch) -> None:
    study = graded((ben, cleo), by=ada)
    headline = HEADLINE.compute(OfStudy(study.pk))
    assert (headline.n_people, headline.n_judges) == (2, 1)
    assert headline.percent.value == 0.8
    assert [row["series"] for row in CARD.compute(OfStudy(study.pk)).chart.rows]
    shown = output_of("report", "results", "--study", "Grades")
    assert shown.startswith("Grades\n")
    assert "annotator1" in shown
    assert "Ben" not in shown
    told = json_of("report", "results", "--study", study.uid)
    in_file = as_ada.get(url(study, "figures.json")).json()
    del in_file["data_version"]
    assert told == in_file
    with pytest.raises(UnknownLabel, match="annotator1: “none” is none of partial, full"):
        frame_of(study, model=CoverageLabel, value="coverage", categories=("partial", "full"))
    kind = kind_named(study.kind)
    monkeypatch.setattr(kind, "results", None)
    with pytest.raises(CommandError, match=f"has other reports: its kind is {kind.label}"):
        call_command("report", "results", "--study", "Grades")


def test_without_judges_people_are_drawn_in_pairs(ada, as_ada, ben, cleo, dot) -> None:
    study = graded((ben, cleo, dot), by=ada, judge="")
    sheet = as_ada.get(url(study)).context["sheet"]
    assert [chart.name for chart in sheet.charts] == ["grade-each-pair", "doubt-each-pair"]
    assert sheet.table("grade-judges") is None
    assert len(csv_rows(as_ada.get(url(study, "grade-each-pair.csv")).getvalue())) == 3
    chart = CARD.compute(OfStudy(study.pk)).chart
    assert chart.title == "Agreement of annotators"


def test_before_the_first_answer_the_page_says_so(ada, as_ada, ben) -> None:
    study = make_linking_study(haystack=make_haystack(), annotators=[ben], researcher=ada)
    Study.objects.filter(pk=study.pk).update(kind=KIND.value)
    assert b"There are no answers yet" in as_ada.get(url(study)).content
    assert HEADLINE.compute(OfStudy(study.pk)).n_items == 0
    assert CARD.compute(OfStudy(study.pk)).chart is None


def test_an_archive_waits_for_figures_that_a_worker_computes(
    ada, as_ada, ben, cleo, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reverse("annotation:study-archive-file", args=[graded((ben, cleo), by=ada).uid])
    settings.RESULTS_AT_ONCE = False
    monkeypatch.setattr(exports, "FILE_WAIT_S", 0)
    monkeypatch.setattr(stored, "enqueue", lambda *args: None)
    assert as_ada.get(address).status_code == 503
    stored.compute(uid=Result.objects.get(name="labels").uid, clock=lambda: NOW)
    assert as_ada.get(address).status_code == 503, "workers draw the charts, too"
    for drawing in Result.objects.filter(name="chart file"):
        stored.compute(uid=drawing.uid, clock=lambda: NOW)
    assert as_ada.get(address).status_code == 200


def test_an_archive_says_why_there_are_no_figures(ada, as_ada, ben, cleo, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(self, study: Study):
        raise CannotCompute("The scale was changed.")

    study = graded((ben, cleo), by=ada)
    monkeypatch.setattr(LabelResults, "labels", cannot)
    answer = as_ada.get(reverse("annotation:study-archive-file", args=[study.uid]))
    with zipfile.ZipFile(io.BytesIO(answer.getvalue())) as archive:
        assert json.loads(archive.read("grades/figures.json")) == {"reason": "The scale was changed."}
        assert archive.read("grades/figures.csv").decode().startswith("part,row,figure")
