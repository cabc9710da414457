"""The archive of a leaderboard: the same files by its page and by the command."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks.models import AuditEvent
from tests.makers import flat
from tests.makers_topic import topic_json, write_topic

JUDGE = {"judge": "published"}


@pytest.fixture
def topic(tmp_path: Path, db: None) -> None:
    call_command("import_dataset", "summhay", str(write_topic(tmp_path, topic_json())), stdout=io.StringIO())


def manifest_of(archive: zipfile.ZipFile) -> Any:
    [name] = [name for name in archive.namelist() if name.endswith("/manifest.json")]
    return json.loads(archive.read(name))


def test_the_page_and_the_command_give_the_same_files(topic: None, tmp_path: Path, ada: Any, login: Any) -> None:
    client = login(ada)
    page = flat(client.get(reverse("annotation:leaderboard-archive"), JUDGE).text)
    assert "verdicts by the keys of insights" in page
    answer = client.get(reverse("annotation:leaderboard-archive-file"), JUDGE | {"licence": "CC0"})
    assert answer.headers["Content-Type"] == "application/zip"
    by_page = manifest_of(zipfile.ZipFile(io.BytesIO(answer.getvalue())))
    out = tmp_path / "board.zip"
    call_command("export_leaderboard", "--judge", "published", "--out", str(out), "--licence", "CC0")
    by_command = manifest_of(zipfile.ZipFile(out))
    named = {row["name"] for row in by_command["files"]}
    assert {row["name"] for row in by_page["files"]} == named
    assert {"verdicts.csv", "figures.json", "methods.md", "README.md", "croissant.json", "LICENCE.txt"} <= named
    assert by_page["leaderboard"] == by_command["leaderboard"]
    assert AuditEvent.objects.filter(action="file.exported", detail__files=["board.zip"]).exists()
    assert not out.with_name("board.zip.part").exists()


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left(topic: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        call_command(
            "export_leaderboard", "--judge", "published", "--out", str(tmp_path / "nowhere" / "board.zip")
        )
    assert not list(tmp_path.rglob("*.part"))
