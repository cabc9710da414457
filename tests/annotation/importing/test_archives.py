"""The archive of a study of every kind comes back on a fresh site: same labels, people, categories and figures."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from annotation.figures.people import agreement, as_json
from annotation.figures.table import PlainLabel, plain_table
from annotation.models import Assignment, EntailmentLabel, ExternalLabel, RatingLabel, Session, Snapshot, Study
from annotation.rating.results import results_of as ratings_of
from annotation.writing import scoring
from annotation.writing.curves import curve_rows
from benchmarks.engine import judging
from benchmarks.models import Haystack, Verdict
from benchmarks.scoring.keypoints import ENTAILMENTS
from benchmarks.scoring.likert import ASPECTS
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.test_validation import make_judged
from tests.makers import (
    fill_missing,
    make_assignment,
    make_haystack,
    make_session,
    make_summary,
    make_writing_study,
)
from tests.makers_topic import topic_json, write_topic
from tests.makers_verification import make_questions

pytestmark = pytest.mark.django_db
PEOPLE = ("--error-rate", "ann=0.05", "--error-rate", "bob=0.2", "--careless", "ivo")
POINTS = ("percent", "randolph", "fleiss", "ac1", "alpha_nominal", "alpha_ordinal", "correlation")


def run(*args: Any) -> str:
    out = io.StringIO()
    call_command(*map(str, args), stdout=out, stderr=out)
    return out.getvalue()


def archived(study: Study, folder: Path) -> Path:
    path = folder / "study.zip"
    run("export_study", "--study", study.name, "--out", path)
    return path


def fresh() -> None:
    """A site on which nobody has done anything yet."""
    connection.check_constraints()
    call_command("flush", interactive=False, verbosity=0)
    assert not Study.objects.exists()


def imported(path: Path, *args: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("import_dataset", "archive", path, "--json", *args).partition("\n")[2])
    return found


def figures(study: str, task: str = "") -> dict[str, Any]:
    of_task = ("--task", task) if task else ()
    found = json.loads(run("report", "agreement", "--study", study, *of_task, "--json"))
    pairs = sorted((one["randolph"], one["percent"]) for one in found["pairs"])
    return {**{name: found[name] for name in POINTS}, "q": found["q"], "pairs": pairs}


def figures_of(rows: list[PlainLabel], categories: tuple[str, ...]) -> dict[str, Any]:
    found = as_json(agreement(plain_table(rows, categories=categories), public=True))
    pairs = sorted((one["randolph"], one["percent"]) for one in found["pairs"])
    return {**{name: found[name] for name in POINTS}, "q": found["q"], "pairs": pairs}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    pairs = [[value for pair in found.pop("pairs") for value in pair] for found in (one, other)]
    return bool(one == pytest.approx(other) and pairs[0] == pytest.approx(pairs[1]))


def simulated(kind: str, *args: str) -> Study:
    run("simulate_labels", "--study", "Tried out", "--kind", kind, *args, *PEOPLE)
    study: Study = Study.objects.get(name="Tried out")
    return study


def pseudonyms(study: Study) -> list[str]:
    return [member.pseudonym for member in study.memberships.order_by("number")]


def people(study: Study) -> list[str]:
    return list(study.memberships.order_by("number").values_list("annotator__label", flat=True))


def test_linking_comes_back_with_its_judges(tmp_path: Path) -> None:
    study = make_labelled_study(summaries=make_summaries(n=10))
    before, n = figures(study.name), study.coveragelabels.count()
    judges = json.loads(run("report", "judges", "--study", study.name, "--json"))
    path = archived(study, tmp_path)
    fresh()
    assert imported(path)["created"]["labels"] == n
    back = Study.objects.get()
    assert (back.name, back.kind, back.state) == (study.name, "linking", "closed")
    assert people(back) == pseudonyms(back) == ["annotator1", "annotator2", "annotator3"]
    assert same(figures(back.name), before)
    again = json.loads(run("report", "judges", "--study", back.name, "--json"))
    assert [row["judge"] for row in again] == [row["judge"] for row in judges] == ["kind", "strict"]
    for name in ("exact_agreement", "quadratic_kappa"):
        assert [row[name] for row in again] == pytest.approx([row[name] for row in judges])
    assert Verdict.objects.count() == 60


def test_one_person_keeps_the_pseudonym(tmp_path: Path) -> None:
    study = make_labelled_study(summaries=make_summaries(n=4), people=("anna", "bert"))
    study.coveragelabels.filter(annotator__label="anna").delete()
    path = archived(study, tmp_path)
    fresh()
    imported(path)
    back = Study.objects.get()
    assert people(back) == ["annotator1", "annotator2"]
    assert set(back.coveragelabels.values_list("annotator__label", flat=True)) == {"annotator2"}


def test_key_points_come_back_with_both_judgments(tmp_path: Path) -> None:
    make_questions(8, n_points=5)
    study = simulated("verification", "--dataset", "harbours", "--control-share", "1")
    tasks = ("grounded", "key_point", "keep")
    before, n = {task: figures(study.name, task) for task in tasks}, study.pointlabels.count()
    path = archived(study, tmp_path)
    fresh()
    imported(path)
    back = Study.objects.get()
    assert back.categories == ["yes", "no", "agree", "neutral", "disagree"]
    assert people(back) == ["annotator1", "annotator2", "annotator3"]
    assert back.external_labels.filter(task="grounded").count() == n
    assert all(same(figures(back.name, task), before[task]) for task in tasks)


def figures_in(path: Path) -> dict[str, Any]:
    """The figures that an archive holds, by task."""
    with zipfile.ZipFile(path) as zipped:
        [name] = [name for name in zipped.namelist() if name.endswith("/figures.json")]
        tasks: dict[str, Any] = json.loads(zipped.read(name))["tasks"]
    return tasks


def test_an_archive_holds_figures_and_those_of_its_study_are_the_same_once_it_is_back(tmp_path: Path) -> None:
    make_questions(8, n_points=5)
    study = simulated("verification", "--dataset", "harbours", "--control-share", "1")
    before = figures_in(path := archived(study, tmp_path))
    fresh()
    imported(path)
    after = figures_in(archived(Study.objects.get(), tmp_path))
    assert set(before) == set(after) == {"grounded", "key_point", "keep"}
    for task, own in before.items():
        back = after[task]
        assert [back[name] for name in POINTS] == [own[name] for name in POINTS]
        ends = [[found["intervals"].get(name) for name in POINTS[:-1]] for found in (own, back)]
        assert ends[0] == ends[1], "of whatever all people say, clusters are drawn in the same order"
        shown = [[(pair["a"], pair["b"], pair["percent"]) for pair in found["pairs"]] for found in (own, back)]
        assert shown[0] == shown[1]
        people = [(row["annotator"], row["n"]) for row in own["per_annotator"]]
        assert [(row["annotator"], row["n"]) for row in back["per_annotator"]] == people


def test_validation_comes_back_with_its_three_answers_in_order(tmp_path: Path) -> None:
    make_judged(n=5)
    study = simulated("validation", "--judge", "strict", "--people-per-item", "3")
    names = dict(study.memberships.values_list("annotator", "number"))
    labels = EntailmentLabel.objects.filter(study=study).for_figures().order_by("pk")
    given = labels.values_list("annotator", "task__item", "answer", "response")
    rows = [PlainLabel(f"annotator{names[who]}", str(item), said, str(of)) for who, item, said, of in given]
    before = figures_of(rows, ENTAILMENTS)
    path = archived(study, tmp_path)
    fresh()
    imported(path)
    back = Study.objects.get()
    assert back.categories == list(ENTAILMENTS) == ["yes", "neutral", "no"]
    assert people(back) == ["annotator1", "annotator2", "annotator3"]
    assert back.external_labels.count() == len(rows)
    assert same(figures(back.name, "entailment"), before)


def test_ratings_come_back_aspect_by_aspect_and_without_those_that_are_not_whole(tmp_path: Path) -> None:
    haystack = make_haystack()
    for subtopic in haystack.subtopics.all():
        for system in ("model-a", "model-b", "model-c", "model-d"):
            make_summary(subtopic=subtopic, system=system)
    study = simulated("rating", "--haystack", haystack.title, "--people-per-item", "3")
    half = RatingLabel.objects.filter(study=study).first()
    RatingLabel.objects.filter(pk=half.pk).update(coherence=None, is_complete=False)
    before = {one.measure: one.people for one in ratings_of(study).report.measures}
    path = archived(study, tmp_path)
    fresh()
    imported(path)
    back = Study.objects.get()
    assert back.categories == ["1", "2", "3", "4", "5"]
    assert people(back) == ["annotator1", "annotator2", "annotator3"]
    assert set(back.external_labels.values_list("task", flat=True)) == set(ASPECTS)
    assert back.external_labels.count() == 5 * (3 * 8 - 1)
    for aspect in ASPECTS:
        found = figures(back.name, aspect)
        own = before[aspect]
        assert own is not None
        assert found["alpha_ordinal"] == pytest.approx(own.stats["alpha"].value)
        exact = [percent for _randolph, percent in found["pairs"]]
        assert sum(exact) / len(exact) == pytest.approx(own.stats["exact_agreement"].value)


def test_writing_comes_back_with_texts_at_every_mark_and_the_same_curves(
    ada: Any, ben: Any, tmp_path: Path
) -> None:
    topic = write_topic(tmp_path, topic_json())
    run("import_dataset", "summhay", topic)
    study = make_writing_study(haystack=Haystack.objects.get(), researcher=ada, annotators=[ben])
    task = make_assignment(annotator=ben, study=study, document_numbers=[2, 1], state=Assignment.State.DONE)
    texts = [(300_000, "- Boats leave at six. [1]"), (1_500_000, "- Boats leave at six. [1]\n- Four euros. [2]")]
    session = make_session(assignment=task, state=Session.State.SUBMITTED, revisions=texts, mark_every_ms=600_000)
    fill_missing(session=session, now=timezone.now())
    before = scored_curve(study)
    snapshots = list(session.snapshots.values_list("mark_ms", "kind", "text", "staleness_ms"))
    path = archived(study, tmp_path)
    fresh()
    missing = imported_with_errors(path)
    assert missing["errors"][0]["kind"] == "unknown_subtopic"
    assert not Study.objects.exists()
    run("import_dataset", "summhay", topic)
    assert imported(path)["created"] == {"sessions": 1, "snapshots": len(snapshots)}
    back = Study.objects.get()
    assert (back.name, back.kind, people(back)) == (study.name, "writing", ["annotator1"])
    [found] = Session.objects.all()
    assert (found.uid, found.state, found.acc_ms, found.document_numbers) == (
        session.uid, "submitted", session.acc_ms, [2, 1],
    )  # fmt: skip
    assert list(found.snapshots.values_list("mark_ms", "kind", "text", "staleness_ms")) == snapshots
    assert list(back.writing_plan.subtopics.values_list("key", flat=True)) == [task.subtopic.key]
    assert scored_curve(back) == before
    again = imported(path)
    assert (again["created"], again["unchanged"]["sessions"]) == ({"sessions": 0, "snapshots": 0}, 1)
    assert Snapshot.objects.count() == len(snapshots)


def scored_curve(study: Study) -> list[Any]:
    for judge_run in scoring.score_snapshots(now=timezone.now()):
        judging.run_pending(run=judge_run, clock=timezone.now)
    judge = judging.default_judge(now=timezone.now())
    found = [tuple(row) for row in curve_rows(study, judge)]
    assert len(found) > 2
    return found


def imported_with_errors(path: Path) -> dict[str, Any]:
    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("import_dataset", "archive", str(path), "--json", stdout=out, stderr=io.StringIO())
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_labels_made_elsewhere_keep_the_order_of_their_categories(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("annotator,item,label\nxena,1,low\nyuri,1,high\nxena,2,=mid\nyuri,2,=mid\nxena,3,high\n")
    run("import_labels", file, "--study", "Elsewhere", "--categories", "low,=mid,high")
    before = figures("Elsewhere")
    path = archived(Study.objects.get(), tmp_path)
    fresh()
    imported(path)
    back = Study.objects.get()
    assert back.categories == ["low", "=mid", "high"]
    found = figures("Elsewhere")
    assert {name: found[name] for name in POINTS} == pytest.approx({name: before[name] for name in POINTS})


def test_an_archive_can_come_back_beside_its_study_and_twice_changes_nothing(tmp_path: Path) -> None:
    make_questions(4, n_points=5)
    study = simulated("verification", "--dataset", "harbours", "--control-share", "1")
    path = archived(study, tmp_path)
    assert imported_with_errors(path)["errors"][0]["kind"] == "other_study"
    first, second = imported(path, "--name", "Beside"), imported(path, "--name", "Beside")
    assert (second["created"]["labels"], second["unchanged"]["labels"]) == (0, first["created"]["labels"])
    assert set(Study.objects.values_list("name", flat=True)) == {"Tried out", "Beside"}
    assert ExternalLabel.objects.count() == first["created"]["labels"]


ABOUT = b'{"study": {"name": "Odd", "kind": "%s"}, "corpora": []}'
NOBODY = b"annotator,joined_at,left_at\r\n"


@pytest.mark.parametrize(
    "content",
    [
        b"no zip",
        None,
        {"manifest.json": b"{}"},
        {"manifest.json": ABOUT % b"weaving", "annotators.csv": NOBODY},
        {"manifest.json": ABOUT % b"rating", "annotators.csv": NOBODY},
        {
            "manifest.json": ABOUT % b"writing",
            "annotators.csv": NOBODY,
            "sessions.jsonl": b'{"state": "submitted"}\n',
        },
        {"manifest.json": ABOUT % b"writing", "annotators.csv": NOBODY, "sessions.jsonl": b"[1]\n"},
    ],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "other.zip"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as zipped:
            for name, data in (content or {"readme.txt": b"hello"}).items():
                zipped.writestr(f"folder/{name}", data)
    assert imported_with_errors(path)["n_errors"] >= 1
    assert not Study.objects.exists()


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_the_labels_of_an_archive_are_plain_labels_too_with_their_categories_in_order(
    name: str, tmp_path: Path
) -> None:
    judge = make_judged(n=3)
    run("simulate_labels", "--study", "pairs", "--kind", "validation", "--judge", judge.name, *PEOPLE)
    run("simulate_labels", "--study", "points", "--dataset", "set-strict", *PEOPLE)
    haystack = make_haystack()
    make_summary(subtopic=haystack.subtopics.get(number=1))
    run("simulate_labels", "--study", "ratings", "--kind", "rating", "--haystack", haystack.title, *PEOPLE)
    for study in ("pairs", "points", "ratings"):
        with zipfile.ZipFile(archived(Study.objects.get(name=study), tmp_path)) as zipped:
            (tmp_path / name).write_bytes(zipped.read(f"{study}/{name}"))
        assert "warning" not in run("import_labels", tmp_path / name, "--study", f"{study} again")
    categories = dict(Study.objects.filter(kind="external").values_list("name", "categories"))
    assert categories == {
        "pairs again": ["yes", "neutral", "no"],
        "points again": ["yes", "no", "agree", "neutral", "disagree"],
        "ratings again": ["1", "2", "3", "4", "5"],
    }
