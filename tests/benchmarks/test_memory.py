"""What pages compute is kept until its facts change."""

from __future__ import annotations

import gc

import pytest

from benchmarks.web.memory import remembered


def test_what_was_computed_is_kept_until_the_facts_change() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    assert [remembered("test-memory", fact, make) for fact in ("a", "a", "b", "b", "a")] == [0, 0, 1, 1, 0]
    assert remembered("test-memory-2", "a", make) == 2


def test_garbage_is_collected_again_afterwards_even_after_an_error() -> None:
    assert remembered("test-memory", "c", gc.isenabled) is False
    assert gc.isenabled()

    def fail() -> None:
        raise RuntimeError("no figures")

    with pytest.raises(RuntimeError, match="no figures"):
        remembered("test-memory", "d", fail)
    assert gc.isenabled()
