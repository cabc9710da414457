"""Key point recall: figures and their files, runs of judges on responses, one response, checks of its points."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.browse_questions import choices
from benchmarks.engine import judging, overview
from benchmarks.judges.registry import entailment_description_of
from benchmarks.models import Judge, JudgeRun, Question, Response, ResponsePoint, System
from benchmarks.recall import checking, plain, reading
from benchmarks.recall import page as recall_page
from benchmarks.recall.figures import ResponseFilter, Table, table
from benchmarks.recall.forms import CheckForm, ResponseRunForm
from benchmarks.recall.page import chosen_judge, figure_cells, page_of
from benchmarks.views.judges import estimated
from benchmarks.views.runs import RUN, start_run
from benchmarks.web.downloads import csv_download, json_download
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires
from benchmarks.web.plots import FORMATS, inline_svg, plot_download

VIEW, CHECK = "benchmarks.view_question", "benchmarks.add_responsepointcheck"
TASKS = (JudgeRun.Task.RECALL, JudgeRun.Task.EXTRACTION, JudgeRun.Task.SUPPORT)
FILTERS = ("dataset", "category", "domain", "system")


def _table(request: HtmxHttpRequest) -> Table:
    dataset, category, domain, system = (request.GET.get(name, "") for name in FILTERS)
    return table(ResponseFilter(dataset=dataset, category=category, domain=domain, system=system))


@require_safe
@requires(VIEW)
def recall(request: HtmxHttpRequest) -> HttpResponse:
    """Figures of one judge, filtered by the address."""
    table = _table(request)
    name = chosen_judge(table, request.GET.get("judge", ""))
    found = page_of(table, name) if name else None
    judge = next((one for one in Judge.objects.all() if str(one) == name), None)
    context: dict[str, Any] = {
        "table": table,
        "found": found,
        "judge": judge,
        "n_missing": table.of_judge(name).n_not_judged if name else 0,
        "about": entailment_description_of(judge.kind) if judge else "",
        "choices": choices(),
        "systems": System.objects.filter(responses__isnull=False).distinct().order_by("key"),
        "chosen": {key: request.GET.get(key, "") for key in FILTERS},
        "query": request.GET.urlencode(),
        "formats": FORMATS,
    }
    if found is not None:
        context |= {
            "overall": figure_cells(found.overall),
            "system_rows": [(group, words, figure_cells(group.scores)) for group, words in found.systems],
            "splits": [
                (split, [(group, figure_cells(group.scores)) for group in split.groups]) for split in found.splits
            ],
            "plot": found.plot,
            "svg": inline_svg(found.plot) if found.plot else "",
            "checked": checking.share_right(judge=name, dataset=request.GET.get("dataset", "")),
        }
    return page(request, "benchmarks/recall.html", context, part="figures")


@require_safe
@requires(VIEW)
def recall_file(request: HtmxHttpRequest, name: str) -> HttpResponseBase:
    """All figures as JSON or CSV, the counts of each response, or the plot."""
    table = _table(request)
    if request.GET.get("judge"):
        table = table.of_judge(request.GET["judge"])
    if name == "recall.json":
        return json_download(plain.report(table), name=name)
    if name == "recall.csv":
        rows = recall_page.figure_rows(plain.report(table))
        return csv_download(recall_page.FILE_COLUMNS, rows, name="recall.csv")
    if name == "responses.csv":
        keys = dict(Question.objects.values_list("pk", "key"))
        return csv_download(
            recall_page.RESPONSE_COLUMNS, recall_page.response_rows(table, keys), name="responses.csv"
        )
    stem, _dot, file_format = name.rpartition(".")
    judge = recall_page.chosen_judge(table, "")
    plot = recall_page.length_plot(table.of_judge(judge).rows) if stem == "lengths" and judge else None
    if plot is None or file_format not in FORMATS:
        raise Http404
    return plot_download(plot, file_format=file_format, name="recall-lengths")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def recall_run(request: HtmxHttpRequest) -> HttpResponse:
    """Choose a judge, a task and a dataset, see what a run would ask, and start it."""
    form = ResponseRunForm(request.POST or (request.GET if "judge" in request.GET else None))
    if request.method == "POST" and form.is_valid():
        return _start(request, form)
    context: dict[str, Any] = {"form": form}
    if form.is_bound and form.is_valid():
        context |= _estimate(form)
    status = 422 if request.method == "POST" else 200
    return page(request, "benchmarks/recall_run.html", context, status=status)


def _estimate(form: ResponseRunForm) -> dict[str, Any]:
    data, responses = form.cleaned_data, form.responses()
    judge = form.judge_of()
    task, repeats = data["task"], judging.repeats_of(judge=judge, task=data["task"], wanted=data["repeats"])
    context: dict[str, Any] = {
        "judge": judge,
        "about": entailment_description_of(judge.kind),
        "states": [overview.task_state(judge=judge, task=name, subjects=responses) for name in TASKS],
        "task": task,
        "n_responses": len(responses),
        "n_waiting": len(judging.missing(judge=judge, task=task, subjects=responses, repeats=repeats)),
    }
    if judge.kind == Judge.Kind.OPENAI:
        context |= estimated(judge, task, responses, repeats)
    return context


def _start(request: HtmxHttpRequest, form: ResponseRunForm) -> HttpResponse:
    return start_run(
        request,
        judge=form.judge_of(now=timezone.now()),
        task=form.cleaned_data["task"],
        subjects=form.responses(),
        options=form.options(),
        reason="person",
        scope=form.scope().as_json(),
        back=f"{reverse('benchmarks:recall-run')}?{request.POST.urlencode()}",
    )


@require_safe
@requires(VIEW)
def response_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """A response beside its key points and its own points, as one judge sees them."""
    response = get_object_or_404(Response.objects.select_related("question", "system"), uid=uid)
    read = reading.response_page(response, judge_uid=request.GET.get("judge", ""), user=request.user)
    context = {
        "response": response,
        "question": response.question,
        "read": read,
        "about": entailment_description_of(read.judge.kind) if read.judge else "",
    }
    return page(request, "benchmarks/response_detail.html", context)


@require_POST
@requires(CHECK)
def point_check(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Say whether an extracted point is right."""
    points = ResponsePoint.objects.select_related("extraction__response__question", "extraction__judge")
    point = get_object_or_404(points, uid=uid)
    form = CheckForm(request.POST)
    if not form.is_valid():
        return HttpResponse(_("Say whether the point is right."), status=422, content_type="text/plain")
    is_right = form.cleaned_data["is_right"] == "yes"
    checking.check(
        point=point, is_right=is_right, note=form.cleaned_data["note"], by=request.user, now=timezone.now()
    )
    if wants_fragment(request):
        row = reading.point_row(point, user=request.user)
        return page(
            request,
            "benchmarks/_response_point.html",
            {"row": row, "question": point.extraction.response.question},
        )
    address = reverse("benchmarks:response-detail", args=[point.extraction.response.uid])
    return redirect(f"{address}?judge={point.extraction.judge.uid}#point-{point.number}")
