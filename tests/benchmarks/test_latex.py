"""Tables for papers: what fits a column, a page, or goes over pages; what begins a row is part of it."""

from pathlib import Path

import pytest

from benchmarks.results.sheet import Cell, Measure, Name, Row, Sheet, Table, Unit
from benchmarks.results.writing import Origin, paper_layout, tex
from benchmarks.scoring.stat import Stat
from benchmarks.web.latex import COLUMN_PT, PAGE_PT, comment, width
from tests import latex


def stat(value: float | None) -> Stat:
    if value is None:
        return Stat.undefined("nothing")
    return Stat(value, 240, n_clusters=60, low=value - 0.1, high=value + 0.1, method="kappa")


def table(n_rows: int = 3, n_measures: int = 1, *, name: str = "heron", key: str = "t", group: str = "") -> Table:
    measures = tuple(Measure(f"m{at}", f"Randolph’s κ {at}") for at in range(n_measures))
    rows = tuple(
        Row((f"{name} {at}",), {one.key: stat(0.5) for one in measures}, group=group and f"{group} {at % 2}")
        for at in range(n_rows)
    )
    return Table(key, "Agreement of 50 %", (Name("judge", "Judge"),), measures, rows, about="By pairs.")


ORIGIN = Origin("ferry", "Study “Ferry & co”", "lexical", "control group", "0123456789ab")


def test_a_caption_says_what_it_is_of_how_many_by_whom_and_from_where() -> None:
    text = tex(table(), origin=ORIGIN)
    [caption] = [line for line in text.splitlines() if line.startswith(r"\caption")]
    assert caption == (
        r"\caption{Agreement of 50 \%. By pairs. n = 240 in 60 clusters. In brackets: 95 \% intervals. "
        r"Study ``Ferry \& co''. Judge: lexical. Filter: control group. Data version 0123456789ab.}"
    )
    assert r"\label{tab:ferry-t}" in text
    assert r"0.500 {\scriptsize (0.400--0.600)}" in text


def test_cautions_of_the_page_stand_in_a_paper_too() -> None:
    few = Stat(0.5, n_items=7, n_clusters=6, low=0.4, high=0.6)
    text = tex(Table("t", "T", (Name("who", "Who"),), (Measure("a", "A"),), (Row(("x",), {"a": few}),)))
    assert r"0.500 {\scriptsize (0.400--0.600)$\dagger$ few}" in text
    assert r"$\dagger$ 5 to 9 clusters" in text
    assert "``few'': too few items to interpret." in text


@pytest.mark.parametrize(
    ("asked", "begins"),
    [
        (table(), r"\begin{table}"),
        (table(n_measures=4), r"\begin{table*}"),
        (table(n_measures=14), r"\begin{table*}"),
        (table(n_rows=80), "% A longtable"),
        (table(n_rows=80, n_measures=14), "% A longtable"),
        (table(n_rows=0), r"\begin{table}"),
    ],
)
def test_what_is_wide_takes_both_columns_and_what_is_long_goes_over_pages(asked: Table, begins: str) -> None:
    text = tex(asked)
    assert text.startswith(begins)
    n = sum(text.count(rf"m{at}") for at in range(14))
    assert (n, text.count("Judge")) == (0, text.count(r"\begin{longtable}") or text.count("\\toprule"))
    assert text.count(r"\caption{") == 1


def test_no_row_is_lost_where_a_table_has_several_parts() -> None:
    text = tex(table(n_rows=80, n_measures=14))
    assert text.count("heron 79 &") == text.count(r"\begin{longtable}") > 1
    assert text.count(r"0.500 {\scriptsize") == 80 * 14


def test_what_nobody_has_a_value_of_is_no_column() -> None:
    asked = table()
    rows = tuple(Row(row.names, {"m0": None}) for row in asked.rows)
    empty = Table("e", "Empty", asked.names, (Measure("m0", "Nothing"), Measure("m1", "Nothing else")), rows)
    assert "Nothing" not in tex(empty)


@pytest.mark.parametrize("name", ["[3pt] heron", "*heron", "  [x]", "*"])
def test_a_row_that_begins_like_an_argument_is_not_read_as_one(name: str) -> None:
    """LaTeX looks past the end of a line for the arguments of the end of a row, and of a rule."""
    rows = [line for line in tex(table(name=name)).splitlines() if name in line and "&" in line]
    assert len(rows) == 3
    assert all(row.startswith("{}") for row in rows)


def matrix(name: str) -> Table:
    measures = tuple(Measure(key, key, Unit.POINTS) for key in ("oracle", "vector", "full"))
    rows = tuple(
        Row((system,), {one.key: Cell(stat(10.0 * at), place=int(at == 2)) for one in measures})
        for at, system in enumerate(("heron", "wren", "jay"))
    )
    return Table(f"matrix-{name}", name.capitalize(), (Name("system", "System"),), measures, rows)


def test_blocks_of_a_board_stand_side_by_side_as_in_the_paper() -> None:
    key, text = paper_layout(Sheet(tuple(map(matrix, ("coverage", "citation", "joint")))), origin=ORIGIN)
    assert key == "by-retriever"
    for block in ("Coverage", "Citation", "Joint"):
        assert rf"\multicolumn{{3}}{{c}}{{{block}}}" in text
    assert text.count("jay & ") == text.count(r"\toprule")
    assert r"\textbf{20.0}" in text
    assert "scriptsize" not in text.partition("caption")[0].replace(r"\scriptsize (", "")
    assert paper_layout(Sheet((table(),))) is None


def test_widths_are_rather_too_wide_than_too_narrow() -> None:
    assert width("0.500 (0.400–0.600)") > 19 * 0.38 * 8
    assert width("", "small") == 0
    assert COLUMN_PT < PAGE_PT


TABLES = {
    "narrow": table(),
    "wide": table(n_measures=5),
    "wider": table(n_measures=16),
    "long": table(n_rows=120, n_measures=3),
    "longer": table(n_rows=90, n_measures=16, group="All 33 subtopics of the haystacks in a rather long title"),
    "named": table(
        name="a_very_long_name_of_a_system_that_nobody_can_read_128k with words & signs 100 % #1 {x} ~ ^"
    ),
    "signs": table(name="κ ≥ 0.7 → × − ½ … “x” <y> | \\ $z$"),
    "grouped": table(n_measures=3, group="people"),
}


@pytest.mark.nightly
@pytest.mark.skipif(not latex.is_there(), reason="there is no TeX")
def test_tables_of_every_shape_compile_and_none_is_too_wide(tmp_path: Path) -> None:
    """Compiled by the TeX of the machine, which takes some seconds."""
    for name, one in TABLES.items():
        (tmp_path / f"{name}.tex").write_text(tex(one, origin=Origin(name, "A study")))
    blocks = paper_layout(Sheet(tuple(map(matrix, ("coverage", "citation", "joint")))), origin=ORIGIN)
    (tmp_path / "blocks.tex").write_text(blocks[1])
    assert latex.compiled(sorted(tmp_path.glob("*.tex")), tmp_path / "out") == []
    assert (tmp_path / "out" / "tables.pdf").stat().st_size > 10_000


def test_a_comment_is_one_line_whatever_a_name_has_in_it() -> None:
    assert comment("alpha\r\n\\input{a}\u2028b has no approval") == "% alpha \\input{a} b has no approval\n"
