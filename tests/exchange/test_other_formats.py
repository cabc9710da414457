"""Every Eval Ever, METR, nuggetizer, lm-eval and folders for `datasets`: what they say of texts that are known."""

import hashlib
import io
import json
import re
from typing import Any

import pytest
import yaml
from django.urls import reverse

from annotation.models import Study
from benchmarks.models import Judge
from extensions.exchange import formats
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.leaderboard.board import report
from tests.exchange.conftest import SCRIPT, lines, named, opened
from tests.makers_recall import make_judge, make_response, say

BOARD = ("--judge", "lexical-2", "--people")
PATH = re.compile(
    r"data/[^/]+/[^/]+/[^/]+/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}_samples\.jsonl"
)
"""As the schema of Every Eval Ever has it."""


def board_of() -> dict[str, Any]:
    return {f"{row['system']} · {row['retriever']}": row for row in report("leaderboard", *BOARD)}


def test_people_are_an_entry_of_every_eval_ever_beside_systems(study: Study, files) -> None:
    found = files("every-eval-ever", *BOARD)
    logs = [json.loads(content) for name, content in found.items() if name.endswith(".json")]
    rows = board_of()
    assert {log["model_info"]["name"] for log in logs} == set(rows)
    for log in logs:
        row, samples = rows[log["model_info"]["name"]], log["detailed_evaluation_results"]
        assert PATH.fullmatch(samples["file_path"])
        content = found[samples["file_path"]]
        assert samples["checksum"] == hashlib.sha256(content).hexdigest()
        assert samples["total_rows"] == len(lines(content))
        assert {sample["evaluation_id"] for sample in lines(content)} == {log["evaluation_id"]}
        results = {result["evaluation_result_id"]: result for result in log["evaluation_results"]}
        assert results["joint"]["score_details"]["score"] * 100 == pytest.approx(row["joint"])
        about = results["coverage"]["metric_config"]["additional_details"]
        assert ("people" in about) == (log["model_info"]["additional_details"]["is_people"] == "false")


def test_a_model_as_judge_stands_beside_the_peoples_score_without_its_prompt(study: Study, files) -> None:
    config = {"model": "gull-9", "prompt": "Say yes."}
    Judge.objects.filter(name="lexical-2").update(kind=Judge.Kind.OPENAI, config=config)
    found = files("every-eval-ever", *BOARD)
    heron = next(
        json.loads(content) for name, content in found.items() if "heron" in name and name.endswith(".json")
    )
    scoring = heron["evaluation_results"][0]["metric_config"]["llm_scoring"]
    assert scoring["judges"][0]["model_info"]["name"] == "gull-9"
    assert 0 < scoring["expert_baseline"] <= 1
    assert "Say yes." not in "".join(content.decode() for content in found.values())


def test_who_gives_up_is_a_run_of_metr_without_success(study: Study, files) -> None:
    rows = {row["model"]: row for row in lines(files("metr", "--study", "Ferries")["runs.jsonl"])}
    assert [rows[f"annotator{n}"]["outcome"] for n in range(1, 6)] == [
        "submitted", "timed_out", "quit", "voided", "withdrawn",
    ]  # fmt: skip
    late, given_up, gone = rows["annotator2"], rows["annotator3"], rows["annotator5"]
    assert (late["human_minutes"], late["completed_at"] - late["started_at"]) == (120, 150 * 60_000)
    assert (given_up["human_minutes"], given_up["score_binarized"], given_up["completed_at"]) == (6, None, None)
    assert (gone["score_cont"], gone["score_binarized"]) == (None, None)
    systems = [row for row in lines(files("metr", *BOARD)["runs.jsonl"]) if row["alias"] != "human"]
    minutes = {row["task_id"]: row["human_minutes"] for row in systems}
    assert minutes == {"ferry/ferry-s1": pytest.approx((25 * 120) ** 0.5), "ferry/ferry-s2": None}


def metrics_of(nuggets: list[dict[str, str]]) -> float:
    """`all_score` of nuggetizer: support is 1, partial support a half."""
    worth = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
    return sum(worth[nugget["assignment"]] for nugget in nuggets) / len(nuggets)


