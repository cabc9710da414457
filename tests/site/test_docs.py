"""The map of the code and the page of commands can be scanned, and what they name is there."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.commands import PAGE, page

ROOT = Path(__file__).parents[2]
MAP = ROOT / "docs" / "architecture.md"
MOST_WORDS = 20
ONLY_IN_A_WHEEL = {"summhay_site/assets"}
PATH = re.compile(r"`((?:annotation|benchmarks|summhay_site|templates|static|tests|docs|bench)/[\w./*-]*)`")


def test_no_cell_of_a_table_is_longer_than_a_glance() -> None:
    rows = [line for line in MAP.read_text().splitlines() if line.startswith("|")]
    cells = [cell.strip() for row in rows for cell in row.strip("|").split("|")]
    assert len(cells) > 50
    assert [cell for cell in cells if len(cell.split()) > MOST_WORDS] == []


def test_every_path_that_the_map_names_exists() -> None:
    paths = {path.rstrip("/") for path in PATH.findall(MAP.read_text())}
    assert len(paths) > 40
    assert {path for path in paths if not list(ROOT.glob(path))} == ONLY_IN_A_WHEEL


def test_the_page_of_commands_has_no_values_of_python() -> None:
    assert not re.findall(r"\(['\"].*|\bNone\b.*", (ROOT / "docs" / "commands.md").read_text())


ALL = {path.parent.name for path in ROOT.glob("extensions/*/apps.py")}


@pytest.mark.skipif(set(settings.EXTENSIONS) != ALL, reason="the page has the commands of all extensions")
def test_the_page_of_commands_is_the_help_of_the_commands() -> None:
    assert PAGE.read_text() == page(), "run `make commands`"
