"""What the command that measures prints, not how fast this machine is."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from bench import client, world
from bench.cases import CASES
from bench.driver import Figure, percentile, run
from bench.site import ROOT, Site, Size
from bench.walk import summed_up
from tests.running import json_of

pytestmark = pytest.mark.own_database

FIELDS = {
    "case", "figure", "unit", "median", "low", "high", "floor", "ratio", "target", "met", "against", "change",
}  # fmt: skip
BY_NAME = {case.name: case for case in CASES}
SMALL = Size(requests=3, clients=2, people=8, summaries=4)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A site whose worlds the tests of this module share."""
    made = Site(size=SMALL)
    yield made
    made.close()


def measured(site: Site, name: str) -> dict[str, dict[str, Any]]:
    rows = run(BY_NAME[name], [site], rounds=1)
    assert all(set(row) == FIELDS for row in rows)
    return {row["figure"]: row for row in rows}


@pytest.mark.nightly
def test_a_real_server_is_measured_beside_its_floor(site: Site) -> None:
    rows = measured(site, "drafts")
    alone = rows["saves, one client, p50"]
    assert alone["unit"] == "ms"
    assert alone["target"] == "≤ 5 × floor"
    assert alone["median"] > 0
    assert alone["ratio"] == pytest.approx(alone["median"] / alone["floor"])
    assert rows["saves: answers other than 200"]["median"] == 0
    assert rows["saves: “database is locked” in the log"]["met"] is True
    assert rows["page of a session, 100 documents, p50"]["median"] > 0


@pytest.mark.nightly  # by day `test_many_passwords` and a story of a rush
def test_everybody_who_logs_in_at_once_is_in_soon_and_saves_go_on(site: Site) -> None:
    """Times are bound loosely, as this machine may be busy; `manage.py bench logins` measures them."""
    rows = measured(site, "logins")
    assert rows["refused, or never in"]["median"] == 0  # all are in, by pages that sent themselves again
    assert rows["forms sent in all"]["median"] > SMALL.people  # some of them had to
    assert rows["saves that failed"]["median"] == 0
    assert rows["until the last is in"]["median"] < 60
    assert rows["saves beside them, p95"]["median"] < 3000


@pytest.mark.nightly
def test_a_checkout_can_be_measured_against_another_in_the_same_run(site: Site) -> None:
    rows = [row for row in run(BY_NAME["drafts"], [site, site], rounds=2) if row["unit"]]
    assert all(row["against"]["median"] > 0 for row in rows)
    assert all(row["change"] == pytest.approx(row["median"] / row["against"]["median"]) for row in rows)


@pytest.mark.nightly
def test_the_data_of_the_site_is_not_touched(settings) -> None:
    before = {path: path.stat().st_mtime_ns for path in Path(settings.DATA_DIR).rglob("*")}
    assert {row["case"] for row in json_of("bench", "drafts", "--rounds", "1")} == {"drafts"}
    assert {path: path.stat().st_mtime_ns for path in Path(settings.DATA_DIR).rglob("*")} == before


def test_a_case_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(CommandError, match=r"no case speed; there are drafts, choices, "):
        call_command("bench", "speed")


@pytest.mark.parametrize("option", ["--rounds", "--seconds"])
def test_nothing_can_be_measured_with_no_effort(option: str) -> None:
    with pytest.raises(CommandError, match="1 or more"):
        call_command("bench", "drafts", option, "0")


def test_what_is_measured_against_must_be_a_checkout(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"no manage\.py"):
        call_command("bench", "drafts", "--against", str(tmp_path))


def test_every_case_says_what_it_measures_and_is_in_the_documentation() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    for case in CASES:
        assert case.about.endswith("."), case.name
        assert f"| `{case.name}` |" in page
        assert len({figure.name for figure in case.figures}) == len(case.figures)


def test_a_target_bounds_the_value_or_the_ratio() -> None:
    for target, value, ratio, is_met in (
        ("≤ 5 × floor", 40.0, 4.0, True),
        ("≤ 5 × floor", 4.0, 6.0, False),
        ("≤ 5 × floor", 4.0, None, None),
        ("≥ 270", 270, None, True),
        ("≥ 270", 269, None, False),
        ("≤ 0", 1, None, False),
        ("", 29.4, None, None),
    ):
        assert Figure("p50", "p50", "ms", target).is_met(value=value, ratio=ratio) is is_met


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile(range(1, 101), 0.99) == 100
    assert percentile([7.0], 0.99) == 7.0
    assert percentile([], 0.5) == 0.0


def test_a_walk_tells_its_worst_pages_and_answers_that_are_no_page() -> None:
    rows = [{"path": f"/{n}/", "status": 200, "cpu_ms": n, "ms": 2 * n, "queries": n} for n in range(1, 101)]
    failed = {"path": "/bad/", "status": 500, "cpu_ms": 999.0, "ms": 999.0, "queries": 99}
    told = summed_up([*rows, failed])
    assert (told["pages"], told["cpu_ms_p50"], told["cpu_ms_p95"], told["ms_p100"]) == (100, 51, 96, 200)
    assert told["worst"]["queries"][:2] == ["100 /100/", "99 /99/"]
    assert told["errors"] == ["500 /bad/"]


def test_without_published_data_a_haystack_is_made_up_the_same_every_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SUMMHAY_DATA", raising=False)
    first, second = world.topic("a"), world.topic("b")
    assert {**first, "topic_id": "b"} == second
    assert len(first["documents"]) == 100
    assert sum(len(subtopic["summaries"]) for subtopic in first["subtopics"]) == 702


def test_drafts_of_the_load_generator_grow_and_stay_near_two_kilobytes() -> None:
    lengths = [len(client.draft_text(number)) for number in range(200)]
    assert min(lengths) >= 1500
    assert max(lengths) <= 2600
    assert sum(later > sooner for sooner, later in pairwise(lengths)) > 180


def test_the_server_loads_nothing_heavy_before_it_is_used() -> None:
    program = (
        "import sys; from summhay_site.wsgi import application; from django.urls import reverse; reverse('home');"
        "heavy = {'sklearn', 'scipy', 'altair', 'vl_convert', 'openai', 'krippendorff'};"
        "print(heavy & set(sys.modules) or 'nothing')"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "nothing"
