"""The page of experiments of position: scores by place and by what stands between, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.leaderboard.charts import place_chart
from annotation.leaderboard.experiments import EXPERIMENTS, Experiment, Experiments, as_json
from annotation.leaderboard.forms import SCORE_TITLES, ExperimentForm
from annotation.leaderboard.positions import PositionLook
from annotation.models import Study
from benchmarks.results.chart_files import chart_file
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.scoring.stat import Stat
from benchmarks.summarizers.arrangements import ALL, ENDS, FILLED, POSITION, Arrangement
from benchmarks.web.charts import Chart
from benchmarks.web.downloads import json_download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


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
    context = {
        "form": form,
        "shown": shown,
        "charts": _charts(rows),
        "files_url": reverse("annotation:position-experiments-file", args=["x"])[:-1],
        "tables": [_table(one) for one in rows],
    }
    return page(request, "annotation/position_experiments.html", context, part="figures")


@requires("annotation.view_session")
@require_safe
def experiments_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """All figures as JSON, or a file of a chart."""
    _form, shown = _shown(request, wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    rows = shown.figures.rows
    if name == "experiments.json" and rows:
        return json_download(as_json(rows), name=name, indent=2)
    return chart_file(request, _charts(rows), name, prefix="position-")


def _shown(request: HttpRequest, *, wait_s: float = WAIT_S) -> tuple[ExperimentForm, Shown[Experiments]]:
    form = ExperimentForm(request.GET)
    look = PositionLook.at(form.scope(Study.objects.none()))
    return form, look_up(EXPERIMENTS, look, now=timezone.now(), wait_s=wait_s)


def _charts(rows: Sequence[Experiment]) -> list[Chart]:
    """A chart for each number of documents."""
    of_places = [one for one in rows if one.name == POSITION and one.n]
    sizes = sorted({one.size for one in of_places})
    return [place_chart([one for one in of_places if one.size == size], size) for size in sizes]
