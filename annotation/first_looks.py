"""First looks: figures and charts of pages that somebody is about to open, computed by a worker before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.http import Http404, QueryDict
from django.test import RequestFactory
from django.utils import timezone

from annotation.kinds import kind_named
from annotation.leaderboard.answer import ROWS, Layout
from annotation.leaderboard.compared import ComparedPage
from annotation.leaderboard.sheet import sheet as board_sheet
from annotation.leaderboard.views import shown_board, studies_of
from annotation.models import Study
from annotation.results.study import CARD, HEADLINE, OfStudy
from annotation.studies.kind import work_of
from annotation.studies.progress import charts_of, paces
from benchmarks.access import sight
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.results.computation import CannotCompute
from benchmarks.results.drawings import DRAWING
from benchmarks.results.pages import FigurePage
from benchmarks.results.stored import compute, fresh
from benchmarks.web.charts import Chart

PARTS = ("", "plan", "approvals")
"""The pages of a study's results that are computed before somebody looks."""


def of_study(study: Study) -> None:
    """Compute what the results of a study show first, with overview, plan, approvals and headline."""
    kind = kind_named(study.kind)
    with sight.whole_site():
        sight.within(study.group_id)  # as its pages are
        with suppress(CannotCompute):
            fresh(HEADLINE, OfStudy(study.pk), clock=timezone.now)
            card = fresh(CARD, OfStudy(study.pk), clock=timezone.now)
            _draw([card.chart] if card.chart else [])
        if study.kind != Study.Kind.EXTERNAL:
            _draw(charts_of(study, work_of(study), paces([study], timezone.now())[study.pk]))
        for results in filter(None, (kind.results_of(study, part) for part in PARTS)):
            results.settle(study, timezone.now())
            with suppress(CannotCompute):
                figures = fresh(results.computation, results.first(study), clock=timezone.now)
                _draw(results.sheet(study, figures, QueryDict()).charts)


def of_demo(user: Any) -> None:
    """Compute what a researcher sees first of studies, leaderboard, its first row, and all other figures."""
    for study in Study.objects.all():
        of_study(study)
    with sight.seeing(sight.of(user)):
        queries = [(page, "") for page in _pages(FigurePage)]
        queries += [(ComparedPage, query) for query in _board(user)]
        for page_class, query in queries:
            with suppress(Http404, CannotCompute):
                page = page_class(_request(user, query))
                page.wait_s = 0
                compute(uid=page.look_up().result.uid, clock=timezone.now)
                page.shown = page.look_up()
                if page.shown.figures is not None:
                    _draw(page.sheet(page.shown.figures).charts)


def _pages(of: type[FigurePage[Any]]) -> Iterator[type[FigurePage[Any]]]:
    """All pages of figures with an address."""
    for page in of.__subclasses__():
        yield from [page] if hasattr(page, "url") else _pages(page)


def _board(user: Any) -> list[str]:
    """Compute the leaderboard; gives the query of the page of its first row."""
    request = _request(user)
    _form, view, shown = shown_board(request, wait_s=0)
    if shown is not None:
        compute(uid=shown.result.uid, clock=timezone.now)
        shown = shown_board(request, wait_s=0)[2]
    if view is None or shown is None or shown.figures is None:
        return []
    layout = Layout(shown.figures, view, names_of(shown.figures.settings), request.GET, tuple(studies_of(request)))
    sheet = board_sheet(layout)
    _draw(sheet.charts)
    table = sheet.table(ROWS)
    return [urlsplit(row.url).query for row in table.rows[:1]] if table else []


def _request(user: Any, query: str = "") -> Any:
    request: Any = RequestFactory().get(f"/?{query}")
    request.user = user
    return request


def _draw(charts: Iterable[Chart]) -> None:
    for chart in charts:
        with suppress(CannotCompute):
            fresh(DRAWING, chart, clock=timezone.now)
