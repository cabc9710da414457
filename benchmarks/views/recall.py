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
from benchmarks.recall import checking, conditions, people, plain, reading
from benchmarks.recall import page as recall_page
from benchmarks.recall.figures import ResponseFilter, Table, table
from benchmarks.recall.forms import CheckForm, ResponseRunForm
from benchmarks.recall.page import chosen_judge, figure_cells, page_of
from benchmarks.recall.plots import caption_of, length_plot
from benchmarks.recall.systems import as_json, compared
from benchmarks.views.runs import RUN, estimated, start_run
from benchmarks.web.downloads import csv_download, json_download
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires
from benchmarks.web.plots import FORMATS, Plot, inline_svg, plot_download

VIEW, CHECK = "benchmarks.view_question", "benchmarks.add_responsepointcheck"
TASKS = (JudgeRun.Task.RECALL, JudgeRun.Task.EXTRACTION, JudgeRun.Task.SUPPORT)
FILTERS = ("dataset", "category", "domain")
QUESTIONS = ("common", "all")
"""Which questions systems are compared on, as addresses say it; the first is the default."""


def _verified(request: HtmxHttpRequest) -> people.Verified | None:
    """The version of verified key points that the address names; 404 where the user may see none such."""
    key = request.GET.get("points", "")
    found = people.verified(request.user, key) if key else None
    if key and found is None:
        raise Http404
    return found


def _table(request: HtmxHttpRequest, verified: people.Verified | None) -> Table:
    dataset, category, domain = (request.GET.get(name, "") for name in FILTERS)
    return table(
        ResponseFilter(
            dataset=dataset,
            category=category,
            domain=domain,
            systems=tuple(name for name in request.GET.getlist("system") if name),
            key_points=verified.key_points if verified else None,
            questions=verified.questions if verified else None,
        )
    )


def _only_common(request: HtmxHttpRequest) -> bool:
    return request.GET.get("questions") != QUESTIONS[1]


@require_safe
@requires(VIEW)
def recall(request: HtmxHttpRequest) -> HttpResponse:
    """Figures of one judge, filtered by the address."""
    verified = _verified(request)
    table, only_common = _table(request, verified), _only_common(request)
    name = chosen_judge(table, request.GET.get("judge", ""))
    found = page_of(table, name, only_common=only_common) if name else None
    judge = next((one for one in Judge.objects.all() if str(one) == name), None)
    context: dict[str, Any] = {
        "table": table,
        "found": found,
        "judge": judge,
        "n_missing": table.of_judge(name).n_not_judged if name else 0,
        "about": entailment_description_of(judge.kind) if judge else "",
        "choices": choices(),
        "systems": System.objects.filter(responses__isnull=False).distinct().order_by("key"),
        "versions": people.versions(request.user),
        "verified": verified,
        "chosen": {key: request.GET.get(key, "") for key in (*FILTERS, "points")},
        "chosen_systems": request.GET.getlist("system"),
        "only_common": only_common,
        "query": request.GET.urlencode(),
        "formats": FORMATS,
    }
    if found is not None:
        context |= {
            "overall": figure_cells(found.overall),
            "system_rows": [(group, words, figure_cells(group.scores)) for group, words in found.systems],
            "parts": [(part, inline_svg(part.plot) if part.plot else "") for part in found.parts],
            "splits": [
                (split, [(group, figure_cells(group.scores)) for group in split.groups]) for split in found.splits
            ],
            "caption": caption_of(found.compared),
            "conditions_caption": caption_of(found.conditions.compared) if found.conditions else "",
            "judges_caption": caption_of(found.judges.compared) if found.judges else "",
            "plot": found.plot,
            "svg": inline_svg(found.plot) if found.plot else "",
            "checked": checking.share_right(judge=name, dataset=request.GET.get("dataset", "")),
            "measured": people.measured(request.user, judge) if judge else [],
        }
    return page(request, "benchmarks/recall.html", context, part="figures")


@require_safe
@requires(VIEW)
def recall_file(request: HtmxHttpRequest, name: str) -> HttpResponseBase:
    """All figures as JSON or CSV, those of systems, the counts of each response, or a plot."""
    table, only_common = _table(request, _verified(request)), _only_common(request)
    if request.GET.get("judge"):
        table = table.of_judge(request.GET["judge"])
    if name == "recall.json":
        parts = {
            "systems": as_json(table, only_common=only_common),
            "conditions": conditions.as_json(table, only_common=only_common),
        }
        return json_download(plain.report(table) | parts, name=name)
    if name == "recall.csv":
        rows = recall_page.figure_rows(plain.report(table))
        return csv_download(request, recall_page.FILE_COLUMNS, rows, name="recall.csv")
    if name == "systems.csv":
        rows = recall_page.system_rows(as_json(table, only_common=only_common))
        return csv_download(request, recall_page.SYSTEM_COLUMNS, rows, name="systems.csv")
    if name == "conditions.csv":
        rows = recall_page.condition_rows(conditions.as_json(table, only_common=only_common))
        return csv_download(request, recall_page.CONDITION_COLUMNS, rows, name="conditions.csv")
    if name == "responses.csv":
        keys = dict(Question.objects.values_list("pk", "key"))
        return csv_download(
            request, recall_page.RESPONSE_COLUMNS, recall_page.response_rows(table, keys), name="responses.csv"
        )
    stem, _dot, file_format = name.rpartition(".")
    plot = _plot(table, stem, only_common=only_common)
    if plot is None or file_format not in FORMATS:
        raise Http404
    return plot_download(plot, file_format=file_format, name=f"recall-{stem}")


def _plot(table: Table, stem: str, *, only_common: bool) -> Plot | None:
    """A plot by the name of its file."""
    judge = recall_page.chosen_judge(table, "")
    if not judge:
        return None
    found = compared(table.of_judge(judge), only_common=only_common)
    if stem == "lengths":
        return length_plot(found)
    return next((part.plot for part in recall_page.parts_of(found) if part.key == stem), None)


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
        scope=form.scope().as_json(),
        back=f"{reverse('benchmarks:recall-run')}?{request.POST.urlencode()}",
    )


@require_safe
@requires(VIEW)
def response_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """A response beside its key points and its own points, as one judge sees them."""
    response = get_object_or_404(Response.objects.select_related("question", "system", "draft__judge"), uid=uid)
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
        return HttpResponse(_("Choose whether the point is right."), status=422, content_type="text/plain")
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
