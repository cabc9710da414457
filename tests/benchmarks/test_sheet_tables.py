"""How a sheet is drawn: groups of rows, extra columns, switches, words for numbers, cautions beside figures."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from django import forms
from django.template import Context, Template
from django.test import RequestFactory

from annotation.studies.rows import objects
from benchmarks.results.sheet import Card, Cards, Cell, Measure, Name, Row, Section, Sheet, Switch, Table, Unit
from benchmarks.results.writing import LONG_COLUMNS, console, long_rows, sheet_json, wide
from benchmarks.scoring.stat import Stat, interval_json
from benchmarks.templatetags.sheets import figure, sheet_cells
from tests.makers import flat

RANK = Measure("rank", "Rank", Unit.COUNT, is_leading=True)
SCORE = Measure("score", "Score", Unit.POINTS)
TIME = Measure("time", "Time", Unit.MINUTES, is_extra=True)


def ranked(rank: int, score: float, **more) -> dict[str, Any]:
    return {"rank": Stat(rank, n_items=40, low=1, high=3), "score": score, **more}


TABLE = Table(
    "rows",
    "All rows",
    (Name("system", "System"),),
    (RANK, SCORE, TIME),
    (
        Row(("heron",), ranked(1, 60.0, time=Cell(math.inf, text="not reached")), group="on all"),
        Row(("wren",), ranked(1, 80.0, time=12.0), group="on some"),
        Row(("jay",), ranked(2, 70.0), group="on all"),
    ),
    switches=(Switch("one", "one row per system"),),
)


def drawn(sheet: Sheet, query: str = "") -> str:
    request = RequestFactory().get(f"/?{query}")
    template = Template("{% sheet_parts sheet.parts %}")
    return flat(template.render(Context({"sheet": sheet, "request": request})))


def rows_of(html: str) -> list[str]:
    return re.findall(r"<tr.*?</tr>", html)


def test_rows_of_a_group_stand_together_under_its_title_in_every_order() -> None:
    for order, first in (("", ["heron", "jay", "wren"]), ("rows-sort=-score", ["jay", "heron", "wren"])):
        html = drawn(Sheet((TABLE,)), order)
        assert re.findall(r"on all|on some|heron|wren|jay", html.partition("<tbody>")[2]) == [
            "on all", *first[:2], "on some", first[2],
        ]  # fmt: skip


def test_rows_stay_as_they_come_where_the_measure_of_their_order_has_left() -> None:
    left = replace(TABLE, measures=(RANK, TIME), default="score")
    assert re.findall("heron|jay|wren", drawn(Sheet((left,))).partition("<tbody>")[2]) == ["heron", "jay", "wren"]


def test_a_leading_figure_stands_before_the_names_with_its_interval() -> None:
    row = next(row for row in rows_of(drawn(Sheet((TABLE,)))) if "heron" in row)
    assert row.index("1 – 3") < row.index("heron") < row.index("60.0")


def test_extra_columns_are_shown_on_request_and_always_in_files() -> None:
    assert not any("Time" in line for line in console(Sheet((TABLE,))))
    plain, whole = drawn(Sheet((TABLE,))), drawn(Sheet((TABLE,)), "rows-columns=1")
    assert "not reached" not in plain
    assert "not reached" in whole
    columns, _rows = wide(TABLE)
    assert columns == [
        "system",
        *(f"rank{end}" for end in ("", "_low", "_high", "_n", "_reason")),
        "score",
        "time",
    ]


def test_a_switch_turns_its_parameter_and_keeps_the_rest_of_the_address() -> None:
    assert '<a href="?rows-sort=score&amp;one=1"' in drawn(Sheet((TABLE,)), "rows-sort=score")
    html = drawn(Sheet((TABLE,)), "one=1&rows-sort=score")
    assert re.search(r'<a href="\?rows-sort=score" aria-current="true"[^>]*>one row per system</a>', html)


def test_words_stand_for_a_number_on_pages_and_consoles_but_not_in_files() -> None:
    table = replace(TABLE, measures=(RANK, SCORE, replace(TIME, is_extra=False)))
    sheet = Sheet((Cards("top", (Card("time", "Time", math.inf, Unit.MINUTES, text="not reached"),)), table))
    assert drawn(sheet).count("not reached") == 2
    assert sum("not reached" in line for line in console(sheet)) == 2
    values = [row[3] for row in long_rows(sheet) if row[2] == "time"]
    assert values == [math.inf, math.inf, 12.0]
    assert sheet_json(sheet)["cards"]["top"]["time"] == math.inf


@pytest.mark.parametrize("query", ["rows-sort=rank", "rows-sort=-system", "rows-sort=nothing"])
def test_every_order_shows_every_row(query: str) -> None:
    assert all(name in drawn(Sheet((TABLE,)), query) for name in ("heron", "wren", "jay"))


def long_table(key: str, n_rows: int, **more) -> Table:
    rows = tuple(Row((f"row {at}",), {"score": float(at)}) for at in range(n_rows))
    return Table(key, key, (Name("name", "Name"),), (SCORE,), rows, **more)


@pytest.mark.parametrize(("n_tables", "n_shown"), [(1, 40), (2, 30), (3, 20), (9, 10)], ids="{} tables".format)
def test_the_more_long_tables_a_page_has_the_fewer_rows_each_of_them_shows(n_tables: int, n_shown: int) -> None:
    tables = tuple(long_table(f"t{at}", 200) for at in range(n_tables))
    html = drawn(Sheet((Section("all", "All", tables),)))
    assert html.count('<th scope="row">') == n_tables * n_shown
    assert html.count("Show all 200 rows") == n_tables
    assert drawn(Sheet(tables), "t0-all=1").count('<th scope="row">') == 200 + (n_tables - 1) * n_shown


def test_short_and_folded_tables_take_no_rows_from_long_ones() -> None:
    short = [long_table(f"s{at}", 10) for at in range(20)]
    folded = [long_table(f"f{at}", 200, is_folded=True) for at in range(20)]
    html = drawn(Sheet((*short, *folded, long_table("long", 200))))
    assert html.count('<th scope="row">') == 20 * 10 + 20 * 40 + 40


def test_a_folded_table_is_whole_in_the_page_and_opens_with_what_its_address_says_of_it() -> None:
    section = Section("parts", "By part", (long_table("By part", 3, is_folded=True),))
    closed, opened = drawn(Sheet((section,))), drawn(Sheet((section,)), "By part-sort=-score")
    assert re.search(r'<details class="folded"><summary>\s*These figures as a table\s*</summary>', closed)
    assert closed.count('<th scope="row">') == 3
    assert '<details class="folded" open>' in opened


def test_the_values_of_figures_are_numbers_and_texts_have_a_column_of_their_own() -> None:
    verdict = Measure("verdict", "Verdict", Unit.TEXT)
    row = Row(("heron",), {"score": 1.5, "rank": 2, "verdict": "safe"})
    table = Table("rows", "Rows", (Name("system", "System"),), (SCORE, RANK, verdict), (row,))
    told = {row["figure"]: row for row in objects(LONG_COLUMNS, long_rows(Sheet((table,))))}
    assert {name: (one["value"], one["text"]) for name, one in told.items()} == {
        "score": (1.5, ""), "rank": (2, ""), "verdict": (None, "safe"),
    }  # fmt: skip


def test_rows_of_one_name_are_told_apart_in_files() -> None:
    names = ("ann", "tides")
    rows = (Row(names, {"time": 1.0}), Row(names, {"time": 2.0}), Row(("bob", "tides"), {"time": 3.0}))
    table = Table("sessions", "Sessions", (Name("who", "Who"), Name("on", "On")), (TIME,), rows)
    told = [(row, value) for _part, row, _figure, value, *_others in long_rows(Sheet((table,)))]
    assert told == [("ann | tides", 1.0), ("ann | tides (2)", 2.0), ("bob | tides", 3.0)]


def test_few_clusters_and_these_people_are_marked_beside_the_interval() -> None:
    plain = Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=10)
    assert "†" not in figure(plain)
    assert "these" not in figure(plain)
    few = figure(Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=9))
    assert "5 to 9 clusters" in few
    assert few.index("interval") < few.index("†")
    these = figure(Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=10, only_these=3))
    assert "these 3" in these
    assert "these people only" in these
    assert "†" not in figure(Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=9), badge=False)
    assert "†" not in figure(Stat(0.5, n_items=60, n_clusters=9, interval_reason="the same in every resample"))


def test_a_caution_is_marked_with_its_words_and_is_in_json() -> None:
    rare = Stat(0.5, n_items=60, low=0.4, high=0.6, n_clusters=30, caution="rare labels")
    assert 'title="rare labels">†' in figure(rare)
    assert interval_json(rare)["caution"] == "rare labels"


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
    shown = Template("{% kept_fields form %}").render(Context({"request": request, "form": _Form()}))
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
