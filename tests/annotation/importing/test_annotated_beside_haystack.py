"""An annotated benchmark beside its haystack's own file: the same rows in either order, the same leaderboard."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import CoverageLabel, Study
from benchmarks.io.published import stored_hash
from benchmarks.io.schemas import summhay
from benchmarks.io.writers import topic_of
from benchmarks.models import Haystack, Insight, Judge, Subtopic, Summary, Verdict
from tests.makers_topic import topic_json, write_topic
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db
OTHER = ("summary_subtopic_keywords_model-a", "summary_subtopic_keywords_model-z")
"""A system whose annotated text is not the one of the haystack's file, and one that the file lacks."""


def annotated(topic: dict[str, Any], *, file_name: str) -> list[dict[str, Any]]:
    """Every summary of a haystack file as people and a judge may have labelled it, subtopics last to first."""
    entries = []
    for subtopic in reversed(topic["subtopics"]):
        insights = list(reversed(subtopic["insights"]))
        texts = subtopic["summaries"] | {OTHER[1]: ["- Only here [1]."]}
        for key, lines in texts.items():
            shown = ["- Another text of the same system [2].", *lines] if key == OTHER[0] else lines
            entries.append(
                {
                    "topic_fn": f"data/{file_name}.json",
                    "topic": "A name of its own",
                    "subtopic_id": subtopic["subtopic_id"],
                    "subtopic": subtopic["subtopic"],
                    "summkey": key,
                    "summary": shown,
                    "reference_insights": insights,
                    "annotation": [
                        {"insight_id": one["insight_id"], "coverage": "fully_covered", "candidate_id": "0"}
                        for one in insights
                    ],
                    "predictions_critic": [
                        {"insight_id": one["insight_id"], "coverage": "NO_COVERAGE", "bullet_id": "NA"}
                        for one in insights
                    ],
                }
            )
    return entries


def bring_in(format_name: str, path: Path) -> dict[str, Any]:
    return json_of("import_dataset", format_name, path)


def leaderboard(judge: str):
    return json_of("report", "leaderboard", "--judge", judge)


