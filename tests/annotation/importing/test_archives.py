"""The archive of a study of every kind comes back on a fresh site: same labels, people, categories and figures."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.utils import timezone

from annotation.models import Assignment, PointLabel, RatingLabel, Session, Snapshot, Study, TypedText
from annotation.writing import scoring
from annotation.writing.curves import curve_rows
from benchmarks.engine import judging, versions
from benchmarks.judges.aspects import ASPECTS
from benchmarks.models import (
    AutodsScore,
    Haystack,
    KeyPoint,
    KeyPointVerdict,
    PointVerdict,
    SummaryRating,
    System,
    Verdict,
)
from tests.annotation.archive_tables import agreement, figure, tables_of
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.test_validation import make_judged
from tests.audit.altering import read_members, sealed, write_members
from tests.makers import (
    fill_missing,
    make_assignment,
    make_haystack,
    make_session,
    make_summary,
    make_writing_study,
)
from tests.makers_recall import make_judge
from tests.makers_topic import topic_json, write_topic
from tests.makers_verification import make_questions
from tests.running import csv_rows, json_of, told_by

pytestmark = pytest.mark.django_db
PEOPLE = ("--error-rate", "ann=0.05", "--error-rate", "bob=0.2", "--careless", "ivo")
POINTS = ("percent", "randolph", "fleiss", "ac1", "alpha_nominal", "alpha_ordinal", "correlation")


def run(*args) -> str:
    out = io.StringIO()
    call_command(*map(str, args), stdout=out, stderr=out)
    return out.getvalue()


def archived(study: Study, folder: Path) -> Path:
    path = folder / "study.zip"
    run("export_study", "--study", study.name, "--out", path)
    tables_of(path)
    return path


def fresh() -> None:
    """A site on which nobody has done anything yet."""
    connection.check_constraints()
    call_command("flush", interactive=False, verbosity=0)
    assert not Study.objects.exists()


def imported(path: Path, *args) -> dict[str, Any]:
    return json_of("import_dataset", "archive", path, *args)


def figures(study: str, task: str = "") -> dict[str, Any]:
    of_task = ("--task", task) if task else ()
    found = json_of("report", "agreement", "--study", study, *of_task)
    pairs = sorted((one["randolph"], one["percent"]) for one in found["pairs"])
    return {**{name: found[name] for name in POINTS}, "q": found["q"], "pairs": pairs}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    pairs = [[value for pair in found.pop("pairs") for value in pair] for found in (one, other)]
    return bool(one == pytest.approx(other) and pairs[0] == pytest.approx(pairs[1]))


def simulated(kind: str, *args: str) -> Study:
    run("simulate_labels", "--study", "Tried out", "--kind", kind, *args, *PEOPLE)
    return Study.objects.get(name="Tried out")


def people(study: Study) -> list[str]:
    return list(study.memberships.order_by("number").values_list("annotator__label", flat=True))


def test_linking_comes_back_with_answers_that_could_not_be_used(tmp_path: Path) -> None:
    summaries = make_summaries(n=10)
    System.objects.update(summarizer=F("key"), retriever="")  # as an import reads the key
    study = make_labelled_study(summaries=summaries, judges=("mute", "strict", "torn"))
    said = Verdict.objects.order_by("pk")
    some = list(said.filter(judge__name="torn").values_list("pk", flat=True))[::4]
    unusable = said.filter(judge__name="mute") | said.filter(pk__in=some)
    unusable.update(coverage="", lines=[], is_linked=False, is_valid=False)
    said.filter(judge__name="strict", summary__in=summaries[6:]).delete()
    before = all_figures(path := archived(study, tmp_path))
    tables = tables_of(path)
    assert agreement(tables["labels.csv"]) == pytest.approx(figure(tables, "agreement", "", "percent"))
    verdicts = tables["verdicts.csv"]
    assert (~verdicts["is_valid"]).sum() == 30 + len(some)
    both = tables["labels.csv"].merge(verdicts.query("judge == 'torn'").dropna(subset=["label"]), on="item")
    shares = (both["label_x"] == both["label_y"]).groupby(both["annotator"]).mean()
    assert shares.mean() == pytest.approx(figure(tables, "judges", "torn", "exact_agreement"))
    fresh()
    imported(path)
    assert Verdict.objects.filter(is_valid=False).count() == 30 + len(some)
    assert not Verdict.objects.filter(is_valid=False, breaks_rule=True).exists()
    assert all_figures(archived(Study.objects.get(), tmp_path)) == before


def test_one_that_calls_approvals_licences_comes_back_and_calls_them_approvals(tmp_path: Path) -> None:
    before = read_members(path := archived(make_labelled_study(summaries=make_summaries(n=4)), tmp_path))
    assert {"approval", "name"} <= json.loads(before["judges.json"])[0].keys()
    older = {name: data.replace(b"approval", b"licence") for name, data in before.items()}
    assert {"judges.json", "figures.csv"} <= {name for name, data in before.items() if data != older[name]}
    fresh()
    imported(write_members(path, sealed(older)))
    again = read_members(archived(Study.objects.get(), tmp_path))
    assert "approval" in json.loads(again["judges.json"])[0]
    assert b"judge_approvals" in again["figures.csv"]
    assert again["labels.csv"].count(b"\n") == before["labels.csv"].count(b"\n") > 10


def test_one_person_keeps_the_pseudonym(tmp_path: Path) -> None:
    study = make_labelled_study(summaries=make_summaries(n=4), people=("anna", "bert"))
    study.coveragelabels.filter(annotator__label="anna").delete()
    path = archived(study, tmp_path)
    fresh()
    imported(path)
    back = Study.objects.get()
    assert people(back) == ["annotator1", "annotator2"]
    assert set(back.coveragelabels.values_list("annotator__label", flat=True)) == {"annotator2"}


def all_figures(path: Path) -> dict[str, str]:
    """Every figure of an archive with its interval, by table, row and name; and what `figures.json` has."""
    with zipfile.ZipFile(path) as zipped:
        [table, plain] = [
            next(zipped.read(name) for name in zipped.namelist() if name.endswith(f"/figures.{ending}"))
            for ending in ("csv", "json")
        ]
    rows = csv_rows(table)
    assert rows
    return {f"{row['part']}|{row['row']}|{row['figure']}": str(row) for row in rows} | {"plain": plain.decode()}


def test_key_points_come_back_with_every_figure_and_their_judges(tmp_path: Path) -> None:
    questions = make_questions(8, n_points=5)
    study = simulated("verification", "--dataset", "harbours", "--control-share", "1")
    judge = make_judge("strict", kind="imported")
    for at, point in enumerate(KeyPoint.objects.filter(question__in=questions)):
        answer = "yes" if at % 3 else "no"
        values = {"judge": judge, "key_point": point, "created_at": timezone.now()}
        KeyPointVerdict.objects.create(
            judgment="grounded", answer=answer if at % 5 else "", is_valid=bool(at % 5), **values
        )
        AutodsScore.objects.create(value=at / 100, **values)
    before, n = all_figures(path := archived(study, tmp_path)), study.pointlabels.count()
    tables = tables_of(path)
    labels = tables["labels.csv"].query("task == 'grounded'")
    assert agreement(labels) == pytest.approx(figure(tables, "grounded-agreement", "", "percent"))
    assert (len(tables["verdicts.csv"]), (~tables["verdicts.csv"]["is_valid"]).sum()) == (40, 8)
    fresh()
    assert imported(path)["created"]["labels"] > 0
    back = Study.objects.get()
    assert (back.kind, back.state) == ("verification", "closed")
    assert people(back) == ["annotator1", "annotator2", "annotator3"]
    assert back.pointlabels.count() == n
    assert all_figures(archived(back, tmp_path)) == before
    assert "strict" in before["plain"]


def test_validation_comes_back_with_every_figure_and_its_judge(tmp_path: Path) -> None:
    make_judged(n=5)
    study = simulated("validation", "--judge", "strict", "--people-per-item", "3")
    [first, *_others] = PointVerdict.objects.filter(judge__name="strict").values_list("pk", flat=True)
    PointVerdict.objects.filter(pk=first).update(answer="", is_valid=False)
    before, n = all_figures(path := archived(study, tmp_path)), study.entailmentlabels.count()
    tables = tables_of(path)
    labels = tables["labels.csv"].dropna(subset=["verdict"])
    is_right = (labels["label"] == "yes") == (labels["verdict"] == "yes")
    mean = is_right.groupby(labels["annotator"]).mean().mean()
    assert mean == pytest.approx(figure(tables, "summary", "", "accuracy"))
    said = tables["verdicts.csv"].set_index("item")["label"]
    assert (labels["item"].map(said) == labels["verdict"]).all()
    fresh()
    imported(path)
    back = Study.objects.get()
    assert (back.kind, str(back.validation_plan.judge)) == ("validation", "strict")
    assert people(back) == ["annotator1", "annotator2", "annotator3"]
    assert back.entailmentlabels.count() == n
    assert all_figures(archived(back, tmp_path)) == before


def test_ratings_come_back_with_every_figure_and_their_judges(tmp_path: Path) -> None:
    haystack = make_haystack()
    summaries = [
        make_summary(subtopic=subtopic, system=system)
        for subtopic in haystack.subtopics.all()
        for system in ("model-a", "model-b", "model-c", "model-d")
    ]
    study = simulated("rating", "--haystack", haystack.title, "--people-per-item", "3")
    judge = make_judge("rater", kind="imported")
    for at, summary in enumerate(summaries):
        for aspect in ASPECTS:
            value = None if at == 1 else 1 + (at + len(aspect)) % 5
            SummaryRating.objects.create(
                judge=judge,
                summary=summary,
                aspect=aspect,
                value=value,
                is_valid=at != 1,
                created_at=timezone.now(),
            )
    half = RatingLabel.objects.filter(study=study).first()
    RatingLabel.objects.filter(pk=half.pk).update(ratings=half.ratings | {"coherence": None}, is_complete=False)
    before, n = all_figures(path := archived(study, tmp_path)), study.ratinglabels.count()
    tables = tables_of(path)
    labels = tables["labels.csv"].query("task == 'overall' and is_complete")
    means = labels.groupby(["system", "summary"])["label"].mean().groupby("system").mean()
    for system, mean in means.items():
        row = f"{system} · all documents"
        assert mean == pytest.approx(figure(tables, "systems-people-own", row, "overall"))
    assert len(tables["verdicts.csv"]) == 8 * len(ASPECTS)
    fresh()
    imported(path)
    back = Study.objects.get()
    assert back.kind == "rating"
    assert back.ratinglabels.count() == n
    assert back.ratinglabels.filter(is_complete=False, ratings__coherence=None).count() == 1
    assert Haystack.objects.get().documents.count() == 0, "the archive holds no documents"
    assert all_figures(archived(back, tmp_path)) == before


def test_an_archive_without_items_comes_back_as_labels_made_elsewhere(tmp_path: Path) -> None:
    make_questions(8, n_points=5)
    study = simulated("verification", "--dataset", "harbours", "--control-share", "1")
    tasks = ("grounded", "key_point", "keep")
    before, n = {task: figures(study.name, task) for task in tasks}, study.pointlabels.count()
    members = read_members(archived(study, tmp_path))
    del members["work.json"]
    older = write_members(tmp_path / "older.zip", sealed(members))
    fresh()
    imported(older)
    back = Study.objects.get()
    assert back.categories == ["yes", "no", "agree", "neutral", "disagree"]
    assert back.external_labels.filter(task="grounded").count() == n
    assert all(same(figures(back.name, task), before[task]) for task in tasks)


def test_writing_comes_back_with_texts_at_every_mark_and_the_same_curves(ada, ben, tmp_path: Path) -> None:
    topic = write_topic(tmp_path, topic_json())
    run("import_dataset", "summhay", topic)
    study = make_writing_study(haystack=Haystack.objects.get(), researcher=ada, annotators=[ben])
    task = make_assignment(annotator=ben, study=study, document_numbers=[2, 1], state=Assignment.State.DONE)
    texts = [(300_000, "- Boats leave at six. [1]"), (1_500_000, "- Boats leave at six. [1]\n- Four euros. [2]")]
    session = make_session(assignment=task, state=Session.State.SUBMITTED, revisions=texts, mark_every_ms=600_000)
    fill_missing(session=session, now=timezone.now())
    at = {"typed_at": timezone.now(), "received_at": timezone.now(), "text": "- Boats leave at six. [1, 2]"}
    TypedText.objects.create(session=session, snapshot=session.snapshots.first(), rev=2, **at)
    Session.objects.update(marked_passages=[[2, 5, 9, 3]], as_typed_at=timezone.now())
    before = scored_curve(study)
    assert {row[-1] for row in before} == {"submitted", "typed"}
    snapshots = list(session.snapshots.values_list("mark_ms", "kind", "text", "staleness_ms"))
    path = archived(study, tmp_path)
    tables = tables_of(path)
    [minutes] = tables["sessions.csv"]["active_ms"] / 60_000
    assert minutes == pytest.approx(figure(tables, "sessions", "annotator1 | aspect 1 | submitted", "minutes"))
    fresh()
    assert imported_with_errors(path)["errors"][0]["kind"] == "unknown_subtopic"
    assert not Study.objects.exists()
    run("import_dataset", "summhay", topic)
    members = read_members(path)
    rows = [json.loads(line) for line in members["snapshots.jsonl"].splitlines()]
    early = b"\n".join(
        json.dumps(row | ({"mark_ms": 0} if row["kind"] == "final" else {})).encode() for row in rows
    )
    altered = write_members(tmp_path / "altered.zip", sealed({**members, "snapshots.jsonl": early}))
    [error] = imported_with_errors(altered)["errors"]
    assert (error["field"], error["got"]) == ("mark_ms", "one at 0 ms")
    assert imported(path)["created"] == {"sessions": 1, "snapshots": len(snapshots)}
    back = Study.objects.get()
    assert (back.name, back.kind, people(back)) == (study.name, "writing", ["annotator1"])
    [found] = Session.objects.all()
    assert (found.uid, found.state, found.acc_ms, found.document_numbers) == (
        session.uid, "submitted", session.acc_ms, [2, 1],
    )  # fmt: skip
    assert list(found.snapshots.values_list("mark_ms", "kind", "text", "staleness_ms")) == snapshots
    assert list(back.writing_plan.subtopics.values_list("key", flat=True)) == [task.subtopic.key]
    assert found.marked_passages == [[2, 5, 9, 3]]
    assert scored_curve(back) == before
    second = read_members(archived(back, tmp_path))
    assert second["as_typed.jsonl"] == members["as_typed.jsonl"] != b""
    assert second["curve.csv"] == members["curve.csv"]
    again = imported(path)
    assert (again["created"], again["unchanged"]["sessions"]) == ({"sessions": 0}, 1)
    assert Snapshot.objects.count() == len(snapshots)


def scored_curve(study: Study) -> list[Any]:
    for judge_run in scoring.score_snapshots(now=timezone.now()):
        judging.run_pending(run=judge_run, clock=timezone.now)
    judge = versions.default_judge(now=timezone.now())
    found = [tuple(row) for row in curve_rows(study, judge)]
    assert len(found) > 2
    return found


def imported_with_errors(path: Path, *args: str) -> dict[str, Any]:
    status, report = told_by("import_dataset", "archive", path, *args)
    assert status
    return report


def test_labels_made_elsewhere_keep_the_order_of_their_categories(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("annotator,item,label\nxena,1,low\nyuri,1,high\nxena,2,=mid\nyuri,2,=mid\nxena,3,high\n")
    run("import_labels", file, "--study", "Elsewhere", "--categories", "low,=mid,high")
    before = figures("Elsewhere")
    path = archived(Study.objects.get(), tmp_path)
    fresh()
    imported(path)
    assert Study.objects.get().categories == ["low", "=mid", "high"]
    found = figures("Elsewhere")
    assert {name: found[name] for name in POINTS} == pytest.approx({name: before[name] for name in POINTS})


def test_an_archive_can_come_back_beside_its_study_and_twice_changes_nothing(tmp_path: Path) -> None:
    make_questions(4, n_points=5)
    study = simulated("verification", "--dataset", "harbours", "--control-share", "1")
    path = archived(study, tmp_path)
    assert imported(path)["created"]["labels"] == 0, "the study itself"
    first, second = imported(path, "--name", "Beside"), imported(path, "--name", "Beside")
    assert (second["created"]["labels"], second["unchanged"]["labels"]) == (0, len(labels_in(path)))
    assert set(Study.objects.values_list("name", flat=True)) == {"Tried out", "Beside"}
    assert first["created"]["labels"] == study.pointlabels.count()
    assert PointLabel.objects.count() == 2 * study.pointlabels.count()
    assert KeyPoint.objects.count() == 20, "texts that are here are used as they are"
    PointLabel.objects.filter(study__name="Beside").update(is_check=True)
    assert imported_with_errors(path, "--name", "Beside")["errors"][0]["kind"] == "other_study"


def labels_in(path: Path) -> list[bytes]:
    with zipfile.ZipFile(path) as zipped:
        [name] = [name for name in zipped.namelist() if name.endswith("/labels.jsonl")]
        return zipped.read(name).splitlines()


ABOUT = b'{"study": {"name": "Odd", "kind": "%s"}, "corpora": [], "files": []}'
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
        {
            "manifest.json": ABOUT % b"writing",
            "annotators.csv": NOBODY,
            "sessions.jsonl": b"",
            "snapshots.jsonl": b"",
        },
    ],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content) -> None:
    path = tmp_path / "other.zip"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        members = content or {"readme.txt": b"hello"}
        write_members(path, sealed(members) if "annotators.csv" in members else members)
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


def test_an_altered_archive_is_refused_by_the_file_and_the_place(tmp_path: Path) -> None:
    make_questions(2, n_points=2)
    members = read_members(archived(simulated("verification", "--dataset", "harbours"), tmp_path))
    fresh()
    path, work = tmp_path / "altered.zip", json.loads(members["work.json"])
    other_digit = members["work.json"].replace(b"1", b"2", 1)
    unknown_item = {**work, "tasks": [[person, 99, *rest] for person, _at, *rest in work["tasks"]]}
    no_person = {**work, "tasks": [[None, *rest] for _person, *rest in work["tasks"]]}
    for content, kind, where in (
        ({**members, "work.json": other_digit}, "changed_file", "work.json"),
        (
            sealed({**members, "work.json": json.dumps(unknown_item).encode()}),
            "unknown_item",
            "work.json, tasks[0]",
        ),
        (sealed({**members, "work.json": json.dumps(no_person).encode()}), "wrong_type", "work.json.tasks[0][0]"),
    ):
        first = imported_with_errors(write_members(path, content))["errors"][0]
        assert (first["kind"], first["where"]) == (kind, where)
        assert not Study.objects.exists()
