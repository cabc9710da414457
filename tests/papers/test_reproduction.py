"""`manage.py reproduce`: papers beside ours, from published files, from the site, or with the reason."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from benchmarks.models import Haystack, Judge
from extensions.papers.making import identities
from extensions.papers.parts import PAPERS, printed
from extensions.papers.summhay import JUDGES, RETRIEVERS, SYSTEMS, SummHay
from tests.annotation.little import ALL, MAKERS
from tests.makers_recall import make_judge, make_response, say
from tests.papers.page import PAGE, page
from tests.running import json_of, output_of
from tests.taking_in import import_sources

pytestmark = pytest.mark.django_db


def reproduced(paper: str, *arguments: str) -> dict[str, Any]:
    """Parts by their name: “table 1”, “table 2 joint”."""
    parts = json_of("reproduce", paper, *arguments)["parts"]
    return {" ".join(filter(None, (part["kind"], part["number"], part["part"]))): part for part in parts}


def cells(part: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(cell["row"], cell["column"]): cell for cell in part["cells"]}


def test_published_files_give_what_the_authors_code_gives_and_the_site_stays_as_it_is(published: Path) -> None:
    found = reproduced("summhay", "--data", str(published.parent))
    assert not Haystack.objects.exists()
    assert not Judge.objects.exists()
    expected = json.loads((published / "expected_figures.json").read_text())
    table_1 = cells(found["table 1"])
    for name, judge in JUDGES.items():
        figures = expected["conversations_114"][judge]
        share = 100 * figures["link_hits"] / figures["link_n"]
        assert table_1[name, "Pearson"]["ours"] == pytest.approx(figures["pearson"], abs=1e-9)
        assert table_1[name, "same bullet, %"]["ours"] == pytest.approx(share, abs=1e-9)
        assert "usage" in table_1[name, "cost, $"]["reason"]
    assert "86 more are needed" in found["table 1"]["of"]
    board = expected["topic_news1_leaderboard_pooled_over_insights"]
    n_cells = 0
    for measure in ("coverage", "citation", "joint"):
        for (row, column), cell in cells(found[f"table 2 {measure}"]).items():
            if row in SYSTEMS:
                value = board[f"{measure}_score"][SYSTEMS[row]][RETRIEVERS[column]]
                assert cell["ours"] == pytest.approx(100 * value, abs=1e-4)
                assert cell["difference"] == pytest.approx(cell["ours"] - cell["paper"])
                n_cells += 1
    assert n_cells == 3 * 69
    table_5, figures = cells(found["table 5"]), {"precision": "citation_precision", "recall": "citation_recall"}
    for name, key in figures.items():
        value = 100 * board[key]["gpt-4o"]["full-ctxt"]
        assert table_5["GPT-4o", f"{name}, Full"]["ours"] == pytest.approx(value, abs=1e-4)
    table_3 = cells(found["table 3"])
    top, random = (board["joint_score"]["gpt-4o"][order] for order in ("fl-ctxt-sort", "full-ctxt"))
    assert table_3["GPT-4o", "Top"]["ours"] == pytest.approx(100 * top, abs=1e-4)
    assert table_3["GPT-4o", "Random"]["ours"] == pytest.approx(100 * random, abs=1e-4)
    for part in ("as printed", "notebook"):
        rows = cells(found[f"table 4 {part}"])
        assert {rows["GPT3.5", judge]["equal"] for judge in ("GPT-4o", "Opus", "Gem-1.5-Pro")} == {True}
        assert rows["Average", "GPT-4o"]["equal"] is False
    assert all(cell["equal"] for cell in found["figure 4"]["cells"])
    assert found["figure 3"]["reason"] == "what people wrote is not published, and nobody wrote here"


def test_the_page_of_the_papers_is_what_the_published_files_give(published: Path) -> None:
    assert PAGE.read_text() == page(published), "run `make papers`"


def test_printed_numbers_are_computed_with_each_other() -> None:
    found = {paper: {cell.row: cell for cell in identities(paper, printed(paper)).cells} for paper in PAPERS}
    share = found["long2rag"]["§3.3, share of key points kept, %"]
    assert share.is_equal
    assert share.ours == pytest.approx(100 * 2055 / 3651)
    harmonic = found["long2rag"]["Table 4, KPF of GPT-4o as the harmonic mean of its means"]
    assert harmonic.ours == pytest.approx(2 * 0.323 * 0.579 / 0.902)
    assert not harmonic.is_equal
    moved = {row for row, cell in found["long2rag"].items() if "rank of" in row and not cell.is_equal}
    assert {row.split()[4] for row in moved} == {"Claude-3-Sonnet", "GPT-4-Turbo"}
    sensitivity = found["summhay"]["Table 3, sensitivity of GPT-4o"]
    assert (float(sensitivity.paper or 0), sensitivity.ours) == (12.6, pytest.approx(12.7))
    middlesum = found["middlesum"]
    assert middlesum["Table 7: words, source over all"].is_equal
    assert sum(bool(cell.is_equal) for cell in middlesum.values()) > 0.9 * len(middlesum)


@pytest.mark.parametrize("paper", PAPERS)
def test_on_an_empty_site_every_number_has_its_reason(paper: str) -> None:
    for name, part in reproduced(paper).items():
        assert part["reason"] or any(cell["ours"] is not None for cell in part["cells"]), name
        assert all((cell["ours"] is None) == bool(cell["reason"]) for cell in part["cells"])
    assert "What the printed numbers say of each other" in output_of("reproduce", paper)


@pytest.fixture
def _responses() -> None:
    """Two models and two questions, judged by two judges."""
    judges = {name: make_judge(name) for name in ("gpt-4o", "llama3-70b")}
    for category in ("causal", "factual"):
        for system, n_entailed in (("gpt-4o", 3), ("qwen2-7b", 1)):
            response = make_response(category, system=system, n_points=4, category=category)
            say(judges["gpt-4o"], response, ["yes"] * n_entailed + ["no"] * (4 - n_entailed))
            say(judges["llama3-70b"], response, ["yes"] * (n_entailed + 1) + ["no"] * (3 - n_entailed))


@pytest.mark.usefixtures("_responses")
def test_imported_responses_stand_beside_those_of_the_paper() -> None:
    found = reproduced("long2rag")
    table_1 = cells(found["table 1"])
    assert (table_1["GPT-4o", "Causal"]["ours"], table_1["Qwen2-7B", "Average"]["ours"]) == (0.75, 0.25)
    assert table_1["GPT-4o", "Causal"]["difference"] == pytest.approx(0.75 - 0.559)
    assert table_1["GPT-4o", "Predictive"]["reason"] == "no responses of this model are here"
    assert found["table 1"]["of"].startswith("2 of 280 questions")
    assert cells(found["table 3"])["Qwen2-7B", "Llama3-70B"]["ours"] == 0.5
    assert {key: cell["ours"] for key, cell in cells(found["figure 11"]).items()} == {
        ("causal", "questions"): 1,
        ("factual", "questions"): 1,
    }
    by_category = cells(found["figure 5"])
    assert (by_category["gpt-4o", "causal"]["ours"], by_category["gpt-4o", "causal"]["paper"]) == (0.75, None)


def _take_sources(now: datetime) -> None:
    reference = "Boats leave at six in the morning."

    def lines() -> Iterator[dict[str, Any]]:
        for at in range(6):
            texts = [{"system": "mistral-7b", "text": "Boats leave at six.", "scores": {"BERTScore": 80.0}}]
            yield {
                "key": str(at),
                "documents": [f"{reference} A cat sleeps."],
                "reference": reference,
                "summaries": texts,
            }

    import_sources(list(lines()), now=now, dataset="xsum")


def test_imported_sources_stand_beside_those_of_the_paper(now: datetime) -> None:
    _take_sources(now)
    found = reproduced("middlesum", "--table", "5", "--table", "4", "--figure", "1", "--figure", "8")
    rouge = cells(found["table 5 ROUGE-2"])["Mistral-7B", "XSum"]
    assert rouge["ours"] == pytest.approx(100 * 2 * 3 / (3 + 6))
    assert rouge["difference"] == pytest.approx(rouge["ours"] - 7.05)
    assert cells(found["table 5 BERTScore"])["Mistral-7B", "XSum"]["ours"] == 80.0
    assert cells(found["table 5 A3CU"])["Mistral-7B", "XSum"]["reason"].startswith("import this score")
    statistics = cells(found["table 4"])
    assert statistics["XSum", "words, source"]["ours"] == 10
    assert "tokenizer" in statistics["XSum", "tokens, source"]["reason"]
    assert {cell["ours"] for cell in found["figure 8"]["cells"] if cell["row"] == "xsum"} == {1.0}
    bins = [cell["ours"] for cell in found["figure 1"]["cells"] if cell["row"] == "mistral-7b on xsum"]
    assert len(bins) == 20
    assert sum(bins) == pytest.approx(1)


def test_a_table_that_a_paper_has_not_and_a_folder_without_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="has no table 9 here; there are: 1, 2, 3, 4, 5"):
        reproduced("summhay", "--table", "9")
    with pytest.raises(CommandError, match=r"has no topic_\*\.json"):
        reproduced("summhay", "--data", str(tmp_path))
    with pytest.raises(CommandError, match="reads files of Summary of a Haystack"):
        reproduced("long2rag", "--data", str(tmp_path))
    (tmp_path / "topic_1.json").write_text("{}")
    with pytest.raises(CommandError, match=r"topic_1\.json: "):
        reproduced("summhay", "--data", str(tmp_path))


@pytest.mark.parametrize(
    ("paper", "arguments", "said"),
    [
        ("long2rag", ("--study", "nosuch"), "There is no study “nosuch”"),
        ("long2rag", ("--judge", "nosuch"), "There is no judge “nosuch”"),
        ("summhay", ("--study", "nosuch"), "There is no study “nosuch”"),
        ("summhay", ("--judge", "nosuch"), "There is no judge “nosuch”"),
        ("middlesum", ("--study", "nosuch"), "leave out --judge and --study"),
        ("middlesum", ("--judge", "nosuch"), "leave out --judge and --study"),
    ],
)
def test_a_study_or_judge_that_is_not_here_is_named(paper: str, arguments: tuple[str, str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        reproduced(paper, *arguments)


def test_one_table_is_printed_with_all_its_numbers() -> None:
    lines = output_of("reproduce", "summhay", "--table", "3").splitlines()
    assert lines[0] == "Table 3. Joint by the order of documents in the full context"
    assert len([line for line in lines if "—" in line]) == 12
    assert any("Not here: There is no judge “published”" in line for line in lines)


def test_data_of_ones_own_are_not_taken_for_those_of_the_authors(ada, ben, cleo) -> None:
    MAKERS["linking"](ALL, ada, (ben, cleo))
    found = SummHay(judge="owl")
    assert "which are not the 200 of the paper" in found.of_labels
    assert found.of_haystacks.startswith("0 of 10 haystacks, and of 1 without a system of the paper")
