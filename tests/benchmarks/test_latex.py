"""Tables for papers: what begins a row is part of it."""

from __future__ import annotations

import pytest

from benchmarks.web.latex import tabular


@pytest.mark.parametrize("name", ["[3pt] heron", "*heron", "  [x]", "*"])
def test_a_row_that_begins_like_an_argument_is_not_read_as_one(name: str) -> None:
    """LaTeX looks past the end of a line for the arguments of the end of a row, and of a rule."""
    table = tabular([name, "n"], [[name, "1"], ["wren", "2"], [name, "3"]], n_names=1)
    rows = [line for line in table.splitlines() if name in line]
    assert rows == ["{}" + f"{name} & {cell} " + r"\\" for cell in ("n", "1", "3")]
    assert r"wren & 2 \\" in table.splitlines()
