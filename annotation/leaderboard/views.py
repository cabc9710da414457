"""The leaderboard page, its files, and two entries insight by insight."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.leaderboard import files
from annotation.leaderboard.board import COMPARED, LEADERBOARD, PEOPLE, Board, Line, Look, PairLook, View
from annotation.leaderboard.charts import board_chart
from annotation.leaderboard.forms import TITLES, ViewForm
from annotation.models import Study
from benchmarks.corpora.retrieval_words import names_of
from benchmarks.judges.registry import description_of
from benchmarks.models import Haystack, Insight
from benchmarks.results.chart_files import chart_file
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.scoring.leaderboard import FIGURES, WORDS
from benchmarks.web.downloads import download, json_download
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from benchmarks.web.tables import Column, Table

BLOCKS = ("coverage", "citation", "joint")


def _column(name: str) -> Column:
    return Column(lambda line: line.row.stats[name].value, high_first=True)


ROWS: Table[Line] = Table(
    "all-rows",
    {
        "system": Column(lambda line: line.entry.system),
        "retriever": Column(lambda line: line.entry.retriever),
        **{name: _column(name) for name in FIGURES},
        "minutes": Column(lambda line: line.minutes and line.minutes.value, high_first=True),
        "summaries": Column(lambda line: line.row.n_summaries, high_first=True),
        "insights": Column(lambda line: line.row.n_insights, high_first=True),
    },
    default="joint",
)
"""All rows of the board and what they can be sorted by."""


@requires("annotation.view_session")
@require_safe
def leaderboard(request: HtmxHttpRequest) -> HttpResponse:
    """Systems and people by retriever, then every row with its intervals."""
    form, view, shown = _shown(request)
    found = shown.figures if shown else None
    if shown is not None and found is None:
        return waiting_page(request, shown, {}, heading=_("Leaderboard"), region="board")
    context: dict[str, Any] = {"form": form, "view": view, "shown": shown, "board": found, "formats": FORMAT_NAMES}
    if view is not None and found is not None and found.lines:
        names = names_of(found.settings)
        context |= {
            "names": names,
            "chart": board_chart(found, names, str(view.judge)),
            "charts_url": reverse("annotation:leaderboard-chart", args=["x"])[:-1],
            "blocks": [(TITLES[name], name, _block(found, name)) for name in BLOCKS],
            "table": ROWS.shown(found.lines, request.GET),
            "figures": [(name, TITLES[name]) for name in FIGURES],
            "words": WORDS,
            "judge_note": description_of(view.judge.kind),
            "best": {name: _best(found, name) for name in BLOCKS},
        }
    return page(request, "annotation/leaderboard.html", context, part="board")


@requires("annotation.view_session")
@require_safe
def leaderboard_file(request: HttpRequest, file_format: str) -> HttpResponseBase:
    """All rows as JSON, CSV, LaTeX or Markdown."""
    _form, _view, shown = _shown(request, wait_s=FILE_WAIT_S)
    if file_format not in FORMATS or shown is None:
        raise Http404
    name, found = f"leaderboard.{FORMATS[file_format]}", shown.figures
    if found is None:
        return waiting_file(request, shown, name=name)
    if file_format == "json":
        return json_download(files.as_json(found, with_intervals=True), name=name, indent=2)
    text = files.TEXTS[file_format](found)
    return download([text], name=name, content_type="text/plain; charset=utf-8")


@requires("annotation.view_session")
@require_safe
def leaderboard_chart(request: HttpRequest, name: str) -> HttpResponseBase:
    """A file of the chart."""
    _form, view, shown = _shown(request, wait_s=FILE_WAIT_S)
    if view is None or shown is None:
        raise Http404
    found = shown.figures
    if found is None:
        return waiting_file(request, shown, name=name)
    chart = board_chart(found, names_of(found.settings), str(view.judge))
    return chart_file(request, [chart], name, prefix="leaderboard-")


FORMATS = {"csv": "csv", "json": "json", "latex": "tex", "markdown": "md"}
"""Formats of the file and the ends of their names."""
FORMAT_NAMES = {"csv": "CSV", "json": "JSON", "latex": "LaTeX", "markdown": "Markdown"}


@requires("annotation.view_session")
@require_safe
def compared(request: HtmxHttpRequest) -> HttpResponse:
    """Two entries insight by insight."""
    form, view, board = _shown(request)
    if board is not None and board.figures is None:
        return waiting_page(request, board, {}, heading=_("Leaderboard"))
    found = board.figures if board else None
    words = names_of(found.settings) if found else {}
    names = {
        str(line.entry): f"{line.entry.system} · {words[line.entry.retriever]}"
        for line in (found.lines if found else ())
    }
    first, second = request.GET.get("a", ""), request.GET.get("b", "")
    if view is None or found is None or first not in names or second not in names:
        raise Http404
    shown = look_up(COMPARED, PairLook(Look.at(view, _studies(request)), first, second), now=timezone.now())
    if shown.figures is None:
        return waiting_page(request, shown, {}, heading=_("Leaderboard"))
    insights = Insight.objects.select_related("subtopic__haystack").in_bulk(
        [row.insight for row in shown.figures.rows]
    )
    rows = [(insights[row.insight], row) for row in shown.figures.rows if row.insight in insights]
    context = {"form": form, "view": view, "shown": shown, "names": names, "rows": rows}
    context |= {"first": first, "second": second, "first_name": names[first], "second_name": names[second]}
    return page(request, "annotation/leaderboard_compared.html", context)


def _shown(request: HttpRequest, *, wait_s: float = WAIT_S) -> tuple[ViewForm, View | None, Shown[Board] | None]:
    haystacks = Haystack.objects.for_work().order_by("title")
    form = ViewForm(request.GET, haystacks=haystacks)
    view = form.view()
    if view is None:
        return form, None, None
    look = Look.at(view, _studies(request))
    return form, view, look_up(LEADERBOARD, look, now=timezone.now(), wait_s=wait_s)


def _studies(request: HttpRequest) -> Any:
    return Study.objects.for_user(request.user).filter(kind=Study.Kind.WRITING)


def _block(found: Board, name: str) -> list[tuple[str, list[Line | None]]]:
    """A row for each summarizer, a cell for each setting; people last, in the oracle's column."""
    systems = [line.entry.system for line in found.lines if not line.is_people]
    by_oracle = sorted(dict.fromkeys(systems), key=lambda system: -_value(found.line(system, "oracle"), "joint"))
    rows = [(system, [found.line(system, setting) for setting in found.settings]) for system in by_oracle]
    if found.people is not None:
        rows.append((PEOPLE.system, [found.line(PEOPLE.system, setting) for setting in found.settings]))
    return rows


def _value(line: Line | None, name: str) -> float:
    value = None if line is None else line.row.stats[name].value
    return -1.0 if value is None else value


def _best(found: Board, name: str) -> float:
    return max((_value(line, name) for line in found.lines if not line.is_people), default=-1.0)
