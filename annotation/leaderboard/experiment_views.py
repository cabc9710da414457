"""The page of experiments of position: scores by place and by what stands between, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.leaderboard.experiments import EXPERIMENTS, Experiment, Experiments, as_json
from annotation.leaderboard.forms import SCORE_TITLES, ExperimentForm
from annotation.leaderboard.positions import PositionLook
from annotation.models import Study
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.scoring.position.rouge import NAMES
from benchmarks.scoring.stat import Stat
from benchmarks.summarizers.arrangements import ALL, ENDS, FILLED, POSITION, Arrangement
from benchmarks.web.downloads import json_download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from benchmarks.web.plots import FORMATS, Plot, Series, inline_svg, plot_download, ticks

CHANCE = 1
"""The colour of scores by chance."""


def place_plot(rows: Sequence[Experiment], size: int) -> Plot:
    """Mean ROUGE scores of each system by the place of the relevant document, beside those by chance."""
    series: list[Series] = []
    panels = [(one, name) for one in rows for name in NAMES]
    for panel, (one, name) in enumerate(panels):
        xs = [float(arm.arrangement.place) for arm in one.arms]
        ys = [arm.means[name].value for arm in one.arms]
        series.append(Series(one.system, xs, ys, panel=panel, is_marked=True))
        if one.by_chance:
            level = [one.by_chance[name].value] * len(xs)
            series.append(Series(_("by chance"), xs, level, colour=CHANCE, panel=panel, is_dashed=True))
    most = 1.1 * max((y for one in series for y in one.ys if y is not None), default=1.0) or 1.0
    title = _("Scores by the place of the relevant document, of %(n)d") % {"n": size}
    return Plot(
        title=title,
        x_label=_("place of the relevant document"),
        y_label=_("mean F1"),
        series=series,
        x_range=(0.8, size + 0.2),
        y_range=(0.0, most),
        x_ticks=tuple(range(1, size + 1)),
        y_ticks=ticks(0.0, most, about=4),
        panels=[f"{one.system} · {SCORE_TITLES[name]}" for one, name in panels],
        caption=_("Dashed: the same summaries with references of other sources."),
        alt=title,
    )


def _arm_name(arrangement: Arrangement) -> str:
    between = {
        ALL: _("all %(n)d") % {"n": arrangement.size},
        ENDS: _("first and last"),
        FILLED: _("first, %(n)d of other sources, last") % {"n": arrangement.n_others},
    }
    return between.get(arrangement.kind) or _("relevant at %(n)d") % {"n": arrangement.place}


def _table(one: Experiment) -> dict[str, Any]:
    """A table as the template shows it."""

    def cells(means: Mapping[str, Stat]) -> list[Stat | None]:
        return [means.get(name) for name in one.names]

    rows = [(_arm_name(arm.arrangement), cells(arm.means), arm.share and 100 * arm.share) for arm in one.arms]
    if one.by_chance:
        rows.append((_("by chance"), cells(one.by_chance), None))
    titles = [SCORE_TITLES.get(name, name) for name in one.names]
    return {"experiment": one, "rows": rows, "titles": titles, "is_position": one.name == POSITION}


@requires("annotation.view_session")
@require_safe
def experiments_page(request: HtmxHttpRequest) -> HttpResponse:
    """Curves by place, and a table for each system and experiment."""
    form, shown = _shown(request)
    if shown.figures is None:
        return waiting_page(request, shown, {}, heading=_("Experiments of position"))
    rows = shown.figures.rows
    plots = _plots(rows)
    context = {
        "form": form,
        "shown": shown,
        "plots": [(name, plot, inline_svg(plot)) for name, plot in plots.items()],
        "tables": [_table(one) for one in rows],
        "formats": FORMATS,
    }
    return page(request, "annotation/position_experiments.html", context, part="figures")


@requires("annotation.view_session")
@require_safe
def experiments_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """All figures as JSON, or a plot."""
    _form, shown = _shown(request, wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    rows = shown.figures.rows
    if name == "experiments.json" and rows:
        return json_download(as_json(rows), name=name, indent=2)
    stem, _dot, file_format = name.rpartition(".")
    plot = _plots(rows).get(stem)
    if plot is None or file_format not in FORMATS:
        raise Http404
    return plot_download(plot, file_format=file_format, name=f"position-{stem}")


def _shown(request: HttpRequest, *, wait_s: float = WAIT_S) -> tuple[ExperimentForm, Shown[Experiments]]:
    form = ExperimentForm(request.GET)
    look = PositionLook.at(form.scope(Study.objects.none()))
    return form, look_up(EXPERIMENTS, look, now=timezone.now(), wait_s=wait_s)


def _plots(rows: Sequence[Experiment]) -> dict[str, Plot]:
    """A plot for each number of documents."""
    of_places = [one for one in rows if one.name == POSITION and one.n]
    sizes = sorted({one.size for one in of_places})
    return {f"places-{size}": place_plot([one for one in of_places if one.size == size], size) for size in sizes}
