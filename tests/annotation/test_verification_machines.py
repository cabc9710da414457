"""Machines beside people on key points: judges and AutoDS at a threshold, by hand and beside scikit-learn."""

import io
from collections.abc import Sequence
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.models import Annotator, ExternalLabel, ExternalVerdict, Study
from annotation.verification.labels import collect
from annotation.verification.results import machines
from benchmarks.engine import judging, versions
from benchmarks.models import AutodsScore, Judge, JudgeRun, KeyPointVerdict
from benchmarks.scoring.retention import Task
from tests.conftest import make_user
from tests.fake_openai import MODEL, FakeServer
from tests.makers import NOW, flat
from tests.makers_recall import make_judge
from tests.makers_verification import WORDS, make_questions, make_verification_study, say_all
from tests.running import json_of
from tests.sheets import rows_shown

pytestmark = pytest.mark.django_db
SCORES = [0.9, 0.8, 0.3, 0.75, None, 0.1]


def report(study: Study, task: str, *args: str) -> dict[str, dict[str, Any]]:
    """The rows of machines, and of people, by name."""
    return {
        row["name"]: row
        for row in json_of("report", "agreement", "--study", study.name, "--task", task, *args)["machines"]
    }


def judge_says(judge: Judge, study: Study, answers: Sequence[str]) -> None:
    """A letter each as people do; `y` is a no that is called key all the same, `?` cannot be used."""
    points = [item.key_point for item in study.label_items.order_by("pk")]
    for point, letter in zip(points, answers, strict=True):
        grounded, keyness = ("no", "agree") if letter == "y" else WORDS.get(letter, ("", ""))
        for judgment, given in (("grounded", grounded), ("key_point", keyness)):
            if letter != "." and (given or letter == "?"):
                KeyPointVerdict.objects.create(
                    judge=judge, key_point=point, judgment=judgment, answer=given, is_valid=bool(given),
                    created_at=NOW,
                )  # fmt: skip


@pytest.fixture
def study(ada) -> Study:
    """Six key points of three questions by two people, with scores."""
    made = make_verification_study(
        annotators=("anna", "bert"), questions=make_questions(3, autods=SCORES), for_all=True, researcher=ada
    )
    say_all(made, ["AA", "xA", "AA", "xx", "AN", "D."])
    return made


def test_judges_of_labels_made_elsewhere_stand_beside_people_and_make_figures_anew(ada, client) -> None:
    study = Study.objects.create(name="Elsewhere", kind="external", categories=["yes", "no"], created_at=NOW)
    study.researchers.add(ada)
    people = [Annotator.objects.create(label=name, created_at=NOW) for name in ("anna", "bert")]
    robin = make_judge("robin", kind="imported")
    given = {"grounded": ("yes no yes no", "yes yes no ?"), "key_point": ("agree - neutral -", "agree - agree -")}
    for task, (of_people, of_robin) in given.items():
        for item, (label, said) in enumerate(zip(of_people.split(), of_robin.split(), strict=True)):
            about = {"study": study, "task": task, "item": str(item), "imported_at": NOW}
            if label != "-":
                for person in people:
                    ExternalLabel.objects.create(**about, annotator=person, label=label)
                ExternalVerdict.objects.create(**about, judge=robin, label=said)
    client.force_login(ada)
    page = reverse("annotation:study-figures", args=[study.uid])
    assert "robin" in client.get(page, follow=True).text
    row = report(study, "grounded")["robin"]
    assert (row["n"], row["percent"], row["n_invalid"]) == (3, pytest.approx(1 / 3), 1)
    # the robin says no to item 2, so that what it says of it beside does not count
    row = report(study, "key_point")["robin"]
    assert (row["n"], row["percent"]) == (1, 1)
    before = client.get(page, follow=True).text
    ExternalVerdict.objects.filter(task="grounded", item="2").delete()
    assert report(study, "grounded")["robin"]["percent"] == pytest.approx(1 / 2)
    assert client.get(page, follow=True).text != before


