"""The archive of a leaderboard: the same files by its page and by the command."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks.io.schemas import summhay
from benchmarks.io.writers import topic_of
from benchmarks.models import AuditEvent, Haystack, Judge, Verdict
from benchmarks.system_names import setting_name
from tests.annotation.archive_tables import COVERAGE, figure, tables_of
from tests.makers import flat
from tests.makers_topic import topic_json, write_topic
from tests.running import output_of

JUDGE = {"judge": "published"}
ORDERS = ("oracle", "fl-ctxt-sort", "fl-ctxt-rev-sort", "full-ctxt")


@pytest.fixture
def topic(tmp_path: Path, db: None) -> None:
    output_of("import_dataset", "summhay", write_topic(tmp_path, topic_json()))


def manifest_of(archive: zipfile.ZipFile):
    [name] = [name for name in archive.namelist() if name.endswith("/manifest.json")]
    return json.loads(archive.read(name))


def test_the_page_and_the_command_give_the_same_files(topic: None, tmp_path: Path, as_ada) -> None:
    page = flat(as_ada.get(reverse("annotation:leaderboard-archive"), JUDGE).text)
    assert "verdicts by the keys of insights" in page
    answer = as_ada.get(reverse("annotation:leaderboard-archive-file"), JUDGE | {"licence": "CC0"})
    assert answer.headers["Content-Type"] == "application/zip"
    by_page = manifest_of(zipfile.ZipFile(io.BytesIO(answer.getvalue())))
    out = tmp_path / "board.zip"
    call_command("export_leaderboard", "--judge", "published", "--out", str(out), "--licence", "CC0")
    by_command = manifest_of(zipfile.ZipFile(out))
    named = {row["name"] for row in by_command["files"]}
    assert {row["name"] for row in by_page["files"]} == named
    assert {"verdicts.csv", "figures.json", "README.md", "croissant.json", "LICENCE.txt"} <= named
    assert by_page["leaderboard"] == by_command["leaderboard"]
    assert AuditEvent.objects.filter(action="file.exported", detail__files=["board.zip"]).exists()
    assert not out.with_name("board.zip.part").exists()


@pytest.mark.django_db
def test_a_board_comes_back_from_its_corpus_with_answers_that_could_not_be_used(tmp_path: Path) -> None:
    value = topic_json(n_subtopics=3)
    for subtopic in value["subtopics"]:
        for verdicts in subtopic["eval_summaries"].values():
            verdicts[0] |= {"coverage": "INVALID", "bullet_id": "NA"}
    figures = [figures_of_board(write_topic(tmp_path, value), tmp_path)]
    corpus = tmp_path / "topic_again.json"
    corpus.write_bytes(b"".join(summhay.dump(topic_of(Haystack.objects.get(), judge=Judge.objects.get()))))
    call_command("flush", interactive=False, verbosity=0)
    figures.append(figures_of_board(corpus, tmp_path))
    assert figures[0] == figures[1]
    assert b"joint" in figures[0]


@pytest.mark.django_db
def test_the_coverage_of_each_row_comes_out_of_the_verdicts(tmp_path: Path) -> None:
    value = topic_json(n_subtopics=3, systems=tuple(f"summary_subtopic_{order}_model-b" for order in ORDERS))
    value["subtopics"][0]["eval_summaries"]["summary_subtopic_oracle_model-b"].pop()
    output_of("import_dataset", "summhay", write_topic(tmp_path, value))
    tables = tables_of(board_archive(tmp_path))
    verdicts = tables["verdicts.csv"].fillna({"retriever": "", "document_order": ""})
    verdicts["score"] = verdicts["coverage"].map(COVERAGE)
    means = verdicts.groupby(["system", "retriever", "document_order"])["score"].mean()
    assert len(means) == len(ORDERS)
    for (system, retriever, order), mean in means.items():
        setting = setting_name(retriever, order)
        assert mean == pytest.approx(figure(tables, "rows", f"{system} | {setting}", "coverage"))


def board_archive(folder: Path) -> Path:
    out = folder / "board.zip"
    call_command("export_leaderboard", "--judge", "published", "--out", str(out))
    return out


def figures_of_board(corpus: Path, folder: Path) -> bytes:
    output_of("import_dataset", "summhay", corpus)
    assert Verdict.objects.filter(is_valid=False).exists()
    with zipfile.ZipFile(board_archive(folder)) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/figures.csv")]
        return archive.read(name)


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left(topic: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        call_command(
            "export_leaderboard", "--judge", "published", "--out", str(tmp_path / "nowhere" / "board.zip")
        )
    assert not list(tmp_path.rglob("*.part"))
