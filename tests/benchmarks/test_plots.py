"""Plots in pages: rows with names, panels, marks that differ, and values under the mouse."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation.figures import plots
from annotation.figures.collect import coverage_table
from annotation.figures.judges import JudgeReport, judge_report
from annotation.figures.present import sorted_by
from annotation.models import CoverageLabel
from benchmarks.web.plots import FORMATS, Plot, Series, file_of, inline_svg
from tests.annotation.labelled import make_labelled_study, make_summaries


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    cache.clear()


def titles(svg: str) -> list[str]:
    return re.findall(r"<title>([^<]*)</title>", svg)


def a_plot(*series: Series, **more: Any) -> Plot:
    return Plot(
        title="T", x_label="minutes", y_label="score", series=series, x_range=(0, 9), y_range=(0, 9), **more
    )


def test_every_point_tells_its_values_and_gaps_tell_nothing() -> None:
    line = Series("<b>Mean</b>", (1, 2, 3), (4.0, None, 5.5), lows=(3.0, None, None), highs=(5.0, None, None))
    faint = Series("", (1, 2), (1.0, 2.0), faint=True)
    found = titles(inline_svg(a_plot(line, faint)))
    assert found == [
        "&lt;b&gt;Mean&lt;/b&gt;: minutes 1, score 4 (3–5)",
        "&lt;b&gt;Mean&lt;/b&gt;: minutes 3, score 5.5",
    ]


def test_only_a_marked_line_draws_its_intervals() -> None:
    values = {"lows": (3.0, 4.0), "highs": (5.0, 6.0)}
    plain, marked = (
        inline_svg(a_plot(Series("Mean", (1, 2), (4.0, 5.0), is_marked=is_marked, **values)))  # type: ignore[arg-type]
        for is_marked in (False, True)
    )
    assert marked.count("<path") > plain.count("<path")
    assert titles(marked) == titles(plain)


def test_panels_have_the_same_axes_and_their_titles() -> None:
    series = [Series(f"s{place}", (1, 2), (place, place), colour=place, panel=place) for place in range(5)]
    plot = a_plot(*series, panels=[f"Panel {place}" for place in range(5)], caption="n = 3")
    shown = inline_svg(plot)
    assert all(f"Panel {place}" in shown for place in range(5))
    assert len(titles(shown)) == 10
    for file_format in FORMATS:
        assert file_of(plot, file_format) == file_of(plot, file_format)


@pytest.fixture
def report(db: None) -> JudgeReport:
    study = make_labelled_study(summaries=make_summaries(), judges=("ash", "<i>elm", "oak"))
    return judge_report(coverage_table(CoverageLabel.objects.filter(study=study)))


def test_judges_stand_by_name_on_the_axis_the_highest_on_top(report: JudgeReport) -> None:
    plot = plots.forest(report, "pearson")
    assert plot is not None
    values = {row.name: row.stats["pearson"].value or 0.0 for row in report.rows}
    assert list(plot.rows) == sorted(values, key=lambda name: -values[name])
    points = [one for one in plot.series if one.kind == "points"]
    assert [(one.label, one.xs[0]) for one in points] == [(name, values[name]) for name in plot.rows]
    shown = inline_svg(plot)
    assert "<i>" not in shown
    assert sum(title.startswith(("ash: ", "oak: ", "&lt;i&gt;elm: ")) for title in titles(shown)) == 3


def test_a_judge_keeps_its_colour_and_mark_however_rows_are_sorted(report: JudgeReport) -> None:
    def colours(of: JudgeReport) -> dict[str, int]:
        plot = plots.forest(of, "linking")
        assert plot is not None
        return {one.label: one.colour for one in plot.series if one.kind == "points"}

    known = colours(report)
    assert len(set(known.values())) == 3
    assert colours(sorted_by(report, "-judge")) == known


def test_an_unknown_measure_draws_nothing(report: JudgeReport) -> None:
    assert plots.forest(report, "alpha_of_nothing") is None


@pytest.mark.django_db
def test_the_differences_fill_their_plot(ada: Any, login: Any) -> None:
    study = make_labelled_study(summaries=make_summaries(), researcher=ada)
    figures = login(ada).get(reverse("annotation:study-agreement", args=[study.uid])).context["figures"]
    _scatter, difference = figures.plots_of("")
    low, high = difference.y_range
    farthest = max(abs(y) for one in difference.series for y in one.ys if y is not None)
    assert -low == high
    assert farthest < high < 1.6 * max(farthest, 10)