def test_the_score_of_nuggetizer_is_our_coverage(study: Study, files, ada) -> None:
    found = files("nuggetizer", *BOARD)
    coverage = {row["run_id"]: [] for content in found.values() if content[:1] == b"{" for row in lines(content)}
    for content in (content for name, content in found.items() if name.endswith(".jsonl")):
        for row in lines(content):
            coverage[row["run_id"]] += row["nuggets"]
    rows = board_of()
    systems = {run: nuggets for run, nuggets in coverage.items() if not run.startswith("people")}
    assert len(systems) == 3
    for run, nuggets in systems.items():
        assert 100 * metrics_of(nuggets) == pytest.approx(rows[run]["coverage"])
    linking = make_labelled_study(summaries=make_summaries(n=4), researcher=ada)
    found = files("nuggetizer", "--study", linking.name)
    labels = [(n["label"], n["assignment"]) for name, content in found.items() if name.endswith("l")
              for row in lines(content) for n in row["nuggets"]]  # fmt: skip
    assert set(labels) <= {("full", "support"), ("partial", "partial_support"), ("none", "not_support")}
    assert len(labels) == linking.coveragelabels.for_figures().count()


def test_samples_of_lm_eval_have_texts_and_measures(study: Study, files) -> None:
    found = files("lm-eval", "--study", "Ferries", "--texts")
    [content] = [content for name, content in found.items() if name.endswith(".jsonl")]
    rows = lines(content)
    assert SCRIPT in rows[1]["resps"][0][0], "texts are as they were written"
    assert all(row["filtered_resps"] == row["resps"][0] for row in rows)
    assert rows[0]["metrics"] == ["coverage", "citation", "precision", "recall", "joint"]
    assert 0 < rows[0]["coverage"] <= 1
    assert {row["doc_id"] for row in rows} == {0}


def front_matter(readme: bytes):
    return yaml.safe_load(readme.decode().split("---")[1])


@pytest.mark.parametrize("has_parquet", [True, False])
def test_every_configuration_of_a_folder_has_rows(
    study: Study, files, monkeypatch: pytest.MonkeyPatch, has_parquet: bool
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(formats, "is_available", lambda: has_parquet)
    found = files("datasets", "--study", "Ferries", "--texts", "--licence", "CC BY 4.0")
    configs = front_matter(found["README.md"])["configs"]
    paths = {each["config_name"]: each["data_files"][0]["path"] for each in configs}
    assert "credits" not in paths, "nobody was given time back"
    assert {"sessions", "periods", "curve", "annotators", "texts"} <= set(paths)
    assert sum(bool(each.get("default")) for each in configs) == 1
    texts = found[paths["texts"]]
    rows = parquet.read_table(io.BytesIO(texts)).to_pylist() if has_parquet else lines(texts)
    assert {row["person"]: row["outcome"] for row in rows}["annotator3"] == "quit"
    assert any(SCRIPT in row["text"] for row in rows)
    assert all(row["text"] == "" for row in rows if row["outcome"] == "withdrawn")
    assert {path for name, path in paths.items()} <= set(found)


def test_columns_of_insights_and_texts_are_left_out_of_tables(ada, files, db: None) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    study = make_labelled_study(summaries=make_summaries(n=4), researcher=ada)

    def columns(*flags: str) -> set[str]:
        return set(
            parquet.read_schema(
                io.BytesIO(files("datasets", "--study", study.name, *flags)["labels.parquet"])
            ).names
        )

    assert columns("--texts", "--insights") - columns() == {"bullet_text", "insight_text"}
    assert columns("--texts") - columns() == {"bullet_text"}


def test_key_point_recall_of_a_judge_is_written_too(db: None, files, as_ada) -> None:
    judge = make_judge("owl")
    response = make_response("a", system="heron", n_points=4, text="Ferries, they say.")
    say(judge, response, ["yes", "neutral", "no", ""])
    [row] = lines(named(files("nuggetizer", "--dataset", "long2rag", "--judge", "owl"), "heron"))
    assert [nugget["assignment"] for nugget in row["nuggets"]] == ["support", "not_support", "not_support"]
    assert 100 * metrics_of(row["nuggets"]) == pytest.approx(
        100 * report("kpr", "--judge", "owl")["overall"]["kpr_macro"]
    )
    page = as_ada.get(reverse("benchmarks:recall"), {"dataset": "long2rag"}).text
    assert f"{reverse('exchange:recall')}?dataset=long2rag" in page
    address, query = reverse("exchange:recall-file"), {"dataset": "long2rag", "format": "nuggetizer"}
    assert [row] == lines(named(opened(as_ada.get(address, query).getvalue()), "heron"))
    assert as_ada.get(address, query | {"judge": "<b>"}).status_code == 404
    assert as_ada.get(address, {"dataset": "long2rag", "format": "metr"}).status_code == 422
