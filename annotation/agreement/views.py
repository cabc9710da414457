"""The agreement page of a study or a data set, the rows behind its figures, its files, and the way to each."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement import chooser
from annotation.agreement.forms import LookForm, filter_words, view_of
from annotation.agreement.scope import labels_of_dataset
from annotation.figures import files, plots, present, rows
from annotation.figures.page import WITH_COVERAGE, Figures, Source, View, chosen_table, figures, readable
from annotation.figures.references import UnknownReference
from annotation.figures.rows import RowView
from annotation.figures.tables import PAIRS, WITHOUT
from annotation.models import CoverageLabel, Study
from annotation.studies import lifecycle
from benchmarks.models import Haystack
from benchmarks.web.downloads import csv_download, download, json_download
from benchmarks.web.exposure import saw_insights
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from benchmarks.web.plots import FORMATS, inline_svg, plot_download

ROWS_PER_PAGE = 20
SETS_PER_PAGE = 20


def _source(request: HttpRequest, uid: uuid.UUID | None) -> Source:
    """The labels of one study, or of one data set: those of several are never mixed."""
    studies = readable(request.user)
    if uid is not None:
        study = get_object_or_404(studies.filter(kind__in=WITH_COVERAGE), uid=uid)
        task = request.GET.get("task", "")
        return Source(CoverageLabel.objects.filter(study=study), study, f"study {study.pk} {task}", task)
    dataset = request.GET.get("dataset", "")
    everything: QuerySet[CoverageLabel] = CoverageLabel.objects.filter(study__in=studies.values("pk"))
    labels = labels_of_dataset(everything, dataset) if dataset else everything.none()
    if not labels.exists():
        raise Http404
    return Source(labels, None, f"user {request.user.pk} {dataset}")


def _figures(request: HttpRequest, uid: uuid.UUID | None, *, public: bool = False) -> tuple[Source, View, Figures]:
    """The figures asked for; a reference that labelled nothing here falls back to the mean."""
    source, view = _source(request, uid), view_of(request.GET)
    try:
        return source, view, figures(source, view, public=public).shown(view.shown)
    except UnknownReference:
        view = replace(view, reference="mean")
        return source, view, figures(source, view, public=public).shown(view.shown)


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
    source, view, found = _figures(request, uid)
    if source.study is not None and chooser.judges_points(source.study):
        return redirect("annotation:verification-agreement", uid=source.study.uid)
    _expose(request, found.options.haystack_pks)
    context: dict[str, Any] = {
        "study": source.study,
        "dataset": "" if source.study else request.GET["dataset"],
        "form": LookForm(request.GET, options=found.options, is_external=found.is_external, tasks=source.tasks),
        "view": view,
        "figures": found,
        "filter": filter_words(view, found),
        "cards": present.cards(found.people),
        "pairs": PAIRS.shown(found.people.pairs, request.GET),
        "without": WITHOUT.shown(tuple(found.people.without.items()), request.GET),
        "matrix": present.matrix(found.people, {name: key for key, name in found.options.people}, request.GET),
        "bias": present.bias_table(found),
        "ranking": present.ranking_table(found),
        **_corrected(request, source, found),
        "query": request.GET.urlencode(),
        "formats": FORMATS,
        "tables": [name for name in files.TABLES if name != "people.csv"],
        "deciding": _deciding(source, found.top),
        **_addresses(uid),
        **_judges(request, source, view, found),
    }
    return page(request, "annotation/agreement.html", context, part="figures")


def _choose(request: HtmxHttpRequest) -> HttpResponse:
    studies = readable(request.user)
    found = Paginator(chooser.comparable(studies), SETS_PER_PAGE).get_page(request.GET.get("page"))
    labels = CoverageLabel.objects.filter(study__in=studies.values("pk"))
    context = {"found": found, "rows": chooser.rows(found), "datasets": chooser.datasets(labels), "query": ""}
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


def _judges(request: HttpRequest, source: Source, view: View, found: Figures) -> dict[str, Any]:
    """What the part on judges needs; nothing where no judge spoke."""
    report = found.judges
    if report is None:
        return {}
    table = present.judge_table(report).shown(report.rows, request.GET)
    report = replace(report, rows=tuple(table.rows))
    columns = present.judge_columns(report, is_wide=view.is_wide)
    forest = plots.forest(report, view.measure)
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
        "forest": forest,
        "forest_svg": inline_svg(forest) if forest else "",
        "scatter_svgs": [inline_svg(plot) for plot in found.plots_of(view.judge)],
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
    source, view = _source(request, uid), view_of(request.GET)
    table = chosen_table(source, view)
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
    """A table as CSV, all figures as JSON, or a plot as SVG, PNG or PDF; people under their pseudonyms."""
    source, view, found = _figures(request, uid, public=True)
    _expose(request, found.options.haystack_pks)
    prefix = f"agreement-{found.version}"
    if name == "figures.json":
        return json_download(files.everything(found, view), name=f"{prefix}-{name}", about=source.study)
    if name in files.TABLES:
        columns, rows = files.TABLES[name]
        return csv_download(request, columns, rows(found), name=f"{prefix}-{name}", about=source.study)
    if name == "judges.tex" and found.judges is not None:
        report = present.sorted_by(found.judges, view.sort)
        text = files.judges_latex(report, present.judge_columns(report, is_wide=view.is_wide))
        return download(
            [text], name=f"{prefix}-{name}", content_type="text/plain; charset=utf-8", about=source.study
        )
    stem, _dot, file_format = name.rpartition(".")
    plot = None
    if stem == "forest" and found.judges is not None:
        plot = plots.forest(found.judges, view.measure)
    elif stem in {"scatter", "difference"} and found.judges is not None:
        drawn = found.plots_of(view.judge)
        plot = drawn[stem == "difference"] if drawn else None
    if plot is None or file_format not in FORMATS:
        raise Http404
    return plot_download(plot, file_format=file_format, name=f"{prefix}-{stem}", about=source.study)
