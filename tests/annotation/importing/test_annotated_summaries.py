"""Published labels and predictions, and plain tables of labels: all or nothing, and twice changes nothing."""

import copy
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from annotation.coverage.collect import coverage_table
from annotation.models import CoverageLabel, Study
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import eval_benchmark
from benchmarks.models import AuditEvent, Haystack, Insight, Judge, Summary, Verdict
from tests.running import told_by

BENCHMARK = "summhay-eval-benchmark"
ENTRY: dict[str, Any] = json.loads(eval_benchmark.EXAMPLE)[0]


def entry(**changes) -> dict[str, Any]:
    return copy.deepcopy(ENTRY) | changes


def parsed(*entries: dict[str, Any], problems: Problems | None = None):
    return eval_benchmark.parse(io.BytesIO(json.dumps(entries).encode()), problems=problems)


def refusal(*entries) -> str:
    with pytest.raises(ImportFailed) as failed:
        parsed(*entries)
    return str(failed.value)


def write(folder: Path, *entries: dict[str, Any], name: str = "benchmark.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(entries))
    return path


def run(*args) -> tuple[int, Any]:
    return told_by("import_dataset", BENCHMARK, *args)


def rows() -> list[int]:
    models = (Haystack, Insight, Summary, CoverageLabel, Judge, Verdict, Study, AuditEvent)
    return [model.objects.count() for model in models]


def test_links_of_people_count_from_0_and_those_of_judges_from_1() -> None:
    one = parsed(ENTRY)[0]
    assert [(label.coverage, label.lines) for label in one.human] == [("partial", (2,))]
    assert [(v.coverage, v.lines) for v in one.predictions["some-judge"]] == [("full", (2,))]


@pytest.mark.parametrize(
    ("given", "lines"), [("NA", ()), (None, ()), (1, (1,)), ([1, 2], (1, 2)), ("[2]", (2,)), ([], ())]
)
def test_a_judge_names_lines_in_many_ways(given, lines: tuple[int, ...]) -> None:
    said = {"insight_id": "costs-1", "coverage": "FULL_COVERAGE", "bullet_id": given}
    assert parsed(entry(predictions_x=[said]))[0].predictions["x"][0].lines == lines


def test_a_line_that_is_not_there_is_dropped_with_a_warning() -> None:
    problems = Problems()
    said = {"insight_id": "costs-1", "coverage": "fully_covered", "candidate_id": "7"}
    assert parsed(entry(annotation=[said]), problems=problems)[0].human[0].lines == ()
    assert [(row["kind"], row["count"]) for row in problems.warnings] == [("unknown_line", 1)]


def test_a_byte_order_mark_is_skipped() -> None:
    assert eval_benchmark.parse(io.BytesIO(b"\xef\xbb\xbf" + json.dumps([ENTRY]).encode()))


def test_some_entries_name_the_file_of_their_haystack_instead_of_its_id() -> None:
    one = entry(topic_fn="data/topic_harbour.json")
    del one["topic_id"]
    assert parsed(one)[0].haystack_key == "harbour"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"summkey": None}, "[1].summkey: expected an id of 1 to 120 characters, got nothing."),
        ({"summary": "one text"}, "[1].summary: expected a list of lines, got the text “one text”."),
        ({"reference_insights": []}, "[1].reference_insights: expected a list of insights, got an empty list."),
        (
            {"annotation": [{"insight_id": "costs-1", "coverage": "mostly"}]},
            "[1].annotation[0].coverage: expected none, partial or full, got the text “mostly”.",
        ),
        (
            {"annotation": [{"insight_id": "costs-9", "coverage": "full"}]},
            "[1].annotation[0].insight_id: expected a reference insight, got the text “costs-9”.",
        ),
    ],
)
def test_a_bad_row_is_named_with_its_field_and_what_was_expected(changes: dict[str, Any], sentence: str) -> None:
    assert sentence in refusal(ENTRY, entry(**changes))


@pytest.mark.parametrize("body", [b"{", b"{}", b"[]", b"[1]"])
def test_a_file_of_another_shape_is_refused(body: bytes) -> None:
    with pytest.raises(ImportFailed, match="expected"):
        eval_benchmark.parse(io.BytesIO(body))


def test_a_file_over_the_limit_or_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="at most 10 bytes"):
        eval_benchmark.parse(write(tmp_path, ENTRY), limit_bytes=10)
    with pytest.raises(ImportFailed, match="cannot be opened"):
        eval_benchmark.parse(tmp_path / "nothing.json")


