"""Judges from the command line: judge what is lacking, and fit thresholds to published labels."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import CoverageLabel
from benchmarks.engine import versions
from benchmarks.engine.tasks import coverage
from benchmarks.io.schemas import eval_benchmark
from benchmarks.judges.lexical import LexicalConfig
from benchmarks.management.commands.fit_judge import labelled_summaries
from benchmarks.models import Judge, JudgeRun, Subtopic, Verdict
from benchmarks.scoring.comparison import compare
from benchmarks.scoring.pairs import Compared
from benchmarks.scoring.summhay import Coverage
from benchmarks.scoring.summhay import Verdict as Said
from tests.benchmarks.engine.test_judging import failing_on, make_summary, request
from tests.makers import NOW, make_haystack
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db

ENTRY = {
    "topic_id": "t", "topic": "T", "subtopic_id": "s", "subtopic": "S", "summkey": "summary_subtopic_m",
    "summary": ["- One."], "reference_insights": [{"insight_id": "i", "insight": "One."}],
    "annotation": [{"insight_id": "i", "coverage": "fully_covered", "candidate_id": "0"}],
}  # fmt: skip


@pytest.fixture
def subtopic(db: None) -> Subtopic:
    return Subtopic.objects.get(haystack=make_haystack(), number=1)


def run_judge(*args: str) -> dict[str, Any]:
    report: dict[str, Any] = json_of("run_judge", *args)
    assert report.pop("seconds") >= 0
    return report


def test_the_command_judges_everything_once(subtopic: Subtopic) -> None:
    other = make_haystack(key="mill", title="The mill", dataset="mills").subtopics.get(number=2)
    for place in (subtopic, subtopic, other):
        make_summary(place)
    make_summary(subtopic, "- by hand", origin="session")
    nothing = {"cached": 0, "failed": 0, "held_elsewhere": 0, "on_hold": 0, "invalid": 0}
    nothing |= {"cost": 0.0, "judge": "lexical-2"}
    assert run_judge("--haystack", "ferry") == nothing | {"calls": 6}
    assert run_judge("--dataset", "mills") == nothing | {"calls": 2}
    assert run_judge() == nothing | {"calls": 0, "cached": 8}
    assert run_judge("--all") == nothing | {"calls": 3, "cached": 8}


def test_the_command_says_how_far_it_is_beside_the_report(subtopic: Subtopic) -> None:
    make_summary(subtopic)
    out, err = StringIO(), StringIO()
    call_command("run_judge", stdout=out, stderr=err)
    assert "1 of 1 summaries judged" in err.getvalue()
    assert out.getvalue().startswith("lexical-2: 3 verdicts asked")


def test_the_command_takes_up_what_was_interrupted(subtopic: Subtopic) -> None:
    make_summary(subtopic)
    run = request(versions.default_judge(now=NOW))
    assert run_judge()["calls"] == 3
    run.refresh_from_db()
    assert run.state == JudgeRun.State.DONE
    assert JudgeRun.objects.count() == 1


def test_the_command_counts_what_another_worker_holds_and_what_failed(
    subtopic: Subtopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = make_summary(subtopic)
    request(versions.default_judge(now=NOW), [held]).items.update(claimed_at=timezone.now())
    bad, _ = make_summary(subtopic, "- bad"), make_summary(subtopic)
    with monkeypatch.context() as patch:
        patch.setattr(coverage, "judge_summaries", failing_on(lambda summary: summary == bad, RuntimeError("odd")))
        report = run_judge()
    assert (report["calls"], report["held_elsewhere"], report["failed"]) == (3, 3, 3)
    assert run_judge()["calls"] == 3


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nobody"], "There is no judge “nobody”; known judges: lexical."),
        (["lexical", "--judge-version", "7"], "lexical v7"),
        (["lexical", "--haystack", "atlantis"], "atlantis"),
        (["published"], "cannot be asked"),
    ],
)
def test_the_command_refuses_with_a_sentence(args: list[str], said: str, subtopic: Subtopic) -> None:
    versions.ensure_judge(name="published", kind="imported", config={}, now=NOW)
    make_summary(subtopic)
    with pytest.raises(CommandError, match=said):
        run_judge(*args)


def test_fitting_refuses_too_few_labels_and_other_files(tmp_path: Path) -> None:
    few, other = tmp_path / "few.json", tmp_path / "other.json"
    few.write_text(json.dumps([ENTRY, ENTRY | {"topic_id": "u"}]))
    other.write_text("{}")
    with pytest.raises(CommandError, match="1 labelled insights"):
        call_command("fit_judge", few)
    with pytest.raises(CommandError, match=r"other\.json"):
        call_command("fit_judge", other)


def test_a_haystack_that_is_here_with_its_documents_lends_them_to_the_labels(tmp_path: Path) -> None:
    make_haystack(key="t")
    path = tmp_path / "labels.json"
    path.write_text(json.dumps([ENTRY, ENTRY | {"topic_id": "elsewhere"}]))
    here, elsewhere = labelled_summaries(eval_benchmark.parse(path))
    assert len(here.background.texts) == 6
    assert elsewhere.background.texts == ("- One.",)
    assert here.labels[0].lines == (1,)


def test_both_offline_judges_stand_beside_each_other(subtopic: Subtopic) -> None:
    make_summary(subtopic)
    first, second = run_judge("lexical"), run_judge("lexical-2")
    assert (first["judge"], second["judge"]) == ("lexical", "lexical-2")
    assert first["calls"] == second["calls"] > 0
    assert run_judge("lexical-2")["cached"] == second["calls"]
    assert set(Verdict.objects.values_list("judge__name", flat=True)) == {"lexical", "lexical-2"}
    assert Verdict.objects.filter(judge__name="lexical-2", p_full=None).count() == 0


def test_the_published_labels_give_a_judge_with_its_held_out_figures(published: Path) -> None:
    file = published / "eval_benchmark_conversations.json"
    with pytest.raises(CommandError, match="defaults"):
        call_command("fit_judge", file, "--save", "lexical")
    report = json_of("fit_judge", file, "--save")
    held_out = report["held_out"]
    assert (report["held_out_by"], report["n_summaries"], report["n_insights"]) == ("topic", 114, 661)
    assert held_out["pearson"]["value"] >= 0.66
    assert held_out["linking_authors"]["value"] >= 0.87
    assert report["expected"]["pearson"]["value"] > report["expected"]["label_pearson"]["value"]
    assert report["expected"]["gain"]["low"] > 0
    assert [fold["expected"]["bias"]["value"] is not None for fold in report["folds"]] == [True, True]
    assert sum(part["n"] for part in report["expected"]["calibration"]) == 661
    assert held_out["linking_authors"]["hits"] / held_out["linking_authors"]["n_items"] >= 0.87
    judge = Judge.objects.get(name="lexical-fitted")
    assert judge.note == report["description"]
    assert LexicalConfig.from_mapping(judge.config).partial_from == report["config"]["partial_from"]
    assert "calibration by decile" in output_of("fit_judge", file, "--save")
    assert Judge.objects.count() == 1


def test_imported_and_judged_the_published_summaries_reach_what_is_promised(published: Path) -> None:
    output_of("import_dataset", "summhay-eval-benchmark", published / "eval_benchmark_conversations.json")
    assert run_judge("lexical")["calls"] == 661
    labels = {(label.summary_id, label.insight_id): label for label in CoverageLabel.objects.all()}
    rows = [
        Compared(
            Said(Coverage(label.coverage), tuple(label.lines)),
            Said(Coverage(verdict.coverage), tuple(verdict.lines)),
        )
        for verdict in Verdict.objects.filter(judge__name="lexical")
        for label in [labels[verdict.summary_id, verdict.insight_id]]
    ]
    figures = compare(rows)
    assert figures.stats["pearson"].n_items == 661
    assert (figures.stats["pearson"].value or 0) >= 0.7
    assert (figures.stats["linking_authors"].value or 0) >= 0.87
