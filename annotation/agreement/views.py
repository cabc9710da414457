"""The agreement page of a study or a data set, the rows behind its figures, its files, and the way to each."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement import chooser
from annotation.coverage import rows
from annotation.coverage.collect import Source
from annotation.coverage.files import everything
from annotation.coverage.forms import LONGEST, look_of
from annotation.coverage.look import Look
from annotation.coverage.page import AGREEMENT, Figures, chosen_table
from annotation.coverage.results import coverage_sheet, expose, look_form
from annotation.coverage.rows import RowView
from annotation.models import CoverageLabel, Study
from annotation.studies import lifecycle
from benchmarks.results.pages import FigurePage
from benchmarks.results.sheet import Sheet
from benchmarks.results.sheet_files import origin_of
from benchmarks.results.tex import Origin
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

ROWS_PER_PAGE = 20
SETS_PER_PAGE = 20


def _look(request: HttpRequest, uid: uuid.UUID | None) -> tuple[Look, Source]:
    """The labels of one study, or of one data set, that a researcher may see: those of several are never mixed."""
    studies, look = Study.objects.readable_by(request.user), look_of(request.GET)
    if uid is not None:
        study = get_object_or_404(studies.of_coverage(), uid=uid)
        look = replace(look, study=study.pk)
        return look, Source(CoverageLabel.objects.filter(study=study), study, look.task)
    pks = tuple(studies.order_by("pk").values_list("pk", flat=True))
    look = replace(look, studies=pks, dataset=request.GET.get("dataset", "")[:LONGEST])
    source = Source.of(look)
    if not look.dataset or not source.labels.exists():
        raise Http404
    return look, source


class AgreementPage(FigurePage[Figures]):
    """The labels of a data set in all studies; without one, what there is to compare."""

    url, prefix = "agreement", "agreement"
    heading, computation = gettext_lazy("Agreement"), AGREEMENT
    form_template, head = "annotation/_agreement_look.html", "annotation/_agreement_head.html"

    def show(self) -> HttpResponse:
        return super().show() if self.request.GET.get("dataset") else _choose(self.request)

    def options(self) -> Look:
        """Which labels; in files people are under their pseudonyms."""
        self.look, self.source = _look(self.request, None)
        return replace(self.look, is_public=bool(self.file))

    def beside(self) -> dict[str, Any]:
        return {"dataset": self.look.dataset}

    def context(self, figures: Figures) -> dict[str, Any]:
        return {"form": look_form(self.request, figures)}

    def sheet(self, figures: Figures) -> Sheet:
        """The figures, on the page with ways to decide on what is disputed."""
        expose(self.request, figures.options.haystack_pks)
        deciding = {} if self.file else _deciding(self.source, figures.top)
        rows = reverse("annotation:agreement-rows")
        return coverage_sheet(figures, self.request.GET, rows=rows, deciding=deciding)

    def as_json(self, figures: Figures) -> Any:
        return {"data_version": self.shown.version, **everything(figures)}

    def origin(self) -> Origin:
        return origin_of(self.shown, f"Labels of {self.look.dataset}")


def _choose(request: HtmxHttpRequest) -> HttpResponse:
    studies = Study.objects.readable_by(request.user)
    studies_page = Paginator(chooser.comparable(studies), SETS_PER_PAGE).get_page(request.GET.get("page"))
    labels = CoverageLabel.objects.filter(study__in=studies.values("pk"))
    rows = chooser.rows(studies_page, now=timezone.now())
    headlines = [row.shown.figures for row in rows if row.shown.figures]
    context = {
        "page": studies_page,
        "rows": rows,
        "is_waiting": any(row.shown.is_waiting for row in rows),
        "stats": [stat for headline in headlines for stat in (headline.percent, headline.corrected)],
        "datasets": chooser.datasets(labels),
    }
    return page(request, "annotation/agreement_list.html", context)


def _deciding(source: Source, rows: Sequence[RowView]) -> dict[tuple[str, str], uuid.UUID]:
    """Without one study: by summary and insight, the newest study in which each row was labelled. One query."""
    if source.study is not None or not rows:
        return {}
    here = [row for row in rows if row.summary_uid]
    labels = CoverageLabel.objects.for_figures().filter(
        pk__in=source.labels.order_by().values("pk"),
        summary__uid__in={row.summary_uid for row in here},
        insight__uid__in={row.insight_uid for row in here},
    )
    places = labels.order_by("pk").values_list("summary__uid", "insight__uid", "study__uid")
    return {(str(summary), str(insight)): study for summary, insight, study in places}


@requires("annotation.change_study")
@require_POST
def random_labels(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Declare that the labelled summaries of a study are a random draw of each system's, or that they are not."""
    study = get_object_or_404(Study.objects.for_user(request.user).of_coverage(), uid=uid)
    is_random = request.POST.get("random") == "yes"
    lifecycle.declare_random(study=study, is_random=is_random, by=request.user, now=timezone.now())
    return redirect("annotation:study-figures", uid=study.uid)


@requires("annotation.view_session")
@require_safe
def agreement_rows(request: HtmxHttpRequest, uid: uuid.UUID | None = None) -> HttpResponse:
    """The rows behind a figure, most disputed first."""
    look, source = _look(request, uid)
    table = chosen_table(look)
    chosen = rows.RowFilter(
        against=request.GET.get("between") or rows.PEOPLE,
        human=request.GET.get("human", ""),
        judge=request.GET.get("verdict", ""),
    )
    positions = rows.positions(table, chosen) if len(table.codes) else []
    shown = Paginator(positions, ROWS_PER_PAGE).get_page(request.GET.get("page"))
    expose(request, tuple({info.haystack_pk for info in table.summaries}))
    shown_rows = rows.views(table, list(shown))
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "study": source.study,
        "page": shown,
        "rows": shown_rows,
        "deciding": _deciding(source, shown_rows),
        "row_filter": chosen,
        "judge": next((judge.name for judge in table.judges if chosen.against in {judge.key, judge.name}), ""),
        "judges": table.judges_with_verdicts,
        "categories": table.categories,
        "query": query.urlencode(),
        "here_url": reverse("annotation:study-figures", args=[uid]) if uid else reverse("annotation:agreement"),
    }
    return page(request, "annotation/agreement_rows.html", context, part="rows")
