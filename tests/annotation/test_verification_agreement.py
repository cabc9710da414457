"""Agreement on key points through `manage.py report`: masked, of labels made here and of labels made elsewhere."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import ExternalLabel, Study
from annotation.verification.labels import ExternalAnswer, collect, external_point_table
from benchmarks.scoring.retention import Task
from tests.makers_verification import make_questions, make_verification_study, say
from tests.running import json_of

pytestmark = pytest.mark.django_db

PEOPLE = ("anna", "bert", "cora")
MARKS = {"Y": "yes", "X": "no", "F": "agree", "P": "neutral", "N": "disagree"}


def report(*args):
    return json_of("report", "agreement", *args)


def import_labels(path: Path, *args: str, study: str = "Elsewhere"):
    return json_of("import_labels", path, "--study", study, *args)


def file_of(folder: Path, *, grounded: Sequence[str] = (), key_point: Sequence[str] = (), per: int = 1) -> Path:
    """One text an item, one letter an annotator; a dot is no answer; `per` items make a question."""
    rows = ["annotator,item,task,label,cluster"]
    for task, items in (("grounded", grounded), ("key_point", key_point)):
        rows += [
            f"rater{place},p{at},{task},{MARKS[mark]},q{at // per}"
            for at, item in enumerate(items)
            for place, mark in enumerate(item, 1)
            if mark != "."
        ]
    path = folder / "labels.csv"
    path.write_text("\n".join(rows))
    return path


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (("FFF", "FPF", "NNN", "NPF", "PPN"), (0.300, 0.2905405, 0.304636, 0.3378378, 0.5738721)),
        (("FFF", "FPF", "NNN", "NP.", "PP."), (0.500, 0.4983, 0.5008, None, None)),
        (("FFF", "FPF", "N..", "NP.", "PP."), (0.375, 0.3729, 0.3760, None, None)),
    ],
)
def test_the_worked_examples_hold_for_labels_of_external_study(
    tmp_path: Path, items: tuple[str, ...], expected: tuple[float | None, ...]
) -> None:
    path = file_of(tmp_path, grounded=["Y" * 3] * 5, key_point=items)
    assert import_labels(path)["warnings"] == []
    found = report("--study", "Elsewhere", "--task", "key_point")
    assert found["q"] == 3
    for name, value in zip(("randolph", "fleiss", "ac1", "alpha_nominal", "alpha_ordinal"), expected, strict=True):
        if value is not None:
            assert found[name] == pytest.approx(value, abs=5e-5), name
    assert report("--labels", path, "--task", "key_point")["randolph"] == found["randolph"]
    assert report("--study", "Elsewhere", "--task", "grounded")["percent"] == 1


def test_task_2_is_missing_after_a_no_whatever_was_stored(tmp_path: Path) -> None:
    import_labels(file_of(tmp_path, grounded=["YY", "YX", "XX", "YY"], key_point=["FF", "FF", "NN", "FP"]))
    assert ExternalLabel.objects.filter(task="key_point").count() == 8
    found = report("--study", "Elsewhere", "--task", "key_point")
    assert (found["n_items"], found["n_pairable"], found["percent"]) == (3, 2, 0.5)
    keep = report("--study", "Elsewhere", "--task", "keep")
    # keep/keep, keep/drop, drop/drop, keep/drop
    assert (keep["n_pairable"], keep["percent"], keep["randolph"], keep["q"]) == (4, 0.5, 0.0, 2)
    grounded = report("--study", "Elsewhere", "--task", "grounded")
    assert (grounded["percent"], grounded["randolph"], grounded["q"]) == (0.75, 0.5, 2)


def test_the_two_judgments_can_come_in_two_files_under_their_names(tmp_path: Path) -> None:
    for task, items in (("grounded", ("yes", "no")), ("key_point", ("agree", "neutral"))):
        path = tmp_path / f"{task}.csv"
        rows = [f"{who},{at},{label}" for at, label in enumerate(items) for who in ("a", "b")]
        path.write_text("\n".join(["annotator,item,label", *rows]))
        import_labels(path, "--task", task)
    assert Study.objects.get(name="Elsewhere").categories == ["yes", "no", "agree", "neutral", "disagree"]
    assert report("--study", "Elsewhere", "--task", "key_point")["n_items"] == 1
    assert report("--study", "Elsewhere", "--task", "keep")["n_items"] == 2


def test_a_label_of_the_other_task_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("annotator,item,task,label\na,1,grounded,agree\n")
    with pytest.raises(SystemExit):
        import_labels(path)
    with pytest.raises(CommandError, match="expected one of yes, no, got the text “agree”"):
        report("--labels", path, "--task", "grounded")


@pytest.fixture
def study(db: None) -> Study:
    """Three questions of two points: the first for everyone, the others one person each."""
    made = make_verification_study(annotators=PEOPLE, questions=make_questions(3))
    points = [item.key_point for item in made.label_items.order_by("pk")]
    for person, answers in zip(PEOPLE, ("AN", "AA", "xA"), strict=True):
        for point, answer in zip(points, answers, strict=False):
            say(made, person, point, answer, seconds=30)
    say(made, "bert", points[2], "A", seconds=3)
    say(made, "cora", points[4], "D")
    return made


def test_labels_of_a_study_are_read_in_three_queries_with_what_is_not_labelled(study: Study) -> None:
    with CaptureQueriesContext(connection) as queries:
        table = collect(study)
    assert len(queries) == 3
    assert (table.n_items, table.n_questions, [one.name for one in table.people]) == (6, 3, list(PEOPLE))
    assert table.is_control.tolist() == [True, True, False, False, False, False]
    assert table.codes(Task.KEEP).tolist() == [
        [0, 0, 1],
        [1, 0, 0],
        [-1, 0, -1],
        [-1, -1, -1],
        [-1, -1, 1],
        [-1, -1, -1],
    ]
    assert table.seconds[2, 1] == 3


def test_the_control_group_and_some_annotators_can_be_asked_for(study: Study) -> None:
    everything = report("--study", study.name, "--task", "grounded")
    control = report("--study", study.name, "--task", "grounded", "--control")
    assert (everything["n_items"], control["n_items"]) == (4, 2)
    # yes yes no | yes yes yes: P = 1/3 and 1
    assert control["percent"] == pytest.approx(2 / 3)
    assert control["randolph"] == pytest.approx(1 / 3)
    assert (control["scope"], everything["scope"]) == ("control group", "all items")
    pair = report("--study", study.name, "--task", "grounded", "--annotators", "anna,annotator2")
    assert (pair["percent"], pair["annotators"]) == (1, ["annotator1", "annotator2"])
    assert control["by"]["category"]["factual"]["n_items"] == 2
    assert everything["per_annotator"][1]["labels"] == {"yes": 3, "no": 0}
    assert everything["per_annotator"][1]["median_seconds"] == 30
    assert everything["per_annotator"][1]["n_under_5_s"] == 1


def test_a_question_that_cannot_be_answered_is_a_sentence(study: Study) -> None:
    with pytest.raises(CommandError, match="Name a task with --task: grounded, key_point, keep"):
        report("--study", study.name)
    with pytest.raises(CommandError, match="Nobody called zoe labelled here; there are: annotator1"):
        report("--study", study.name, "--task", "keep", "--annotators", "zoe")
    make_verification_study(name="Nothing yet", questions=[], annotators=PEOPLE)
    with pytest.raises(CommandError, match="There are no labels here"):
        report("--study", "Nothing yet", "--task", "keep")


def test_labels_of_external_study_need_no_cluster_and_may_be_of_one_task_only() -> None:
    rows = [ExternalAnswer(who, "key_point", str(at), "agree") for at in range(5) for who in ("a", "b")]
    table = external_point_table(rows)
    assert (table.codes(Task.KEY_POINT) == 0).all()
    assert (table.codes(Task.KEEP) == -1).all()
    assert (table.n_questions, table.is_control.all()) == (5, True)
