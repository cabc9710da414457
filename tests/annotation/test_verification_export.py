"""The verified dataset as files: what is kept, the manifest, the way back in, and the labels behind it."""

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from annotation.models import PointLabel, Study
from annotation.verification import datasets, files
from benchmarks.models import KeyPoint, Question
from tests.makers import NOW
from tests.makers_verification import make_questions, make_verification_study, say, say_all
from tests.running import json_of, output_of

PEOPLE = ("anna", "bert", "cora")


def export(study: Study, out: Path, *args) -> list[Any]:
    output_of("export_dataset", "long2rag", "--study", study.name, "--out", out, *args)
    return [json.loads(line) for line in out.read_text().splitlines()] if out.suffix == ".jsonl" else []


@pytest.fixture
def study(db: None) -> Study:
    """Two questions of two points, labelled by three people."""
    made = make_verification_study(annotators=PEOPLE, questions=make_questions(2, autods=[0.9, 0.2]), for_all=True)
    say_all(made, ["AAA", "AAD", "xxA", "AA."])
    return made


def test_only_kept_key_points_are_in_the_file_and_the_manifest_counts_them(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "verified.jsonl"
    found = export(study, out)
    assert [[point["key"] for point in row.get("key_points", [])] for row in found] == [["k1"], ["k2"]]
    assert found[0]["key_points"][0]["spans"][0]["match"] == 1
    told = json.loads((tmp_path / "verified.jsonl.manifest.json").read_text())
    assert told["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert (told["dataset_version"], told["rule"]) == (0, "unanimous")
    assert told["annotators"] == ["annotator1", "annotator2", "annotator3"]
    assert told["counts"]["key_points_kept"] == 2
    assert told["counts"]["study"]["dropped"] == 2
    assert told["counts"]["study"]["key_points"] == 4
    assert told["retention"]["share"] == 0.5
    assert told["guideline_versions"] == [1]
    assert "anna" not in json.dumps(told)


def test_a_table_of_the_command_is_for_spreadsheets_or_for_programs(study: Study, tmp_path: Path) -> None:
    KeyPoint.objects.update(text="- Ice stopped the boats.")
    texts = []
    for reader in ((), ("--for", "spreadsheets"), ("--for", "programs")):
        export(study, tmp_path / "points.csv", "--all-points", *reader)
        with (tmp_path / "points.csv").open() as file:
            texts.append({row["text"] for row in csv.DictReader(file)})
    assert texts == [{"'- Ice stopped the boats."}, {"'- Ice stopped the boats."}, {"- Ice stopped the boats."}]


def test_what_is_exported_comes_in_again_and_out_again_byte_by_byte(study: Study, tmp_path: Path) -> None:
    first, second = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    export(study, first)
    output_of("import_dataset", "long2rag", first, "--dataset", "verified", "--json")
    output_of("export_dataset", "long2rag", "--dataset", "verified", "--out", second)
    assert first.read_bytes() == second.read_bytes()
    again = json_of("import_dataset", "long2rag", second, "--dataset", "verified")
    assert not any(again["created"].values())


def test_where_everything_is_kept_the_study_gives_what_was_imported(tmp_path: Path, db: None) -> None:
    source = tmp_path / "source.jsonl"
    make_questions(4, n_points=3, dataset="first", autods=[0.3, None])
    output_of("export_dataset", "long2rag", "--dataset", "first", "--out", source)
    output_of("import_dataset", "long2rag", source, "--dataset", "again", "--json")
    questions = Question.objects.filter(dataset="again")
    made = make_verification_study(annotators=("anna",), questions=questions, n_control=0)
    say_all(made, ["A"] * 12)
    out = tmp_path / "out.jsonl"
    export(made, out)
    assert out.read_bytes() == source.read_bytes()


def test_a_chosen_version_decides_and_older_ones_can_be_had(study: Study, tmp_path: Path, ada) -> None:
    who = {member.annotator.label: str(member.annotator.uid) for member in study.memberships.all()}
    how = {"study": study, "by": ada, "now": NOW}
    datasets.choose(annotators=[who["anna"], who["bert"]], **how)
    datasets.choose(annotators=who.values(), rule="majority", autods_threshold=0.5, selection_seed=3, **how)
    keys = [point["key"] for row in export(study, tmp_path / "a.jsonl") for point in row.get("key_points", [])]
    assert keys == ["k1"]  # k2 of both questions scores 0.2
    told = json.loads((tmp_path / "a.jsonl.manifest.json").read_text())
    assert (told["dataset_version"], told["autods_threshold"], told["selection_seed"]) == (2, 0.5, 3)
    assert told["counts"]["study"]["filtered"] == 2
    older = export(study, tmp_path / "b.jsonl", "--dataset-version", 1)
    assert [[point["key"] for point in row.get("key_points", [])] for row in older] == [["k1", "k2"], ["k2"]]
    with pytest.raises(CommandError, match="no version 7"):
        export(study, tmp_path / "c.jsonl", "--dataset-version", 7)


def test_key_points_as_a_table_say_what_became_of_them(study: Study, tmp_path: Path) -> None:
    export(study, tmp_path / "all.csv", "--all-points")
    rows = list(csv.DictReader((tmp_path / "all.csv").open()))
    assert [row["outcome"] for row in rows] == ["kept", "dropped", "dropped", "kept"]
    assert [(row["n_keep"], row["n_drop"]) for row in rows] == [("3", "0"), ("2", "1"), ("1", "2"), ("2", "0")]
    export(study, tmp_path / "kept.csv", "--csv")
    assert len(list(csv.DictReader((tmp_path / "kept.csv").open()))) == 2


def test_labels_go_out_under_pseudonyms_and_come_in_again_with_the_same_agreement(
    study: Study, tmp_path: Path
) -> None:
    point = KeyPoint.objects.get(question__key="q2", key="k1")
    say(study, "cora", point, "x")
    out = tmp_path / "labels.csv"
    export(study, out, "--labels", "current")
    assert "anna" not in out.read_text()
    output_of("import_labels", out, "--study", "Again")
    for task in ("grounded", "key_point", "keep"):
        here, there = (
            json_of("report", "agreement", "--study", name, "--task", task) for name in (study.name, "Again")
        )
        for name in ("percent", "randolph", "fleiss", "n_items", "n_pairable", "annotators", "n_clusters"):
            assert here[name] == there[name], (task, name)
    first, history = (
        [dict(zip(files.LABEL_COLUMNS, row, strict=True)) for row in files.label_rows(study, which=which)]
        for which in ("first", "history")
    )
    changed = [row for row in history if row["item"] == str(point.uid) and row["annotator"] == "annotator3"]
    assert [(row["task"], row["label"], row["is_current"]) for row in changed] == [
        ("grounded", "yes", False),
        ("key_point", "agree", False),
        ("grounded", "no", True),
    ]
    assert len(history) == len(first) + 1
    assert PointLabel.objects.count() == 12


def test_labels_as_json_lines(study: Study, tmp_path: Path) -> None:
    rows = export(study, tmp_path / "labels.jsonl", "--labels", "history")
    assert set(rows[0]) == set(files.LABEL_COLUMNS)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ((), "Name a dataset with --dataset, or a study"),
        (("--study", "nothing"), "There is no study “nothing”"),
        (("--dataset", "harbours", "--csv"), "--csv is of a study"),
        (("--dataset", "nothing"), "There is no dataset “nothing”"),
    ],
)
def test_what_cannot_be_exported_is_a_sentence(
    study: Study, tmp_path: Path, args: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        output_of("export_dataset", "long2rag", "--out", tmp_path / "x", *args)
    assert not list(tmp_path.iterdir())


def test_questions_of_two_datasets_with_the_same_key_do_not_fit_into_one_file(tmp_path: Path, db: None) -> None:
    both = [*make_questions(1, dataset="one"), *make_questions(1, dataset="two")]
    made = make_verification_study(annotators=("anna",), questions=both)
    say_all(made, ["A"] * 4)
    with pytest.raises(CommandError, match="called “q1”; name one of one, two"):
        export(made, tmp_path / "x.jsonl")
    assert len(export(made, tmp_path / "x.jsonl", "--dataset", "two")) == 1
