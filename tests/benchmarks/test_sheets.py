"""Sheets of figures: what a page says beside them, whatever was measured."""

from __future__ import annotations

from dataclasses import replace

from django import forms
from django.template import Context, Template
from django.test import RequestFactory

from benchmarks.results.sheet import Cell, Measure, Name, Row, Sheet, Table
from benchmarks.results.writing import console
from benchmarks.scoring.stat import Stat
from benchmarks.templatetags.sheets import sheet_cells


def test_the_best_and_the_second_are_marked_and_said() -> None:
    row = Row(("heron",), {"a": Cell(0.75, place=1), "b": Cell(0.5, place=2), "c": Cell(0.25)})
    best, second, other = (sheet_cells(row, [Measure(key, key)]) for key in "abc")
    assert '<strong class="is-best">0.750<span class="visually-hidden"> (best)</span></strong>' in best
    assert '<span class="is-second">0.500<span class="visually-hidden"> (second)</span></span>' in second
    assert other == '<td class="num">0.250</td>'


class _Form(forms.Form):
    judge = forms.CharField()


def test_a_form_keeps_what_an_address_says_beside_it() -> None:
    request = RequestFactory().get("/", {"judge": "owl", "rows-sort": ["-n", '">']})
    shown = Template("{% load lists %}{% kept_fields form %}").render(
        Context({"request": request, "form": _Form()})
    )
    assert "judge" not in shown
    assert '<input type="hidden" name="rows-sort" value="-n">' in shown
    assert "&quot;&gt;" in shown


def test_a_console_marks_intervals_over_few_clusters_and_says_why() -> None:
    few = Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=6)
    enough = replace(few, n_clusters=12)
    table = Table("t", "T", (Name("x", "X"),), (Measure("a", "A"),), (Row(("one",), {"a": few}),))
    marked = console(Sheet((table,)))
    assert any("0.500 [0.400, 0.600]†" in line for line in marked)
    assert marked[-1].startswith("† 5 to 9 clusters")
    plain = console(Sheet((replace(table, rows=(Row(("one",), {"a": enough}),)),)))
    assert not any("†" in line for line in plain)


def test_a_console_has_the_small_print_of_what_is_written_in_words() -> None:
    cell = Cell(30.0, text="30", aside="20 – not reached")
    table = Table("t", "T", (Name("x", "X"),), (Measure("a", "A"),), (Row(("one",), {"a": cell}),))
    assert any("30 [20 – not reached]" in line for line in console(Sheet((table,))))
    assert not any("[" in line for line in console(Sheet((table,)), with_intervals=False))