@pytest.mark.django_db
def test_the_example_becomes_a_study_with_labels_and_a_judge(tmp_path: Path) -> None:
    code, report = run(write(tmp_path, ENTRY))
    assert (code, report["errors"]) == (0, [])
    assert report["created"] == dict.fromkeys(
        ("haystacks", "subtopics", "insights", "summaries", "labels", "verdicts"), 1
    )
    label = CoverageLabel.objects.select_related("annotator", "study").get()
    assert (label.annotator.label, label.coverage, label.lines) == ("imported", "partial", [2])
    assert (label.study.kind, label.study.state, label.study.name) == (
        "linking",
        "closed",
        f"{BENCHMARK}: published labels",
    )
    assert Judge.objects.get().name == "some-judge"
    assert Haystack.objects.get().dataset == BENCHMARK
    before = rows()
    assert run(write(tmp_path, ENTRY))[1]["created"] == dict.fromkeys(report["created"], 0)
    assert rows() == before


@pytest.mark.django_db
@pytest.mark.parametrize(("named", "names_one"), [("7", True), ("NA", False), ([[1]], False), ({"a": []}, False)])
def test_a_label_names_one_line_or_none_whatever_stands_there(tmp_path: Path, named, names_one: bool) -> None:
    label = {"insight_id": "costs-1", "coverage": "fully_covered", "candidate_id": named}
    assert run(write(tmp_path, entry(annotation=[label])))[0] == 0
    assert coverage_table(CoverageLabel.objects.all()).is_single[:, 0].tolist() == [names_one]


@pytest.mark.django_db
def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path) -> None:
    code, report = run(write(tmp_path, ENTRY), "--dry-run")
    assert (code, report["created"]["labels"], sum(rows())) == (0, 1, 0)


@pytest.mark.django_db
def test_labels_that_differ_from_those_imported_before_are_refused_whole(tmp_path: Path) -> None:
    run(write(tmp_path, ENTRY))
    before = rows()
    changed = entry(annotation=[{"insight_id": "costs-1", "coverage": "full", "candidate_id": "1"}])
    other = entry(summkey="summary_subtopic_vector_some-model")
    code, report = run(write(tmp_path, other, changed))
    assert (code, report["n_errors"], rows()) == (1, 1, before)
    assert "[1].annotation: expected what was imported before, partial, line 2" in report["errors"][0]["message"]
    # Another text of a system is another summary and both keep their labels
    other = entry(summary=["Another text.", "- Of two lines."])
    code, report = run(write(tmp_path, other))
    assert (code, report["created"]["summaries"], report["created"]["labels"]) == (0, 1, 1)
    assert list(Summary.objects.order_by("pk").values_list("origin", flat=True)) == ["imported", "annotated"]
    assert CoverageLabel.objects.values("summary").distinct().count() == 2
    before = rows()
    run(write(tmp_path, ENTRY, other))
    assert rows() == before


@pytest.mark.django_db
def test_an_insight_that_differs_from_the_one_imported_before_is_refused(tmp_path: Path) -> None:
    run(write(tmp_path, ENTRY))
    insight = ENTRY["reference_insights"][0] | {"insight": "The mole cost nothing."}
    code, report = run(write(tmp_path, entry(reference_insights=[insight])))
    assert code == 1
    assert "[0].insight" in report["errors"][0]["message"]


@pytest.mark.django_db
def test_a_haystack_known_by_its_file_is_used(tmp_path: Path) -> None:
    known = Haystack.objects.create(
        key="abc", title="Harbour", created_at="2026-01-01T00:00Z", metadata={"source_name": "topic_harbour"}
    )
    one = entry(topic_fn="data/topic_harbour.json")
    del one["topic_id"]
    assert run(write(tmp_path, one))[1]["created"]["haystacks"] == 0
    assert Summary.objects.get().haystack == known


@pytest.mark.django_db
def test_a_dataset_needs_a_plain_name_and_a_researcher_an_account(tmp_path: Path, ada) -> None:
    path = write(tmp_path, ENTRY)
    assert "dataset: expected letters" in run(path, "--dataset", "two words")[1]["errors"][0]["message"]
    with pytest.raises(CommandError, match="no account “nobody”"):
        run(path, "--researcher", "nobody")
    run(path, "--dataset", "harbours", "--researcher", "ada")
    assert list(Study.objects.get(name="harbours: published labels").researchers.all()) == [ada]


@pytest.mark.django_db
def test_the_published_file_is_in_whole_and_twice_changes_nothing(published: Path) -> None:
    code, report = run(published / "eval_benchmark_conversations.json")
    assert (code, report["errors"]) == (0, [])
    created = report["created"]
    assert (created["summaries"], created["labels"], created["verdicts"]) == (114, 661, 6 * 661)
    assert CoverageLabel.objects.filter(breaks_rule=True).exists()
    before = rows()
    code, again = run(published / "eval_benchmark_conversations.json")
    assert (code, again["created"], again["unchanged"]) == (0, dict.fromkeys(created, 0), created)
    assert rows() == before
