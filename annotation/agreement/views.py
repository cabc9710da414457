"""The agreement page of a study or a data set, the rows behind its figures, its files, and the way to each."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement import chooser
from annotation.agreement.forms import LONGEST, LookForm, filter_words, look_of, view_of
from annotation.figures import charts, files, present, rows
from annotation.figures.page import AGREEMENT, WITH_COVERAGE, Figures, Look, Source, View, chosen_table, readable
from annotation.figures.rows import RowView
from annotation.figures.tables import PAIRS, WITHOUT
from annotation.models import CoverageLabel, Study
from annotation.results.headlines import judges_points
from annotation.studies import lifecycle
from benchmarks.models import Haystack
from benchmarks.results.chart_files import chart_file
from benchmarks.results.stored import FILE_WAIT_S, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.web.charts import Chart
from benchmarks.web.downloads import csv_download, download, json_download
from benchmarks.web.exposure import saw_insights
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

ROWS_PER_PAGE = 20
SETS_PER_PAGE = 20


def _look(request: HttpRequest, uid: uuid.UUID | None) -> tuple[Look, Source]:
    """The labels of one study, or of one data set, that a researcher may see: those of several are never mixed."""
    studies, look = readable(request.user), look_of(request.GET)
    if uid is not None:
        study = get_object_or_404(studies.filter(kind__in=WITH_COVERAGE), uid=uid)
        look = replace(look, study=study.pk)
        return look, Source(CoverageLabel.objects.filter(study=study), study, look.task)
    pks = tuple(studies.order_by("pk").values_list("pk", flat=True))
    look = replace(look, studies=pks, dataset=request.GET.get("dataset", "")[:LONGEST])
    source = Source.of(look)
    if not look.dataset or not source.labels.exists():
        raise Http404
    return look, source


def _expose(request: HttpRequest, pks: tuple[int, ...]) -> None:
    """Whoever reads the rows or figures of a haystack has seen its insights."""
    saw_insights(request.user, *Haystack.objects.filter(pk__in=pks).only("pk"))


def _addresses(uid: uuid.UUID | None) -> dict[str, str]:
    prefix, args = ("annotation:study-agreement", [uid]) if uid else ("annotation:agreement", [])
    return {
        "here": reverse(prefix, args=args),
        "rows_url": reverse(f"{prefix}-rows", args=args),
        "files_url": reverse(f"{prefix}-file", args=[*args, "x"]).removesuffix("x"),
    }


@requires("annotation.view_session")
@require_safe
def agreement(request: HtmxHttpRequest, uid: uuid.UUID | None = None) -> HttpResponse:
    """People first, judges below, on the same items; without a study or a data set, what there is to compare."""
    if uid is None and not request.GET.get("dataset"):
        return _choose(request)
    (look, source), view = _look(request, uid), view_of(request.GET)
    if source.study is not None and judges_points(source.study):
        return redirect("annotation:verification-agreement", uid=source.study.uid)
    shown = look_up(AGREEMENT, look, now=timezone.now())
    context: dict[str, Any] = {
        "study": source.study,
        "dataset": "" if source.study else look.dataset,
        "shown": shown,
    }
    if shown.figures is None:
        head = "annotation/_study_head.html" if source.study else ""
        return waiting_page(request, shown, {**context, "here": "agreement"}, heading=_("Agreement"), head=head)
    figures = shown.figures.shown(view.shown)
    _expose(request, figures.options.haystack_pks)
    context |= {
        "form": LookForm(
            request.GET, options=figures.options, is_external=figures.is_external, tasks=source.tasks
        ),
        "look": look,
        "view": view,
        "figures": figures,
        "filter": filter_words(look, figures),
        "cards": present.cards(figures.people),
        "pairs": PAIRS.shown(figures.people.pairs, request.GET),
        "without": WITHOUT.shown(tuple(figures.people.without.items()), request.GET),
        "matrix": present.matrix(figures.people, {name: key for key, name in figures.options.people}, request.GET),
        "bias": present.bias_table(figures),
        "ranking": present.ranking_table(figures),
        **_corrected(request, source, figures),
        "query": request.GET.urlencode(),
        "tables": [name for name in files.TABLES if name != "people.csv"],
        "deciding": _deciding(source, figures.top),
        **_addresses(uid),
        **_judges(request, view, figures),
    }
    return page(request, "annotation/agreement.html", context, part="figures")


def _choose(request: HtmxHttpRequest) -> HttpResponse:
    studies = readable(request.user)
    found = Paginator(chooser.comparable(studies), SETS_PER_PAGE).get_page(request.GET.get("page"))
    labels = CoverageLabel.objects.filter(study__in=studies.values("pk"))
    context = {
        "found": found,
        "rows": chooser.rows(found, now=timezone.now()),
        "datasets": chooser.datasets(labels),
        "query": "",
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


def _judges(request: HttpRequest, view: View, found: Figures) -> dict[str, Any]:
    """What the part on judges needs; nothing where no judge spoke."""
    report = found.judges
    if report is None:
        return {}
    table = present.judge_table(report).shown(report.rows, request.GET)
    report = replace(report, rows=tuple(table.rows))
    columns = present.judge_columns(report, is_wide=view.is_wide)
    return {
        "report": report,
        "judge_table": table,
        "is_wide": view.is_wide,
        "columns": columns,
        "ceiling_cells": present.judge_cells(report.ceiling, columns) if report.ceiling else None,
        "judge_rows": [
            (row, present.judge_cells(row, columns), present.confusion_rows(row)) for row in report.rows
        ],
        "differences": present.differences(report),
        "forest": charts.forest(report, view.measure),
        "summary_charts": found.charts_of(view.judge),
    }


def _corrected(request: HttpRequest, source: Source, found: Figures) -> dict[str, Any]:
    """The corrected scores, and whether one may say here what they need to know."""
    table, study = present.corrected_table(found), source.study
    asks = study is not None and bool(table) and (study.labels_are_random or table["may_be_declared"])
    may = asks and request.user.has_perm("annotation.change_study")
    own = Study.objects.for_user(request.user)
    return {"corrected": table, "may_declare": may and own.filter(uid=study.uid if study else None).exists()}


@requires("annotation.change_study")
@require_POST
def random_labels(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Declare that the labelled summaries of a study are a random draw of each system's, or that they are not."""
    study = get_object_or_404(Study.objects.for_user(request.user).filter(kind__in=WITH_COVERAGE), uid=uid)
    is_random = request.POST.get("random") == "yes"
    lifecycle.declare_random(study=study, is_random=is_random, by=request.user, now=timezone.now())
    return redirect("annotation:study-agreement", uid=study.uid)


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
    _expose(request, tuple({info.haystack_pk for info in table.summaries}))
    shown_rows = rows.views(table, list(shown))
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "study": source.study,
        "page": shown,
        "rows": shown_rows,
        "deciding": _deciding(source, shown_rows),
        "row_filter": chosen,
        "judge": next((one.name for one in table.judges if chosen.against in {one.key, one.name}), ""),
        "judges": table.judges_with_verdicts,
        "categories": table.categories,
        "query": query.urlencode(),
        **_addresses(uid),
    }
    return page(request, "annotation/agreement_rows.html", context, part="rows")