def rounded(rows):
    """Sums in another order differ in the last digit."""
    return [
        {name: round(value, 9) if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    ]


def state() -> dict[str, Any]:
    """Everything that an import writes, by published ids."""
    haystack = Haystack.objects.get()
    place = ("summary__subtopic__key", "summary__system__key", "summary__text_sha256", "insight__key")
    return {
        "haystack": Haystack.objects.values_list(
            "key", "title", "domain", "dataset", "n_documents", "n_words", "content_sha256", "metadata"
        ).get(),
        "hash": stored_hash(haystack),
        "subtopics": sorted(Subtopic.objects.values_list("number", "key", "name", "description", "query")),
        "insights": sorted(
            (*row, tuple(gold))
            for *row, gold in Insight.objects.values_list(
                "subtopic__key", "number", "key", "text", "gold_documents"
            )
        ),
        "summaries": sorted(Summary.objects.values_list("subtopic__key", "system__key", "text_sha256", "origin")),
        "labels": sorted((*row, str(lines)) for *row, lines in CoverageLabel.objects.values_list(*place, "lines")),
        "verdicts": sorted(Verdict.objects.values_list("judge__name", *place, "coverage")),
    }


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    topic = topic_json(n_subtopics=3)
    benchmark = tmp_path / "benchmark.json"
    benchmark.write_text(json.dumps(annotated(topic, file_name="topic_harbour")))
    return {"summhay": write_topic(tmp_path, topic), "summhay-eval-benchmark": benchmark}


@pytest.fixture
def forwards(files: dict[str, Path]) -> dict[str, Any]:
    for name, path in files.items():
        bring_in(name, path)
    return state()


def test_the_benchmark_beside_its_haystack_changes_no_cell_of_the_leaderboard(files: dict[str, Path]) -> None:
    bring_in("summhay", files["summhay"])
    output_of("run_judge", "lexical")
    before = [leaderboard("published"), leaderboard("lexical")]
    report = bring_in("summhay-eval-benchmark", files["summhay-eval-benchmark"])
    assert report["created"]["summaries"] == 6  # two systems on three subtopics
    assert report["created"]["insights"] == report["created"]["subtopics"] == 0
    output_of("run_judge", "lexical")
    texts = Summary.objects.filter(origin=Summary.Origin.ANNOTATED)
    assert all(row.verdicts.filter(judge__name="lexical").exists() for row in texts)
    assert [leaderboard("published"), leaderboard("lexical")] == before


def test_either_order_makes_the_same_rows(files: dict[str, Path], forwards: dict[str, Any]) -> None:
    Haystack.objects.all().delete()
    for name in reversed(files):
        bring_in(name, files[name])
    assert state() == forwards
    assert state()["hash"] == Haystack.objects.get().content_sha256
    assert Summary.objects.filter(origin=Summary.Origin.ANNOTATED).count() == 6
    reports = [bring_in(name, path) for name, path in files.items()]
    assert [sum(report["created"].values()) + sum(report["updated"].values()) for report in reports] == [0, 0]
    assert state() == forwards


def test_a_benchmark_that_names_the_id_of_its_haystack_is_completed_too(
    files: dict[str, Path], forwards: dict[str, Any]
) -> None:
    Haystack.objects.all().delete()
    entries = json.loads(files["summhay-eval-benchmark"].read_text())
    for entry in entries:
        del entry["topic_fn"]
        entry["topic_id"] = "harbour"
    files["summhay-eval-benchmark"].write_text(json.dumps(entries))
    for name in reversed(files):
        bring_in(name, files[name])
    assert state() == forwards


def test_a_subtopic_that_the_haystack_lacks_comes_after_its_own(files: dict[str, Path]) -> None:
    entries = json.loads(files["summhay-eval-benchmark"].read_text())
    extra = entries[0] | {"subtopic_id": "elsewhere", "subtopic": "Another aspect"}
    files["summhay-eval-benchmark"].write_text(json.dumps([extra, *entries]))
    for name in reversed(files):
        bring_in(name, files[name])
    assert list(Subtopic.objects.order_by("number").values_list("number", "key")) == [
        (1, "harbour-s0"), (2, "harbour-s1"), (3, "harbour-s2"), (4, "elsewhere"),
    ]  # fmt: skip
    assert sorted(Insight.objects.filter(subtopic__key="elsewhere").values_list("number", flat=True)) == [1, 2, 3]
    assert sum(bring_in("summhay", files["summhay"])["created"].values()) == 0


@pytest.mark.parametrize("first", ["summhay", "summhay-eval-benchmark"])
def test_an_insight_that_the_haystack_lacks_or_words_otherwise_is_refused(
    files: dict[str, Path], first: str
) -> None:
    entries = json.loads(files["summhay-eval-benchmark"].read_text())
    entries[0]["reference_insights"].append({"insight_id": "new", "insight": "Something else."})
    entries[-1]["reference_insights"][0]["insight"] = "Other words."
    files["summhay-eval-benchmark"].write_text(json.dumps(entries[:1] + entries[-1:]))
    second = next(name for name in files if name != first)
    bring_in(first, files[first])
    before = state()
    with pytest.raises(SystemExit):
        bring_in(second, files[second])
    assert state() == before


def test_an_export_holds_the_texts_of_the_haystack_only(files: dict[str, Path], forwards: dict[str, Any]) -> None:
    assert topic_of(Haystack.objects.get()) == summhay.parse(files["summhay"])


def test_pages_show_both_texts(forwards: dict[str, Any], as_eve) -> None:
    subtopic = Subtopic.objects.get(number=1)
    page = as_eve.get(reverse("benchmarks:subtopic-detail", args=[subtopic.uid])).text
    assert page.count("annotated text") == 2
    assert "scores from 0 to 100 by published" in " ".join(page.split())
    assert "selected>published</option>" in as_eve.get(reverse("annotation:leaderboard")).text
    for summary in subtopic.summaries.all():
        assert str(summary.uid) in page


def test_the_published_haystack_keeps_its_leaderboard(published: Path, tmp_path: Path) -> None:
    topic = json.loads((published / "topic_news1.json").read_text())
    benchmark = tmp_path / "benchmark.json"
    keys = list(topic["subtopics"][0]["summaries"])[::9]
    for subtopic in topic["subtopics"]:
        subtopic["summaries"] = {key: [*subtopic["summaries"][key], "- One more [1]."] for key in keys}
    benchmark.write_text(json.dumps(annotated(topic, file_name="topic_news1")))
    bring_in("summhay", published / "topic_news1.json")
    before = leaderboard("published")
    assert bring_in("summhay-eval-benchmark", benchmark)["created"]["summaries"] == 9 * (len(keys) + 1)
    assert leaderboard("published") == before
    once = state()
    Haystack.objects.all().delete()
    bring_in("summhay-eval-benchmark", benchmark)
    bring_in("summhay", published / "topic_news1.json")
    assert state() == once
    assert rounded(leaderboard("published")) == rounded(before)


def own_export(study: str, path: Path) -> Path:
    call_command("export_dataset", "summhay-eval-benchmark", "--study", study, "--out", str(path))
    return path


@pytest.fixture
def unpredicted(files: dict[str, Path], tmp_path: Path) -> Path:
    """People's labels on texts of the haystack's file, without a word of its judge."""
    entries = json.loads(files["summhay-eval-benchmark"].read_text())
    kept = [one for one in entries if one["summkey"] not in OTHER]
    for one in kept:
        del one["predictions_critic"]
    path = tmp_path / "unpredicted.json"
    path.write_text(json.dumps(kept))
    return path


def n_changed(report: dict[str, Any], *, but: str = "") -> int:
    kinds = {**report["created"], **{f"updated {name}": n for name, n in report["updated"].items()}}
    return sum(n for name, n in kinds.items() if name != but)


def test_an_own_export_comes_back_to_the_judge_that_gave_it(
    files: dict[str, Path], unpredicted: Path, tmp_path: Path
) -> None:
    bring_in("summhay", files["summhay"])
    bring_in("summhay-eval-benchmark", unpredicted)
    output_of("run_judge", "lexical")
    before, judges = [leaderboard("published"), leaderboard("lexical")], Judge.objects.count()
    export = own_export(Study.objects.get(kind=Study.Kind.LINKING).name, tmp_path / "exp.json")
    assert "predictions_published" in export.read_text()
    assert "predictions_lexical" in export.read_text()
    assert n_changed(bring_in("summhay-eval-benchmark", export)) == 0
    assert Judge.objects.count() == judges
    assert [leaderboard("published"), leaderboard("lexical")] == before
    assert n_changed(bring_in("summhay", files["summhay"])) == 0


def test_what_a_known_judge_has_not_said_yet_is_added_to_it(files: dict[str, Path], tmp_path: Path) -> None:
    bring_in("summhay", files["summhay"])
    entries = json.loads(files["summhay-eval-benchmark"].read_text())
    for one in entries:
        one["predictions_published"] = one.pop("predictions_critic") if one["summkey"] in OTHER else []
        one.pop("predictions_critic", None)
    files["summhay-eval-benchmark"].write_text(json.dumps(entries))
    before = leaderboard("published")
    assert bring_in("summhay-eval-benchmark", files["summhay-eval-benchmark"])["created"]["verdicts"] == 18
    assert Judge.objects.get().name == "published"
    assert leaderboard("published") == before


def test_only_a_contradiction_makes_another_version(files: dict[str, Path], tmp_path: Path) -> None:
    bring_in("summhay", files["summhay"])
    entries = json.loads(files["summhay-eval-benchmark"].read_text())
    for one in entries:
        said = one.pop("predictions_critic")
        one["predictions_published"] = [dict(row, coverage="PARTIAL_COVERAGE", bullet_id=1) for row in said]
    files["summhay-eval-benchmark"].write_text(json.dumps(entries))
    bring_in("summhay-eval-benchmark", files["summhay-eval-benchmark"])
    assert [str(judge) for judge in Judge.objects.order_by("version")] == ["published", "published v2"]
    export = own_export(Study.objects.get(kind=Study.Kind.LINKING).name, tmp_path / "exp.json")
    assert "predictions_published v2" in export.read_text()
    reports = [bring_in("summhay", files["summhay"]), bring_in("summhay-eval-benchmark", export)]
    assert [n_changed(report) for report in reports] == [0, 0]
    assert Judge.objects.count() == 2
