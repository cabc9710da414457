"""Charts: what is drawn and said, in which colours, with any name, as a page's drawing and as files."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.cache import cache
from django.template import Context, Template
from django.test import RequestFactory
from django.urls import reverse

from annotation.coverage.collect import coverage_table
from annotation.models import CoverageLabel
from annotation.results import charts as agreement_charts
from annotation.results.judges import JudgeReport, judge_report
from benchmarks.results.drawings import DRAWING, FILE, FileLook
from benchmarks.results.pages import FORMATS, chart_file
from benchmarks.results.sheet import Drawing, Section, Sheet
from benchmarks.scoring.stat import Stat
from benchmarks.web import chart_drawing
from benchmarks.web.chart_drawing import LIGHT, for_file, spec_of
from benchmarks.web.charts import Bars, Chart, Dots, Kind, Lines, Point, Words, bland_altman
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import flat

ROOT = Path(__file__).resolve().parents[2]
WORDS = Words(name="c", title="Why?", subtitle="What.", value="score", x="minutes")
UNIT, PERCENT = (0.0, 1.0), (0.0, 100.0)
BUILDERS: dict[str, Callable[[Sequence[Point]], Chart]] = {
    "dots": lambda points: Chart(WORDS, points, Dots(domain=PERCENT)),
    "dodged": lambda points: Chart(WORDS, points, Dots(domain=PERCENT, is_dodged=True)),
    "lines": lambda points: Chart(WORDS, points, Lines(x_domain=UNIT, domain=PERCENT)),
    "bars": lambda points: Chart(WORDS, points, Bars(width_of_bar=0.1, domain=UNIT)),
    "bland_altman": lambda points: bland_altman(WORDS, points, x_domain=UNIT, colours=()),
}


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    cache.clear()


def svg(chart: Chart) -> str:
    return DRAWING.compute(chart).svg


def dots(points: Sequence[Point], *, domain: tuple[float, float] = UNIT, band: Point | None = None) -> Chart:
    return Chart(WORDS, points, Dots(domain=domain, band=band))


def titles(drawing: str) -> list[str]:
    return re.findall(r"<title>([^<]*)</title>", drawing)


def texts(drawing: str) -> list[str]:
    return [text for text in re.findall(r"<text[^>]*>(.*?)</text>", drawing) if text]


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_chart_of_none_or_one_point_can_be_drawn(name: str, n: int) -> None:
    points = [Point(series=f"s{at}", value=10.0 * at, x=0.5) for at in range(n)]
    drawing = svg(BUILDERS[name](points))
    assert drawing.startswith('<svg class="drawing')
    assert len([title for title in titles(drawing) if re.match(r"s\d: ", title)]) == n
    assert "NaN" not in drawing


def test_every_dot_tells_its_value_interval_and_n() -> None:
    points = [Point.of(Stat(0.5, n_items=1234, low=0.25, high=0.75), factor=100, series="<b>ash", group="g&h")]
    assert titles(svg(dots(points, domain=PERCENT))) == ["&lt;b&gt;ash · g&amp;h: 50.0 (25.0 – 75.0), n = 1,234"]


def test_what_is_undefined_is_said_and_not_drawn() -> None:
    points = [Point.of(Stat.undefined("one rater only"), series="ash"), Point.of(Stat(0.0), series="elm")]
    drawing = svg(dots(points))
    assert titles(drawing) == ["elm: 0.0"]
    assert "one rater only" in texts(drawing)
    assert "ash: one rater only" in dots(points).text


def test_a_line_has_a_gap_where_a_value_is_missing() -> None:
    values = [1.0, 2.0, None, 4.0, 5.0]
    points = [Point(series="s", value=value, x=at / 4) for at, value in enumerate(values)]
    drawing = svg(Chart(WORDS, points, Lines(x_domain=UNIT, domain=(0.0, 5.0))))
    [path] = re.findall(r'd="(M[^"]*L[^"]*)" stroke="var\(--chart-0\)"', drawing)
    assert path.count("M") == 2
    assert len(titles(drawing)) == 4


def test_people_are_a_band_with_their_value() -> None:
    people = Point(series="people", value=0.7, low=0.6, high=0.8)
    drawing = svg(dots([Point(series="ash", value=0.5)], band=people))
    assert "people 0.7" in texts(drawing)
    assert 'fill="var(--human)"' in drawing
    assert "people: 0.7 (0.6 – 0.8)" in titles(drawing)


def test_names_at_the_ends_of_lines_do_not_hide_each_other() -> None:
    points = [Point(series=f"s{at}", value=50 + at / 10, x=x) for at in range(8) for x in (0.0, 1.0)]
    spec = spec_of(Chart(WORDS, points, Lines(x_domain=UNIT, domain=PERCENT, size=(600, 300))))
    places = sorted(3 * row["value"] for row in spec["datasets"]["figures"] if row.get("kind") == "end")
    assert len(places) == 8
    assert min(b - a for a, b in pairwise(places)) >= 14.9


def test_no_name_is_cut_off_however_long() -> None:
    name = " ".join(f"word{at}" for at in range(40)) + " " + "w" * 90
    for build in (BUILDERS["dots"], BUILDERS["lines"]):
        drawing = svg(build([Point(series=name, value=50.0, x=at / 2) for at in range(2)]))
        shown = re.sub(r"\s+", "", "".join(re.findall(r"<tspan[^>]*>([^<]*)</tspan>", drawing)))
        assert name.replace(" ", "") in shown
        assert "…" not in drawing


def test_a_leaderboard_of_78_rows_keeps_its_rows_apart() -> None:
    points = [Point(series=f"system {at}", value=float(at), low=at - 2, high=at + 2) for at in range(78)]
    drawing = svg(dots(points, domain=PERCENT))
    assert len([text for text in texts(drawing) if text.startswith("system ")]) == 78
    assert int(re.search(r'height="(\d+)', drawing)[1]) >= 78 * 20


def test_panels_have_their_titles_and_share_their_axis() -> None:
    points = [Point(series="s", value=10.0 * at, x=x, panel=f"Panel {at}") for at in range(5) for x in (0.0, 1.0)]
    drawing = svg(Chart(WORDS, points, Lines(x_domain=UNIT, domain=PERCENT, panels_beside=3, size=(200, 100))))
    assert [text for text in texts(drawing) if text.startswith("Panel")] == [f"Panel {at}" for at in range(5)]
    assert len(titles(drawing)) == 10


def test_limits_of_agreement_are_196_standard_deviations_from_the_mean() -> None:
    points = [Point(series="j", value=value, x=0.5, kind=Kind.DOT) for value in (-10.0, 0.0, 10.0)]
    names = [row["series"] for row in bland_altman(WORDS, points, x_domain=UNIT, colours=()).rows]
    assert {"mean +0.0", "upper limit +19.6", "lower limit −19.6"} <= set(names)
    few = bland_altman(WORDS, points[:1], x_domain=UNIT, colours=())
    assert [row["series"] for row in few.rows] == ["j", "mean −10.0"]


def svg_file(chart: Chart) -> str:
    return FILE.compute(FileLook(chart, "svg")).content.decode()


def test_a_drawing_of_a_page_names_colours_and_a_file_has_them() -> None:
    found = dots([Point(series="ash", value=0.5)], band=Point(series="people", value=0.7))
    assert "var(--chart-0)" in svg(found)
    assert not re.findall(r'(?:fill|stroke)="#', svg(found))
    for written in (svg_file(found), json.dumps(for_file(found, spec_of(found)))):
        assert "var(--" not in written
        assert LIGHT["chart-0"] in written
        assert "Why?" in written
        assert "What." in written


def test_colours_of_files_are_those_of_the_light_theme() -> None:
    sheets = "".join((ROOT / "static/css" / name).read_text() for name in ("tokens.css", "pages/results.css"))
    themed = dict(re.findall(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]+),", sheets))
    assert {name: themed[name] for name in LIGHT} == LIGHT


def test_a_series_that_is_called_like_a_colour_is_drawn() -> None:
    assert "var(--unknown)" in svg_file(dots([Point(series="var(--unknown)", value=0.5)]))


@pytest.mark.parametrize("name", BUILDERS)
def test_a_stored_chart_draws_the_same(name: str) -> None:
    found = BUILDERS[name]([Point(series=f"s{at}", value=10.0, x=0.5, low=9.0, high=11.0, n=at) for at in (2, 1)])
    stored = DRAWING.options_from(json.loads(json.dumps(DRAWING.plain(found), sort_keys=True)))
    assert DRAWING.compute(stored) == DRAWING.compute(found)
    assert DRAWING.key(stored) == DRAWING.key(found)


@pytest.mark.parametrize("name", BUILDERS)
def test_altair_finds_nothing_wrong_with_the_parts_of_a_spec(name: str) -> None:
    points = [Point(series=f"s{at}", group=f"g{at}", value=1.0, x=0.5, low=0.9, high=1.1, n=9) for at in (1, 2)]
    found = BUILDERS[name](points)
    chart_drawing.BUILDERS[found.layout.layout](found, found.layout)  # checks each part while it is made


def test_a_drawing_goes_stale_with_all_that_is_drawn_and_with_what_draws(monkeypatch) -> None:
    found = dots([Point(series="ash", value=0.5)])
    others = [
        dots([Point(series="ash", value=0.6)]),
        dots([Point(series="elm", value=0.5)]),
        dots([Point(series="ash", value=0.5)], domain=PERCENT),
        replace(found, words=replace(WORDS, digits=2)),
        found.renamed("other"),
    ]
    assert len({DRAWING.key(one) for one in (found, *others)}) == 6
    before = DRAWING.version(found)
    assert DRAWING.version(found) == before
    monkeypatch.setattr(chart_drawing, "how", lambda: "otherwise")
    assert DRAWING.version(found) != before


@pytest.mark.django_db
def test_a_page_of_many_charts_asks_once(rf: RequestFactory, django_assert_num_queries) -> None:
    charts = [dots([Point(series="ash", value=0.5)]).renamed(f"c{at}") for at in range(5)]
    sheet = Sheet((Section("all", "All", tuple(Drawing(chart) for chart in charts)),))
    template, context = "{% sheet_parts sheet.parts %}", {"sheet": sheet, "request": rf.get("/")}
    first = _rendered(template, context)
    with django_assert_num_queries(1):
        assert _rendered(template, context) == first
    assert first.count("<svg") == 5


def test_the_main_mark_of_a_row_lies_on_top_of_the_others() -> None:
    points = [
        Point(series="jay", group=name, value=value, kind=kind)
        for name, value, kind in (("a", 12.0, Kind.MAIN), ("b", 11.9, Kind.DOT))
    ]
    layout = Dots(domain=(0.0, 100.0), colours=[("a", "red"), ("b", "blue")])
    drawn = svg(Chart(Words(name="c", title="", subtitle="", value="v"), points, layout))
    assert re.findall(r'fill="(red|blue)" stroke="var\(--surface\)"', drawn) == ["blue", "red"]


def test_drawings_of_a_page_have_ids_of_their_own() -> None:
    first, second = (
        svg(Chart(Words(name=name, title="", subtitle="", value="v"), [], Lines(x_domain=UNIT, domain=UNIT)))
        for name in ("one", "two")
    )
    assert not set(re.findall(r' id="([^"]*)"', first)) & set(re.findall(r' id="([^"]*)"', second))


@pytest.mark.django_db
@pytest.mark.parametrize("ending", FORMATS)
def test_each_format_is_a_file(ending: str, rf: RequestFactory) -> None:
    found = dots([Point(series="=ash", value=0.5, low=0.4, high=0.6, n=7)])
    response = chart_file(rf.get("/"), [None, found], f"c.{ending}", prefix="of-")
    content = response.getvalue()
    starts = {
        "svg": b"<svg",
        "png": b"\x89PNG",
        "pdf": b"%PDF",
        "csv": b"series,value,low,high,n",
        "vl.json": b"{",
    }
    assert content.startswith(starts[ending])
    assert f"of-c.{ending}" in response["Content-Disposition"]
    if ending == "csv":
        assert content.decode().splitlines()[1] == "'=ash,0.5,0.4,0.6,7"
    if ending == "svg":
        ElementTree.fromstring(content)  # noqa: S314 - drawn here


@pytest.mark.django_db
def test_a_page_shows_drawing_downloads_and_table(rf: RequestFactory) -> None:
    found = dots([Point(series="</script><b>", value=0.51234)])
    template = "{% chart one '/files/' %}"
    request = rf.get("/?a=1")
    shown = _rendered(template, {"one": found, "request": request})
    assert 'href="/files/c.vl.json?a=1"' in shown
    assert "<td>0.512</td>" in shown
    assert "</script><b>" not in shown
    assert shown.count("<b>") == 0
    assert " style=" not in shown
    spec = re.search(r'<script type="application/json">(.*?)</script>', shown, re.DOTALL)
    assert json.loads(spec[1]) == json.loads(json.dumps(spec_of(found)))
    assert "<details" not in _rendered("{% chart one has_table=False %}", {"one": found, "request": request})


@pytest.mark.django_db
def test_what_clicks_lead_to_is_reached_by_keyboard_in_a_table(rf: RequestFactory) -> None:
    found = dots([Point(series="<b>", value=0.5, url="/rows/?a=1&b=2"), Point(series="still", value=0.25)])
    context = {"one": found, "request": rf.get("/")}
    own = _rendered("{% chart one %}", context)
    assert '<td><a href="/rows/?a=1&amp;b=2">&lt;b&gt;</a></td>' in own
    assert "<td>still</td>" in own
    assert "the links in its table do" in own
    beside = _rendered("{% chart one table='rows' %}", context)
    assert '<a href="#rows">the table</a>' in beside
    assert "<details" not in beside
    plain = dots([Point(series="still", value=0.25)])
    assert "keyboard" not in _rendered("{% chart one %}", {**context, "one": plain})


@pytest.mark.django_db
def test_the_table_of_a_chart_of_many_figures_shows_the_first_and_says_that_the_file_has_all(
    rf: RequestFactory,
) -> None:
    many = dots([Point(series=f"s{at}", value=at / 150) for at in range(150)])
    shown = flat(_rendered("{% chart one '/files/' %}", {"one": many, "request": rf.get("/")}))
    assert "<td>s99</td>" in shown
    assert "<td>s100</td>" not in shown
    assert "The first 100 of 150 figures; the file has all." in shown


def _rendered(template: str, context: dict[str, Any]) -> str:
    return Template(template).render(Context(context))


@pytest.fixture
def report(db: None) -> JudgeReport:
    study = make_labelled_study(summaries=make_summaries(), judges=("ash", "<i>elm", "oak"))
    return judge_report(coverage_table(CoverageLabel.objects.filter(study=study)))


def test_judges_stand_by_name_on_the_axis_the_highest_on_top(report: JudgeReport) -> None:
    forest = agreement_charts.forest(report, "pearson")
    values = {row.name: row.stats["pearson"].value or 0.0 for row in report.rows}
    rows = [row for row in forest.rows if row["series"] in values]
    assert [row["series"] for row in rows] == sorted(values, key=lambda name: -values[name])
    assert [row["value"] for row in rows] == [values[row["series"]] for row in rows]
    shown = svg(forest)
    assert "<i>" not in shown
    assert sum(title.startswith(("ash: ", "oak: ", "&lt;i&gt;elm: ")) for title in titles(shown)) == 3


def test_a_judge_keeps_its_colour_however_rows_are_sorted(report: JudgeReport) -> None:
    def colours(of: JudgeReport) -> dict[str, str]:
        forest = agreement_charts.forest(of, "linking")
        assert forest is not None
        scales = [layer["encoding"].get("color", {}).get("scale") for layer in spec_of(forest)["layer"]]
        scale = next(scale for scale in scales if scale)
        return dict(zip(scale["domain"], scale["range"], strict=True))

    known = colours(report)
    assert len(set(known.values())) == 3
    assert colours(replace(report, rows=tuple(reversed(report.rows)))) == known


def test_an_unknown_measure_draws_nothing(report: JudgeReport) -> None:
    assert agreement_charts.forest(report, "alpha_of_nothing") is None


@pytest.mark.django_db
def test_the_differences_fill_their_chart(ada, as_ada) -> None:
    study = make_labelled_study(summaries=make_summaries(), researcher=ada)
    figures = as_ada.get(reverse("annotation:study-figures", args=[study.uid])).context["shown"].figures
    _scatter, difference = figures.charts_of("")
    low, high = spec_of(difference)["layer"][0]["encoding"]["y"]["scale"]["domain"]
    farthest = max(abs(row["value"]) for row in difference.rows)
    assert -low == high
    assert farthest < high < 1.6 * max(farthest, 10)


@pytest.mark.parametrize("kind", [Kind.MAIN, Kind.THIN])
def test_each_mark_that_leads_somewhere_has_a_name(kind: Kind) -> None:
    points = [Point(series="ann", x=x, value=x, kind=kind, url="/rows/") for x in (0.0, 1.0)]
    points += [Point(series="bob", x=x, value=1 - x, kind=Kind.MAIN) for x in (0.0, 1.0)]
    chart = Chart(WORDS, points, Lines(x_domain=(0.0, 1.0), domain=(0.0, 1.0)))
    names = re.findall(r'<a href="/rows/" aria-label="([^"]*)"', svg(chart))
    assert names
    assert all("ann" in name for name in names)


def test_bars_at_the_same_place_stand_on_one_another_and_lead_to_their_rows() -> None:
    points = [
        Point(series="ann", x=0.0, value=2.0, url="/ann/"),
        Point(series="bob", x=0.0, value=3.0),
        Point(series="bob", x=1.0, value=1.0),
    ]
    layout = Bars(width_of_bar=0.8, domain=(0.0, 2.0), colours=[("ann", "red"), ("bob", "blue")])
    chart = Chart(WORDS, points, layout)
    [rows] = [rows for rows in spec_of(chart)["datasets"].values() if rows and "top" in rows[0]]
    assert [(row["base"], row["top"]) for row in rows] == [(0, 2.0), (2.0, 5.0), (0, 1.0)]
    assert 'href="/ann/"' in svg(chart)
