"""The lists of tests name tests that exist, and the stored tables are those of the migrations."""

import re

import pytest

from tests.e2e.by_day import BY_DAY
from tests.planted_faults import NAMED_TESTS
from tests.schema import SCHEMA, migrated, version_of_tables
from tests.tiers import ROOT, second_tier


def test_every_test_of_the_second_tier_is_there() -> None:
    for module, names in second_tier().items():
        there = set(re.findall(r"\w+", (ROOT / module).read_text()))
        assert {re.split(r"\[|::", name)[0] for name in names} <= there, module


def test_no_test_that_catches_a_planted_fault_waits() -> None:
    waiting = {f"{module}::{name}" for module, names in second_tier().items() for name in names}
    assert not waiting & NAMED_TESTS
    assert not waiting & {name.partition("[")[0] for name in NAMED_TESTS}


def test_every_story_of_the_gate_is_there() -> None:
    stories = "".join(path.read_text() for path in (ROOT / "tests/e2e").glob("test_*.py"))
    for name in " ".join(BY_DAY.values()).split():
        assert f"def {name.partition('[')[0]}(" in stories, name


def test_the_stored_tables_are_of_these_migrations() -> None:
    assert SCHEMA.read_text().startswith(f"-- {version_of_tables()}\n"), "run `make schema`"


@pytest.mark.nightly
def test_the_stored_tables_are_those_that_the_migrations_make() -> None:
    assert SCHEMA.read_text() == migrated()
