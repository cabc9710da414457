"""Pages of agreement: what can be compared, that of a data set with the rows behind it, the newest results."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from annotation import kinds
from annotation.coverage.collect import Source
from annotation.coverage.look import LONGEST, Look, look_of
from annotation.coverage.page import (
    AGREEMENT,
    Figures,
    RowFilter,
    RowView,
    chosen_table,
    everything,
    positions,
    views,
)
from annotation.coverage.results import coverage_sheet, expose, look_form
from annotation.kinds import kind_named
from annotation.labelling.kind import LabelWork
from annotation.models import Assignment, CoverageLabel, ExternalLabel, LabelTask, Study
from annotation.results.pages import moved
from annotation.results.study import CARD, HEADLINE, OfStudy
from annotation.results.table import PEOPLE
from annotation.studies import lifecycle
from benchmarks.results.pages import FigurePage, origin_of
from benchmarks.results.sheet import Sheet
from benchmarks.results.stored import look_up, look_up_many
from benchmarks.results.writing import Origin
from benchmarks.web.charts import Chart
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


def comparable(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Those of the studies that have labels to compare, the newest first."""

    # One label of each study is enough: as EXISTS, of several tables in one OR, PostgreSQL would read all labels.
    places: list[tuple[str, Any]] = [(Study.Kind.EXTERNAL, ExternalLabel), (Study.Kind.EXTERNAL, CoverageLabel)]
    places += [(kind.value, kind.answers.model) for kind in kinds.kinds() if isinstance(kind, LabelWork)]
    first = {
        f"label{at}": Subquery(model.objects.order_by().filter(study=OuterRef("pk")).values("pk")[:1])
        for at, (_kind, model) in enumerate(places)
    }
    labelled = reduce(
        or_, (Q(("kind", kind), (f"label{at}__isnull", False)) for at, (kind, _model) in enumerate(places))
    )
    return studies.alias(**first).filter(labelled).order_by("-created_at", "-pk")


TRIED = 3
"""At most this many studies are searched for results, those worked in last first."""


@dataclass(frozen=True, slots=True)
class Latest:
    """A study with results: a chart of them, when somebody last finished a task in it, and the page of results."""

    study: Study
    at: datetime
    chart: Chart
    url: str


def latest_of(user: Any, now: datetime) -> Latest | None:
    """The study that was worked in last, among those of this researcher that have results; None if there is none.

    Three queries, and those for the results, as last computed.
    """
    visible = Study.objects.for_user(user).exclude(state=Study.State.ARCHIVED)
    studies = {study.pk: study for study in visible}
    # When a task of each was last finished; studies with imported labels have none.
    labels = LabelTask.objects.filter(study__in=studies).order_by().values_list("study")
    texts = Assignment.objects.filter(study__in=studies).order_by().values_list("study")
    done = dict(labels.annotate(last=Max("done_at"))) | dict(texts.annotate(last=Max("session__ended_at")))
    ended = {study: at for study, at in done.items() if at is not None}
    newest = sorted(studies.values(), key=lambda study: ended.get(study.pk, study.created_at), reverse=True)
    for study in newest[:TRIED]:
        card = look_up(CARD, OfStudy(study.pk), now=now).figures
        chart = card.chart if card else None
        if chart is not None:
            kind = kind_named(study.kind)
            url = reverse(kind.results_page or kind.study_page, args=[study.uid])
            return Latest(study, ended.get(study.pk, study.created_at), chart, url)
    return None


@requires("annotation.view_session")
@require_safe
def latest(request: HtmxHttpRequest) -> HttpResponse:
    """A small chart of the study that was worked in last; empty where no study has results."""
    context = {"latest": latest_of(request.user, timezone.now())}
    return page(request, "annotation/_latest.html", context)


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
    heading, computation = "Agreement", AGREEMENT
    form_template, head = "results/_form.html", "annotation/_agreement_head.html"

    def show(self) -> HttpResponse:
        return super().show() if self.request.GET.get("dataset") else _choose(self.request)

    def options(self) -> Look:
        self.look, self.source = _look(self.request, None)
        return replace(self.look, is_public=bool(self.file))

    def beside(self) -> dict[str, Any]:
        return {"dataset": self.look.dataset}

    def context(self, figures: Figures) -> dict[str, Any]:
        return {"form": look_form(self.request, figures)}

    def sheet(self, figures: Figures) -> Sheet:
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
    studies_page = Paginator(comparable(studies), 20).get_page(request.GET.get("page"))
    labels = CoverageLabel.objects.filter(study__in=studies.values("pk"))
    shown = look_up_many(HEADLINE, [OfStudy(study.pk) for study in studies_page], now=timezone.now())
    headlines = [each.figures for each in shown if each.figures]
    current = (
        labels.exclude(summary__haystack__dataset="")
        .order_by()
        .values("summary__haystack__dataset")
        .annotate(n=Count("study", distinct=True))
        .filter(n__gt=1)
    )
    address = reverse("annotation:agreement")
    context = {
        "page": studies_page,
        "rows": [
            {"study": study, "url": reverse(kind_named(study.kind).results_page, args=[study.uid]), "shown": each}
            for study, each in zip(studies_page, shown, strict=True)
        ],
        "is_waiting": any(each.is_waiting for each in shown),
        "stats": [stat for headline in headlines for stat in (headline.percent, headline.corrected)],
        "datasets": [
            {"name": name, "url": f"{address}?{urlencode({'dataset': name})}", "n_studies": n}
            for name, n in sorted(current.values_list("summary__haystack__dataset", "n"))
        ],
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
    return redirect(f"{reverse('annotation:study-figures', args=[study.uid])}?view=systems")


@requires("annotation.view_session")
@require_safe
def agreement_rows(request: HtmxHttpRequest, uid: uuid.UUID | None = None) -> HttpResponse:
    """The rows behind a figure, most disputed first."""
    look, source = _look(request, uid)
    table = chosen_table(look)
    chosen = RowFilter(
        against=request.GET.get("between") or PEOPLE,
        human=request.GET.get("human", ""),
        judge=request.GET.get("verdict", ""),
    )
    placed = positions(table, chosen) if len(table.codes) else []
    shown = Paginator(placed, 20).get_page(request.GET.get("page"))
    expose(request, tuple({info.haystack_pk for info in table.summaries}))
    shown_rows = views(table, list(shown))
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


urlpatterns = [
    *AgreementPage.urls("agreement/"),
    path("agreement/latest/", latest, name="latest"),
    path("agreement/rows/", agreement_rows, name="agreement-rows"),
    path("studies/<uuid:uid>/agreement/", moved),
    path("studies/<uuid:uid>/agreement/random/", random_labels, name="study-random"),
    path("studies/<uuid:uid>/agreement/rows/", agreement_rows, name="study-agreement-rows"),
    path("studies/<uuid:uid>/agreement/files/<str:name>", moved),
]
