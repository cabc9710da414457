"""Annotated summaries out of a linking study and in again: the same labels, predictions and figures."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from pytest_django import DjangoAssertNumQueries

from annotation.linking.annotated import entries_of
from annotation.models import CoverageLabel, Membership, Study
from benchmarks.io.schemas import eval_benchmark
from benchmarks.models import AuditEvent, Haystack, Judge, Summary, Verdict
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db
BENCHMARK = "summhay-eval-benchmark"
PLACE = ("summary__subtopic__key", "summary__text", "insight__key", "coverage", "lines", "raw")


def table_1(*scope: str) -> dict[str, Any]:
    """What `report judges` and `report agreement` print, judges by name."""
    full = json_of("report", "judges", *scope, "--full")
    return {
        "judges": {row.pop("judge"): row for row in full["judges"]},
        "people": full["people"],
        "agreement": json_of("report", "agreement", *scope),
    }


def exported(study: Study, path: Path, *options: str) -> list[dict[str, Any]]:
    output_of("export_dataset", BENCHMARK, "--study", study.name, "--out", path, *options)
    return json.loads(path.read_text())


def forget_everything() -> None:
    """Another installation, as far as benchmarks go."""
    Verdict.objects.all().delete()
    CoverageLabel.objects.all().delete()
    Study.objects.all().delete()
    Haystack.objects.all().delete()
    Judge.objects.all().delete()


def test_a_study_of_several_people_gives_the_same_figures_elsewhere(tmp_path: Path) -> None:
    study = make_labelled_study(summaries=make_summaries(n=30))
    before = table_1("--study", study.name)
    rows = exported(study, tmp_path / "out.json")
    assert "annotation" not in rows[0]
    assert {"annotation_annotator1", "annotation_annotator3", "predictions_strict"} <= rows[0].keys()
    assert "anna" not in (tmp_path / "out.json").read_text()
    forget_everything()
    output_of("import_dataset", BENCHMARK, tmp_path / "out.json")
    after = table_1()
    for row in (*before["judges"].values(), *after["judges"].values()):
        row.pop("cost", None)
    assert after["judges"] == before["judges"]
    figures = ("percent", "randolph", "fleiss", "ac1", "alpha_ordinal", "n_items", "intervals")
    assert [after["agreement"][name] for name in figures] == [before["agreement"][name] for name in figures]
    again = Study.objects.get()
    assert [member.annotator.label for member in again.memberships.order_by("number")] == [
        "annotator1", "annotator2", "annotator3",
    ]  # fmt: skip
    assert exported(again, tmp_path / "again.json") == rows


def test_a_judge_that_was_fitted_on_these_labels_is_still_said_to_be(tmp_path: Path) -> None:
    study = make_labelled_study(summaries=make_summaries(n=4))
    haystack = Haystack.objects.get()
    Judge.objects.filter(name="strict").update(config={"fitted_on": [haystack.key]})
    assert all(row["fitted_judges"] == ["strict"] for row in exported(study, tmp_path / "out.json"))
    forget_everything()
    for _time in range(2):
        output_of("import_dataset", BENCHMARK, tmp_path / "out.json")
        fitted = {name: row["fitted_here"] for name, row in table_1()["judges"].items()}
        assert fitted.pop("strict") is True
        assert fitted
        assert not any(fitted.values())


def test_importing_it_where_it_came_from_adds_labels_and_no_text(tmp_path: Path) -> None:
    study = make_labelled_study(summaries=make_summaries(n=4))
    exported(study, tmp_path / "out.json")
    texts = Summary.objects.count()
    output_of("import_dataset", BENCHMARK, tmp_path / "out.json")
    assert Summary.objects.count() == texts
    copied = CoverageLabel.objects.exclude(study=study).values_list(*PLACE[:5])
    assert sorted(map(str, copied)) == sorted(map(str, study.coveragelabels.values_list(*PLACE[:5])))
    before = CoverageLabel.objects.count()
    output_of("import_dataset", BENCHMARK, tmp_path / "out.json")
    assert CoverageLabel.objects.count() == before


def test_the_labels_of_one_person_have_no_name(tmp_path: Path) -> None:
    study = make_labelled_study(summaries=make_summaries(n=4))
    rows = exported(study, tmp_path / "out.json", "--annotator", "annotator2")
    assert not [name for name in rows[0] if name.startswith("annotation_")]
    person = Membership.objects.get(study=study, number=2).annotator
    assert sum(len(row["annotation"]) for row in rows) == study.coveragelabels.filter(annotator=person).count()
    with pytest.raises(CommandError, match="annotators: annotator1, annotator2, annotator3"):
        exported(study, tmp_path / "out.json", "--annotator", "anna")


def test_several_lines_cleared_answers_and_invalid_verdicts(tmp_path: Path) -> None:
    study = make_labelled_study(summaries=make_summaries(n=2), people=("anna",), judges=("strict",))
    first, second, third, *_rest = study.coveragelabels.order_by("pk")
    CoverageLabel.objects.filter(pk=first.pk).update(coverage="full", lines=[2, 3], is_linked=True)
    CoverageLabel.objects.filter(pk=second.pk).update(coverage="", lines=[], is_linked=False, is_complete=False)
    CoverageLabel.objects.filter(pk=third.pk).update(coverage="none", lines=[], is_linked=False)
    Verdict.objects.filter(summary=first.summary, insight=first.insight).update(is_valid=False)
    rows = exported(study, tmp_path / "out.json")
    labels = {one["insight_id"]: one for one in rows[0]["annotation"]}
    assert labels[first.insight.key]["candidate_id"] == ["1", "2"]
    assert second.insight.key not in labels
    assert labels[third.insight.key] == {
        "insight_id": third.insight.key, "coverage": "not_covered", "candidate_id": "no_selection",
    }  # fmt: skip
    predictions = {one["insight_id"]: one for one in rows[0]["predictions_strict"]}
    assert (predictions[first.insight.key]["coverage"], predictions[first.insight.key]["bullet_id"]) == (
        "INVALID",
        "NA",
    )
    parsed = eval_benchmark.parse(tmp_path / "out.json")
    assert {label.insight_key: label.lines for label in parsed[0].human}[first.insight.key] == (2, 3)


def test_only_linking_studies_with_labels_have_such_a_file(tmp_path: Path) -> None:
    study = make_labelled_study(summaries=make_summaries(n=2))
    Study.objects.create(name="Empty", kind="linking", created_at=study.created_at)
    Study.objects.create(name="Words", kind="writing", created_at=study.created_at)
    out = tmp_path / "out.json"
    for options, sentence in (
        ((), "Name a study"),
        (("--study", "Nobody's"), "There is no study"),
        (("--study", "Empty"), "no such labels in “Empty”; annotators: none"),
        (("--study", "Words"), "is a study of timed writing, not of coverage linking"),
    ):
        with pytest.raises(CommandError, match=sentence):
            output_of("export_dataset", BENCHMARK, "--out", out, *options)
    assert not out.exists()
    assert not AuditEvent.objects.filter(action="file.exported").exists()
    output_of("export_dataset", BENCHMARK, "--study", study.uid, "--out", out)
    assert AuditEvent.objects.get(action="file.exported").object_uid == str(study.uid)


def test_the_number_of_queries_does_not_grow(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for name, n in (("small", 2), ("large", 40)):
        study = make_labelled_study(summaries=make_summaries(n=n, dataset=name), name=name)
        with django_assert_num_queries(6):
            assert len(list(entries_of(study))) == n


def test_names_that_are_empty_or_too_long_are_refused() -> None:
    rows = json.loads(eval_benchmark.EXAMPLE)
    for name in ("annotation_", "predictions_" + "x" * 121):
        with pytest.raises(eval_benchmark.ImportFailed, match="1 to 120 characters"):
            eval_benchmark.parse(io.BytesIO(json.dumps([{**rows[0], name: []}]).encode()))


def test_the_published_file_comes_out_with_the_same_table_1(published: Path, tmp_path: Path) -> None:
    output_of("import_dataset", BENCHMARK, published / "eval_benchmark_conversations.json")
    before, labels = table_1(), sorted(map(str, CoverageLabel.objects.values_list(*PLACE)))
    verdicts = sorted(map(str, Verdict.objects.values_list("judge__name", *PLACE)))
    out = tmp_path / "out.json"
    rows = exported(Study.objects.get(), out)
    given = json.loads((published / "eval_benchmark_conversations.json").read_text())
    kept = ("annotation", *(name for name in given[0] if name.startswith("predictions_")))
    assert [{name: row[name] for name in ("summkey", "summary", *kept)} for row in rows] == [
        {name: row[name] for name in ("summkey", "summary", *kept)} for row in given
    ]
    forget_everything()
    output_of("import_dataset", BENCHMARK, out)
    assert sorted(map(str, CoverageLabel.objects.values_list(*PLACE))) == labels
    assert sorted(map(str, Verdict.objects.values_list("judge__name", *PLACE))) == verdicts
    assert table_1() == before
