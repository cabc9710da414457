"""The command that measures: what it prints, not how fast this machine is."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from bench import corpus, load
from bench.cases import Measurement, all_cases, least, medians, most, percentile, times_floor
from bench.stage import ROOT

pytestmark = pytest.mark.own_database

FIELDS = {"case", "name", "value", "unit", "target", "floor", "floor_is", "ratio", "met"}


def bench(*arguments: str) -> list[dict[str, Any]]:
    printed = io.StringIO()
    call_command("bench", *arguments, "--json", stdout=printed, stderr=io.StringIO())
    rows: list[dict[str, Any]] = json.loads(printed.getvalue())
    return rows


def test_a_real_server_is_measured_beside_its_floor() -> None:
    rows = bench(
        "draft_save",
        "work_page_15",
        "page_weight",
        "server_memory",
        "--requests",
        "3",
        "--rounds",
        "1",
        "--clients",
        "2",
    )
    assert all(set(row) == FIELDS for row in rows)
    by_name = {(row["case"], row["name"]): row for row in rows}
    alone = by_name["draft_save", "1 client, p50"]
    assert alone["unit"] == "ms"
    assert alone["target"] == "≤ 5 × floor"
    assert alone["value"] > 0
    assert alone["ratio"] == pytest.approx(alone["value"] / alone["floor"])
    assert {row["value"] for row in rows if row["name"] == "answers other than 200"} == {0}
    assert by_name["draft_save", "“database is locked” in the log"]["met"] is True
    assert by_name["page_weight", "requests"]["met"] is True
    assert by_name["page_weight", "compressed, with scripts and styles"]["met"] is True
    assert by_name["page_weight", "files that are not kept for a year by their hash"]["value"] == 0
    assert (
        by_name["server_memory", "master and workers"]["value"]
        > by_name["server_memory", "master and workers"]["floor"]
    )


def test_the_data_of_the_site_is_not_touched(tmp_path: Path) -> None:
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "SECRET_KEY": "x" * 60}
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, "manage.py", "bench", "import", "--rounds", "1", "--json"]
    environment.pop("SUMMHAY_DATA", None)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True, timeout=120)
    rows = json.loads(done.stdout)
    assert [row["name"] for row in rows] == ["the command as a whole", "rows"]
    assert not (tmp_path / "db.sqlite3").exists()


def test_a_case_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(CommandError, match=r"no case speed; there are draft_save, "):
        bench("speed")


@pytest.mark.parametrize("option", ["--requests", "--rounds", "--clients"])
def test_nothing_can_be_measured_with_no_effort(option: str) -> None:
    with pytest.raises(CommandError, match="1 or more"):
        bench("draft_save", option, "0")


def test_every_case_says_what_it_measures() -> None:
    cases = all_cases()
    assert {"draft_save", "work_page_15", "work_page_100", "page_weight", "readable_100"} <= set(cases)
    assert {"server_start", "server_memory", "import", "judge"} <= set(cases)
    assert all(case.about.endswith((".", ":")) for case in cases.values())


def test_a_target_bounds_the_value_or_the_ratio() -> None:
    assert Measurement("p50", 4.0, "ms", times_floor(5), 1.0).is_met is True
    assert Measurement("p50", 6.0, "ms", times_floor(5), 1.0).is_met is False
    assert Measurement("p50", 6.0, "ms", times_floor(5)).is_met is None
    assert Measurement("rate", 270, "/s", least(270)).is_met is True
    assert Measurement("rate", 269, "/s", least(270)).is_met is False
    assert Measurement("errors", 1, "", most(0)).is_met is False
    assert Measurement("size", 29.4, "KiB").is_met is None


def test_medians_are_taken_figure_by_figure() -> None:
    assert medians([{"a": 1, "b": 9}, {"a": 5, "b": 2}, {"a": 3, "b": 4}]) == {"a": 3, "b": 4}
    assert percentile(range(1, 101), 0.99) == 100
    assert percentile([7.0], 0.99) == 7.0


def test_the_made_up_haystack_is_the_same_every_time_and_of_the_published_size() -> None:
    topic = corpus.topic()
    assert topic == corpus.topic()
    assert len(topic["documents"]) == 100
    assert sum(len(subtopic["insights"]) for subtopic in topic["subtopics"]) == 65
    assert sum(len(subtopic["summaries"]) for subtopic in topic["subtopics"]) == 702
    verdicts = [rows for subtopic in topic["subtopics"] for rows in subtopic["eval_summaries"].values()]
    assert sum(map(len, verdicts)) == 5070
    assert sum(len(document["document_text"].split()) for document in topic["documents"]) >= 80_000


def test_drafts_of_the_load_generator_grow_and_stay_near_two_kilobytes() -> None:
    lengths = [len(load.draft_text(number)) for number in range(200)]
    assert min(lengths) >= 1500
    assert max(lengths) <= 2600
    assert sum(later > sooner for sooner, later in pairwise(lengths)) > 180


def test_the_server_loads_nothing_heavy_before_it_is_used() -> None:
    program = (
        "import sys; from summhay_site.wsgi import application; from django.urls import reverse; reverse('home');"
        "print({'sklearn', 'scipy', 'matplotlib', 'openai', 'krippendorff'} & set(sys.modules) or 'nothing')"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "nothing"