def test_a_judge_is_compared_with_each_annotator_by_the_kappas_of_people(study: Study) -> None:
    judge_says(make_judge("sparrow", kind="openai"), study, ["A", "x", "D", "A", "N", "."])
    grounded = report(study, "grounded")["sparrow"]
    # yes no yes yes yes; anna yes no yes no yes: 4 of 5; bert yes yes yes no yes: 3 of 5
    assert grounded["n"] == 5
    assert grounded["percent"] == pytest.approx((4 / 5 + 3 / 5) / 2)
    assert grounded["randolph"] == pytest.approx((2 * 4 / 5 - 1 + 2 * 3 / 5 - 1) / 2)
    key_point = report(study, "key_point")["sparrow"]
    # A, -, D, A, N; anna A - A - A: 1 of 3; bert A A A - N: 2 of 3
    assert (key_point["n"], key_point["percent"]) == (3, pytest.approx((1 / 3 + 2 / 3) / 2))
    keep = report(study, "keep")["sparrow"]
    # keep drop drop keep drop; anna keep drop keep drop keep; bert keep keep keep drop drop
    assert keep["percent"] == pytest.approx((2 / 5 + 2 / 5) / 2)
    people = report(study, "keep")["people"]
    assert (people["n"], people["percent"]) == (5, pytest.approx(3 / 5))
    assert keep["confusion"]["keep"] == {"keep": 2, "drop": 4}


def test_a_judge_that_calls_a_point_key_after_a_no_drops_it_and_an_unusable_answer_is_counted(
    study: Study,
) -> None:
    judge_says(make_judge("sparrow", kind="openai"), study, ["y", "y", "?", "A", "A", "A"])
    key_point = report(study, "key_point")["sparrow"]
    assert (key_point["n"], key_point["n_invalid"]) == (1, 1), "a no and an unusable answer are out"
    keep = report(study, "keep")["sparrow"]
    assert (keep["n"], keep["n_invalid"]) == (4, 2)
    # anna keep drop (keep) drop keep drop; the judge drop drop - keep keep keep
    assert keep["confusion"]["drop"]["drop"] == 1


def test_scores_keep_from_the_threshold_on_and_say_nothing_without_a_score(study: Study) -> None:
    scores = report(study, "keep", "--threshold", "0.75")["AutoDS ≥ 0.75"]
    # keep keep drop keep -; anna keep drop keep drop keep: 1 of 4; bert keep keep keep drop drop: 2 of 4
    assert (scores["n"], scores["percent"]) == (4, pytest.approx((1 / 4 + 2 / 4) / 2)), (
        "one alone said of the last"
    )
    assert report(study, "grounded") == {}, "a score says nothing of what the text holds"
    assert "AutoDS ≥ 0.7" in report(study, "keep"), "the paper's, where no dataset has another"
    with pytest.raises(CommandError, match="from 0 to 1"):
        report(study, "keep", "--threshold", "7")


def test_scores_of_each_judge_are_rows_of_their_own_and_the_newest_counts(study: Study) -> None:
    points = [item.key_point for item in study.label_items.order_by("pk")]
    for name, values in (("sparrow", SCORES), ("tern", [0.1] * 6)):
        judge = make_judge(name, kind="openai")
        for repeat, shift in ((0, -0.1), (1, 0.0)):
            for point, value in zip(points, values, strict=True):
                kept = None if value is None else value + shift
                AutodsScore.objects.create(judge=judge, key_point=point, repeat=repeat, value=kept, created_at=NOW)
    rows = report(study, "keep")
    assert set(rows) == {"people", "AutoDS by sparrow ≥ 0.7", "AutoDS by tern ≥ 0.7"}, "equal scores are told once"
    assert rows["AutoDS by tern ≥ 0.7"]["confusion"]["keep"] == {"keep": 0, "drop": 6}
    found = {
        machine.rater.name: machine.codes[Task.KEEP].tolist()
        for machine in machines(study, collect(study), threshold=0.7)
    }
    assert found["AutoDS by sparrow ≥ 0.7"] == [0, 0, 1, 0, -1, 1]


def test_the_page_and_its_files_show_machines_beside_people(study: Study, as_ada) -> None:
    judge_says(make_judge("<b>sparrow</b>", kind="openai"), study, ["A", "x", "D", "?", "N", "."])
    url = reverse("annotation:study-figures", args=[study.uid])
    shown = flat(as_ada.get(url, {"scope": "all"}).text)
    assert shown.count("People among themselves") == 3
    assert "&lt;b&gt;sparrow&lt;/b&gt;" in shown
    assert "<b>sparrow" not in shown
    assert "AutoDS ≥ 0.7" in shown
    rows = {row.names[0]: row for row in rows_shown(as_ada, url, "grounded-machines", scope="all")}
    assert rows["<b>sparrow</b>"].value("invalid") == 1
    assert "AutoDS ≥ 0.2" in flat(as_ada.get(url, {"scope": "all", "threshold": "0.2"}).text)
    assert as_ada.get(url, {"threshold": "nan"}).status_code == 200
    files = reverse("annotation:study-figures-file", args=[study.uid, "figures.json"])
    found = as_ada.get(files, {"scope": "all", "threshold": "0.2"}).json()
    assert found["autods_threshold"] == 0.2
    assert [row["kind"] for row in found["tasks"]["keep"]["machines"]] == ["person", "openai", "autods"]
    table = reverse("annotation:study-figures-file", args=[study.uid, "figures.csv"])
    text = b"".join(as_ada.get(table, {"scope": "all"})).decode()
    assert "keep-machines,AutoDS ≥ 0.7,randolph_kappa," in text