@requires("annotation.view_session")
@require_safe
def agreement_file(request: HttpRequest, name: str, uid: uuid.UUID | None = None) -> HttpResponseBase:
    """A table as CSV, all figures as JSON, or a file of a chart; people under their pseudonyms."""
    (look, source), view = _look(request, uid), view_of(request.GET)
    look, study = replace(look, is_public=True), source.study
    shown = look_up(AGREEMENT, look, now=timezone.now(), wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    figures = shown.figures.shown(view.shown)
    _expose(request, figures.options.haystack_pks)
    prefix = f"agreement-{shown.version}"
    if name == "figures.json":
        everything = {"data_version": shown.version, **files.everything(figures, look)}
        return json_download(everything, name=f"{prefix}-{name}", about=study)
    if name in files.TABLES:
        columns, rows = files.TABLES[name]
        return csv_download(request, columns, rows(figures), name=f"{prefix}-{name}", about=study)
    if name == "judges.tex" and figures.judges is not None:
        report = present.sorted_by(figures.judges, view.sort)
        text = files.judges_latex(report, present.judge_columns(report, is_wide=view.is_wide))
        return download([text], name=f"{prefix}-{name}", content_type="text/plain; charset=utf-8", about=study)
    drawn: list[Chart | None] = []
    if figures.judges is not None:
        drawn = [charts.forest(figures.judges, view.measure), *figures.charts_of(view.judge)]
    return chart_file(request, drawn, name, prefix=f"{prefix}-", about=study)
