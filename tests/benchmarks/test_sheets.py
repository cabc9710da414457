"""Sheets of figures: what a page says beside them, whatever was measured."""

from __future__ import annotations

from django import forms
from django.template import Context, Template
from django.test import RequestFactory

from benchmarks.results.sheet import Cell, Measure, Row
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