def test_without_machines_there_is_no_table(ada, as_ada) -> None:
    made = make_verification_study(annotators=("anna", "bert"), questions=make_questions(1), researcher=ada)
    say_all(made, ["AA", "AN"])
    assert report(made, "keep") == {}
    assert "Against people" not in as_ada.get(reverse("annotation:study-figures", args=[made.uid])).text


def test_the_autods_page_shows_the_scores_of_the_judge_that_is_chosen(study: Study, as_ada) -> None:
    judge = make_judge("tern", kind="openai")
    point = study.label_items.order_by("pk")[0].key_point
    AutodsScore.objects.create(judge=judge, key_point=point, value=0.2, created_at=NOW)
    url = reverse("annotation:verification-autods", args=[study.uid])
    assert "5 of 6 key points have a score" in as_ada.get(url).text
    chosen = as_ada.get(url, {"scores": str(judge.uid)}).text
    assert "1 of 6 key points have a score" in chosen
    assert "Try it on the dataset" not in chosen
    file = reverse("annotation:verification-autods-file", args=[study.uid, "figures.json"])
    assert as_ada.get(file, {"scores": str(judge.uid)}).json()["n_scored"] == 1
    assert "No scores" in as_ada.get(url, {"scores": str(make_judge("wren", kind="openai").uid)}).text
    for wrong in ("x", "<script>", "00000000-0000-4000-8000-000000000000"):
        assert as_ada.get(url, {"scores": wrong}).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_a_model_is_run_on_a_studys_key_points_from_the_command_line(study: Study, server: FakeServer) -> None:
    values = {"base_url": server.address, "model": MODEL}
    judge = versions.ensure_judge(name="sparrow", kind="openai", config=values, now=NOW)
    make_questions(1, dataset="other")
    call_command("run_judge", "sparrow", "--task", "verification", "--study", study.name, stdout=io.StringIO())
    asked = set(judge.runs.get().items.values_list("key_point", flat=True))
    assert asked == set(study.label_items.values_list("key_point", flat=True))
    assert judge.runs.get().scope["study"] == [str(study.uid), study.name]
    with pytest.raises(CommandError, match="no study with key points to verify called “Nothing”"):
        call_command("run_judge", "sparrow", "--task", "verification", "--study", "Nothing")
    with pytest.raises(CommandError, match="no study with summaries called"):
        call_command("run_judge", "sparrow", "--study", study.name)


@pytest.mark.every_database
def test_a_model_is_run_on_a_studys_key_points_from_the_browser(
    study: Study, ada, as_ada, as_ben, login, server: FakeServer
) -> None:
    url = reverse("annotation:verification-machine-run", args=[study.uid])
    assert "There is no model judge yet" in as_ada.get(url).text
    values = {"base_url": server.address, "model": MODEL}
    judge = versions.ensure_judge(name="sparrow", kind="openai", config=values, now=NOW)
    make_questions(1, dataset="other")
    asked = {"judge": str(judge.uid), "task": "verification", "repeats": 1, "concurrency": 4}
    assert "12, 0 cached or duplicate" in flat(as_ada.get(url, asked).text), "six key points, two judgments"
    assert server.n_asked == 0
    run = JudgeRun.objects.get(uid=as_ada.post(url, asked).headers["Location"].split("/")[-2])
    assert (run.task, run.requested_by, run.items.count()) == ("verification", ada, 6)
    assert f"study {study.name}" in flat(as_ada.get(f"/judges/runs/{run.uid}/").text)
    judging.run_pending(run=run, clock=lambda: NOW)
    assert "6 of 6 key points done" in as_ada.get(f"/judges/runs/{run.uid}/").text
    assert "Nothing is missing" in as_ada.get(url, asked).text
    agreement = reverse("annotation:study-figures", args=[study.uid])
    assert "sparrow" in as_ada.get(agreement, {"scope": "all"}).text
    assert url in as_ada.get(agreement).text
    assert as_ada.post(url, {**asked, "judge": "nobody"}).status_code == 422
    assert as_ada.post(url, {**asked, "task": "coverage"}).status_code == 422
    assert as_ben.get(url).status_code == 403
    assert login(make_user("zoe", "researcher")).get(url).status_code == 404
