"""The leaderboard page, its files, and rows insight by insight."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.leaderboard import files
from annotation.leaderboard.answer import Layout
from annotation.leaderboard.board import LEADERBOARD, Board, Look, View
from annotation.leaderboard.forms import ViewForm, unjudged
from annotation.leaderboard.ratings import beside_systems
from annotation.leaderboard.sheet import judged_in, sheet
from annotation.models import Study
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Haystack
from benchmarks.results.judged import approval_notes
from benchmarks.results.sheet_files import sheet_file
from benchmarks.results.stored import FILE_WAIT_S, WAIT_S, Shown, look_up
from benchmarks.results.tex import Origin
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.web.downloads import CSV_TYPE, download, json_download, reader_of
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


@requires("annotation.view_session")
@require_safe
def leaderboard(request: HtmxHttpRequest) -> HttpResponse:
    """Systems and people by retriever: the answer, a chart, and every row with its intervals."""
    studies = studies_of(request)
    form, view, shown = shown_board(request, studies)
    board = shown.figures if shown else None
    if shown is not None and board is None:
        return waiting_page(request, shown, {}, heading=_("Leaderboard"), region="board")
    context: dict[str, Any] = {"form": form, "view": view, "shown": shown, "board": board, "formats": FORMAT_NAMES}
    context["downloads_template"] = "annotation/_leaderboard_files.html"
    if view is not None and board is not None:
        context |= {"judge": view.judge, "unjudged": unjudged(view)}
        context["sheet"] = sheet(Layout(board, view, names_of(board.settings), request.GET, tuple(studies)))
        context["files_url"] = reverse("annotation:leaderboard-figures", args=["x"]).removesuffix("x")
    return page(request, "annotation/leaderboard.html", context, part="board")


@requires("annotation.view_session")
@require_safe
def leaderboard_figures(request: HttpRequest, name: str) -> HttpResponseBase:
    """All figures, a table or the chart as a file; retrievers have the names of files there."""
    name = request.GET.get("file", name)
    _form, view, shown = shown_board(request, wait_s=FILE_WAIT_S)
    if view is None or shown is None:
        raise Http404
    board = shown.figures
    if board is None:
        return waiting_file(request, shown, name=name)
    is_drawn = name.startswith("board-chart.")
    names = names_of(board.settings) if is_drawn else {setting: setting for setting in board.settings}
    whole = sheet(Layout(board, view, names, request.GET, is_whole=True))
    as_json = {"data_version": shown.version, "rows": files.as_json(board, with_intervals=True)}
    prefix, origin = f"leaderboard-{shown.version}-", _origin(view, shown)
    return sheet_file(request, whole, name, as_json=as_json, prefix=prefix, origin=origin)


@requires("annotation.view_session")
@require_safe
def leaderboard_file(request: HttpRequest, file_format: str) -> HttpResponseBase:
    """All rows as JSON, CSV, LaTeX or Markdown."""
    _form, view, shown = shown_board(request, wait_s=FILE_WAIT_S)
    if file_format not in FORMATS or view is None or shown is None:
        raise Http404
    name, board = f"leaderboard.{FORMATS[file_format]}", shown.figures
    if board is None:
        return waiting_file(request, shown, name=name)
    name = f"leaderboard-{shown.version}.{FORMATS[file_format]}"
    if file_format == "json":
        return json_download(files.as_json(board, with_intervals=True), name=name, indent=2)
    said = approval_notes(judged_in(view, board), reader=request.user)
    text = files.text_of(file_format, board, reader=reader_of(request), said=said, origin=_origin(view, shown))
    return download([text], name=name, content_type=TYPES.get(file_format, "text/plain; charset=utf-8"))


def _origin(view: View, shown: Shown[Any]) -> Origin:
    return files.origin_of(view, version=shown.version, computed_at=shown.result.computed_at)


TYPES = {"csv": CSV_TYPE, "markdown": "text/markdown; charset=utf-8"}
FORMATS = {"csv": "csv", "json": "json", "latex": "tex", "markdown": "md"}
"""Formats of the file and the ends of their names."""
FORMAT_NAMES = {"csv": "CSV", "json": "JSON", "latex": "LaTeX", "markdown": "Markdown"}


def shown_board(
    request: HttpRequest, studies: QuerySet[Study] | None = None, *, wait_s: float = WAIT_S
) -> tuple[ViewForm, View | None, Shown[Board] | None]:
    """What an address asks for, None where nothing is judged, with the stored board."""
    haystacks = Haystack.objects.for_work().order_by("title")
    form = ViewForm(request.GET, haystacks=haystacks)
    view = form.view()
    if view is None:
        return form, None, None
    look = Look.at(view, studies_of(request) if studies is None else studies)
    return form, view, look_up(LEADERBOARD, look, now=timezone.now(), wait_s=wait_s)


def studies_of(request: HttpRequest) -> QuerySet[Study]:
    """Those whose texts, ratings and labels of people stand beside systems, as far as the reader may see them."""
    return beside_systems().for_user(request.user)
