"""The pages of the position of content and of its experiments, and their files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.leaderboard.board import Look, View
from annotation.leaderboard.experiments import EXPERIMENTS, Experiments
from annotation.leaderboard.experiments import as_json as experiments_json
from annotation.leaderboard.forms import ExperimentForm, PositionForm
from annotation.leaderboard.orders import ORDER_FIGURES, OrderRow
from annotation.leaderboard.position_sheet import Content, experiments_sheet, position_sheet
from annotation.leaderboard.positions import POSITIONS, PositionLook, PositionRows, as_json
from annotation.leaderboard.ratings import KINDS, models_of
from annotation.models import Study
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import Sheet, Text
from benchmarks.results.sheet_files import origin_of, sheet_file
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

RENAMED = {
    "position.json": "figures.json",
    "orders.csv": "sensitivity.csv",
    "experiments.json": "figures.json",
}
"""What files were called before."""
POSITION, OF_EXPERIMENTS = "Position of content", "Experiments on sources"


@requires("annotation.view_session")
@require_safe
def positions_page(request: HtmxHttpRequest) -> HttpResponse:
    """Curves and figures of where texts take their content from."""
    form, shown = _positions(request)
    if shown.figures is None:
        return waiting_page(request, shown, {}, heading=str(POSITION))
    context = {
        "heading": POSITION,
        "crumbs": [(_("Leaderboard"), reverse("annotation:leaderboard"))],
        "links": [(OF_EXPERIMENTS, reverse("annotation:position-experiments"))],
        "about": (
            "Where, in the documents they were shown, systems and people take their content from. Documents stand "
            "in the order in which they were shown; texts whose order is not known are left out."
        ),
        "shown": shown,
        "sheet": _position_sheet(form, shown.figures),
        "files_url": reverse("annotation:content-positions-file", args=["x"])[:-1],
    }
    return _page(request, form, context)


def _page(request: HtmxHttpRequest, form: PositionForm, context: dict[str, Any]) -> HttpResponse:
    context |= {"form": form, "form_template": "results/_form.html"}
    return page(request, "results/sheet.html", context, part="figures")


@requires("annotation.view_session")
@require_safe
def positions_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """All figures, or a table or a chart of them, as a file."""
    form, shown = _positions(request, wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    sheet = _position_sheet(form, shown.figures, wait_s=FILE_WAIT_S)
    return _file(request, sheet, name, as_json(shown.figures.rows), shown)


def _file(
    request: HttpRequest, sheet: Sheet, name: str, plain: Any, shown: Shown[Any], *, of: Text = POSITION
) -> HttpResponseBase:
    prefix, origin = f"position-{shown.version}-", origin_of(shown, str(of))
    return sheet_file(
        request, sheet, RENAMED.get(name, name), as_json=plain, prefix=prefix, indent=2, origin=origin
    )


def _positions(request: HttpRequest, *, wait_s: float = WAIT_S) -> tuple[PositionForm, Shown[PositionRows]]:
    form = PositionForm(request.GET)
    scope = form.scope(Study.objects.for_user(request.user).filter(kind__in=KINDS))
    return form, look_up(POSITIONS, PositionLook.at(scope), now=timezone.now(), wait_s=wait_s)


def _position_sheet(form: PositionForm, figures: PositionRows, *, wait_s: float = WAIT_S) -> Sheet:
    """The figures laid out, in the setting that the form offers and has chosen."""
    view, content = form.view(), Content(figures.rows)
    names = names_of(
        [*content.settings, *sorted({row.entry.retriever for row in content.rows} - {*content.settings})]
    )
    content = replace(
        content,
        judge=str(view.judge) if view else "",
        orders=_orders(view, wait_s=wait_s) if view and content.rows else (),
        names=names,
        setting=form.offer({name: names[name] for name in content.settings}),
        kept=form.kept(),
    )
    shown = (name for row in content.known if row.positions for name in row.positions.by_position)
    judged = Judged((view.judge.pk,) if view else (), others=models_of(shown))
    return replace(position_sheet(content), judged=judged)


def _orders(view: View, *, wait_s: float) -> tuple[OrderRow, ...]:
    """Joint scores by order of the documents; none before they are computed."""
    look = Look.at(replace(view, minute=None), Study.objects.none())
    shown = look_up(ORDER_FIGURES, look, now=timezone.now(), wait_s=wait_s)
    return shown.figures.rows if shown.figures else ()


@requires("annotation.view_session")
@require_safe
def experiments_page(request: HtmxHttpRequest) -> HttpResponse:
    """Scores by place with their curves, and by what stands between."""
    form, shown = _experiments(request)
    if shown.figures is None:
        return waiting_page(request, shown, {}, heading=str(OF_EXPERIMENTS))
    context = {
        "heading": OF_EXPERIMENTS,
        "crumbs": [
            (_("Leaderboard"), reverse("annotation:leaderboard")),
            (POSITION, reverse("annotation:content-positions")),
        ],
        "about": (
            "Summaries of sources, written with the relevant document at each place among documents of other "
            "sources, with other documents between the first and the last, or from more and more of the source."
        ),
        "shown": shown,
        "sheet": _experiments_sheet(form, shown.figures),
        "files_url": reverse("annotation:position-experiments-file", args=["x"])[:-1],
    }
    return _page(request, form, context)


@requires("annotation.view_session")
@require_safe
def experiments_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """All figures, or a table or a chart of them, as a file."""
    form, shown = _experiments(request, wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    sheet = _experiments_sheet(form, shown.figures)
    return _file(request, sheet, name, experiments_json(shown.figures.rows), shown, of=OF_EXPERIMENTS)


def _experiments_sheet(form: ExperimentForm, figures: Experiments) -> Sheet:
    """The figures laid out, with the judges of the scores in them."""
    view = form.view()
    rated = models_of(name for row in figures.rows for name in row.names)
    judged = Judged((view.judge.pk,) if view else (), others=rated)
    return replace(experiments_sheet(figures.rows), judged=judged)


def _experiments(request: HttpRequest, *, wait_s: float = WAIT_S) -> tuple[ExperimentForm, Shown[Experiments]]:
    form = ExperimentForm(request.GET)
    look = PositionLook.at(form.scope(Study.objects.for_user(request.user).filter(kind__in=KINDS)))
    return form, look_up(EXPERIMENTS, look, now=timezone.now(), wait_s=wait_s)
