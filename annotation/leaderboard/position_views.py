"""The page of the position of content: curves, tests and correlations of systems and people, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.leaderboard.board import Look, View
from annotation.leaderboard.charts import pair_chart, sentence_chart
from annotation.leaderboard.forms import SCORE_TITLES, PositionForm
from annotation.leaderboard.orders import ORDER_FIGURES, OrderRow
from annotation.leaderboard.positions import POSITIONS, PositionLook, PositionRows, Row, as_json
from annotation.models import Study
from benchmarks.corpora.retrieval_words import names_of
from benchmarks.leaderboard.board import ORDERS
from benchmarks.results.chart_files import chart_file
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.scoring.position.curves import Curve
from benchmarks.scoring.position.late import Late
from benchmarks.web.charts import Chart
from benchmarks.web.downloads import json_download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from benchmarks.web.tables import Column, Table

FIRST, LAST = slice(0, 4), slice(-4, None)
"""A fifth of the 20 bins."""


def _share(curve: Curve, bins: slice) -> float | None:
    """The percentage of some bins."""
    return 100 * sum(curve.bins[bins]) if curve.bins else None


def cells_of(row: Row) -> dict[str, Any]:
    """What a row of the table shows."""
    found = row.positions
    if found is None:
        return {"row": row, "n": 0}
    return {
        "row": row,
        "n": found.n_texts,
        "first": _share(found.pairs, FIRST),
        "last": _share(found.pairs, LAST),
        "ks": found.ks,
        "ks_people": found.ks_people,
        "first_tenth": _share(found.sentences, slice(0, 1)),
        "last_tenth": _share(found.sentences, slice(-1, None)),
        "mean_word": found.mean_word,
        "ranks": [(SCORE_TITLES.get(name, name), one) for name, one in found.by_position.items()],
    }


def late_of(rows: Sequence[Row]) -> list[tuple[Row, Late, list[Late]]]:
    """Rows with enough texts whose content lies late: how many these are, and each score on them."""
    found = []
    for row in rows:
        scores = list(row.late.values())
        counted = next((one for one in reversed(scores) if one.value is not None), None)
        if counted is not None:
            found.append((row, counted, scores))
    return found


def _column(name: str) -> Column:
    return Column(lambda cells: cells.get(name), high_first=True)


ROWS: Table[dict[str, Any]] = Table(
    "all-rows",
    {
        "system": Column(lambda cells: cells["row"].entry.system),
        "retriever": Column(lambda cells: cells["row"].entry.retriever),
        **{name: _column(name) for name in ("first", "last", "first_tenth", "last_tenth", "mean_word", "n")},
        "ks": Column(lambda cells: cells["ks"].value if cells["n"] else None, high_first=True),
        "unknown": Column(lambda cells: cells["row"].n_unknown_order, high_first=True),
    },
    default="system",
)
"""All rows and what they can be sorted by."""


@requires("annotation.view_session")
@require_safe
def positions_page(request: HtmxHttpRequest) -> HttpResponse:
    """Curves and figures of where texts take their content from."""
    form, shown = _shown(request)
    if shown.figures is None:
        return waiting_page(request, shown, {}, heading=_("Position of content"))
    rows = shown.figures.rows
    context: dict[str, Any] = {"form": form, "shown": shown, "rows": rows}
    if rows:
        table = ROWS.shown([cells_of(row) for row in rows], request.GET)
        view = form.view()
        ranks: list[Any] = next((cells["ranks"] for cells in table.rows if cells["n"]), [])
        context |= {
            "charts": _charts(form, rows),
            "files_url": reverse("annotation:content-positions-file", args=["x"])[:-1],
            "table": table,
            "names": names_of({row.entry.retriever for row in rows}),
            "score_titles": [title for title, _one in ranks],
            "late": late_of(rows),
            "judge": view and view.judge,
            "orders": _orders(view) if view else (),
            "order_names": ORDERS,
        }
    return page(request, "annotation/content_positions.html", context, part="figures")


@requires("annotation.view_session")
@require_safe
def positions_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """All figures as JSON, or a file of a chart."""
    form, shown = _shown(request, wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    rows = shown.figures.rows
    if not rows:
        raise Http404
    if name == "position.json":
        return json_download(as_json(rows), name=name, indent=2)
    return chart_file(request, _charts(form, rows), name, prefix="position-")


def _shown(request: HttpRequest, *, wait_s: float = WAIT_S) -> tuple[PositionForm, Shown[PositionRows]]:
    form = PositionForm(request.GET)
    scope = form.scope(Study.objects.for_user(request.user).filter(kind=Study.Kind.WRITING))
    return form, look_up(POSITIONS, PositionLook.at(scope), now=timezone.now(), wait_s=wait_s)


def _orders(view: View) -> tuple[OrderRow, ...]:
    """Joint scores by order of the documents; none before they are computed."""
    look = Look.at(replace(view, minute=None), Study.objects.none())
    shown = look_up(ORDER_FIGURES, look, now=timezone.now())
    return shown.figures.rows if shown.figures else ()


def _charts(form: PositionForm, rows: Sequence[Row]) -> list[Chart]:
    """The charts of the chosen setting: people first, then its systems."""
    known = [row for row in rows if row.positions is not None]
    people = next((row for row in known if row.is_people), None)
    settings = sorted({row.entry.retriever for row in known}, key=lambda name: (name != "oracle", name))
    chosen = form.offer(names_of(settings))
    shown = [row for row in known if row.entry.retriever == chosen and not row.is_people]
    panels = [*([people] if people else []), *shown]
    return [make(panels, people) for make in (pair_chart, sentence_chart)] if panels else []
