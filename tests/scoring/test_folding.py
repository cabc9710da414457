"""How texts are compared, and what cites and starts a bullet: the cases that the browser has, too."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest

from benchmarks.corpora.searching import pattern_of
from benchmarks.scoring.text import fold, lines_from_text, visible

CASES = json.loads((Path(__file__).resolve().parents[1] / "texts.json").read_text(encoding="utf-8"))
FOUND = [(*case, exact) for name, exact in (("found", False), ("found_in_its_case", True)) for case in CASES[name]]


@pytest.mark.parametrize(("text", "query", "found", "exact"), [case[1:] for case in FOUND], ids=lambda value: None)
def test_what_is_searched_for_is_found_as_it_stands(text: str, query: str, found: str | None, exact: bool) -> None:
    wanted, (signs, starts, ends) = fold(query, exact=exact).text, fold(text, exact=exact)
    at = signs.find(wanted)
    assert (text[starts[at] : ends[at + len(wanted) - 1]] if at >= 0 else None) == found


WHOLE = [case[1:] for case in CASES["found"] if case[0] != "part of a ligature"]
"""A pattern finds ligatures as a whole."""


@pytest.mark.parametrize(("text", "query", "found"), WHOLE)
def test_the_search_of_corpora_finds_the_same(text: str, query: str, found: str | None) -> None:
    match = re.search(pattern_of(query), text)
    assert (match and match[0]) == found


@pytest.mark.parametrize(("text", "numbers"), CASES["cited"])
def test_what_cites(text: str, numbers: list[int]) -> None:
    [line] = lines_from_text(text)
    assert list(line.citations) == numbers


@pytest.mark.parametrize(("text", "kind"), CASES["kinds"])
def test_what_a_line_is(text: str, kind: str) -> None:
    """Below a bullet, so that what has no mark is no bullet."""
    assert lines_from_text(f"- first\n{text}")[-1].kind == kind


def test_signs_of_format_are_those_that_nobody_sees() -> None:
    formats = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"]
    assert [sign for sign in formats if visible(f"a{sign}") != "a"] == []
