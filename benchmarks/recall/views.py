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

from benchmarks.engine import judging, overview
from benchmarks.judges.registry import entailment_description_of
from benchmarks.judging.run_views import RUN, estimated, start_run
from benchmarks.models import Judge, JudgeRun, Response, ResponsePoint, System
from benchmarks.questions.queries import choices
from benchmarks.recall import checking, people, reading
from benchmarks.recall import page as recall_page
from benchmarks.recall.charts import caption_of
from benchmarks.recall.forms import CheckForm, ResponseRunForm
from benchmarks.recall.page import RECALL, RECALL_FILES, RecallLook, figure_cells
from benchmarks.results.chart_files import chart_file
from benchmarks.results.stored import FILE_WAIT_S, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.web.downloads import csv_download, json_download
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires

VIEW, CHECK = "benchmarks.view_question", "benchmarks.add_responsepointcheck"
TASKS = (JudgeRun.Task.RECALL, JudgeRun.Task.EXTRACTION, JudgeRun.Task.SUPPORT)
FILES = ("recall.json", "recall.csv", "systems.csv", "conditions.csv", "responses.csv")
"""Files that are no chart's."""
FILTERS = ("dataset", "category", "domain")
LONGEST = 300
"""No name that is filtered by is longer."""
QUESTIONS = ("common", "all")
"""Which questions systems are compared on, as addresses say it; the first is the default."""


def _verified(request: HtmxHttpRequest) -> people.Verified | None:
    """The version of verified key points that the address names; 404 where the user may see none such."""
    key = request.GET.get("points", "")
    found = people.verified(request.user, key) if key else None
    if key and found is None:
        raise Http404
    return found


def _look(request: HtmxHttpRequest, verified: people.Verified | None) -> RecallLook:
    dataset, category, domain, judge = (request.GET.get(name, "")[:LONGEST] for name in (*FILTERS, "judge"))
    return RecallLook(
        dataset=dataset,
        category=category,
        domain=domain,
        systems=tuple(sorted({name[:LONGEST] for name in request.GET.getlist("system") if name})),
        judge=judge,
        key_points=tuple(sorted(verified.key_points)) if verified else None,
        questions=tuple(sorted(verified.questions)) if verified else None,
        only_common=_only_common(request),
    )


def _only_common(request: HtmxHttpRequest) -> bool:
    return request.GET.get("questions") != QUESTIONS[1]


@require_safe
@requires(VIEW)
def recall(request: HtmxHttpRequest) -> HttpResponse:
    """Figures of one judge, filtered by the address."""
    verified = _verified(request)
    shown = look_up(RECALL, _look(request, verified), now=timezone.now())
    if shown.figures is None:
        return waiting_page(request, shown, {}, heading=_("Key point recall"))
    table, found, only_common = shown.figures, shown.figures.page, _only_common(request)
    name = found.judge if found else ""
    judge = next((one for one in Judge.objects.all() if str(one) == name), None)
    context: dict[str, Any] = {
        "shown": shown,
        "table": table,
        "found": found,
        "judge": judge,
        "n_missing": table.n_missing,
        "about": entailment_description_of(judge.kind) if judge else "",
        "choices": choices(),
        "systems": System.objects.filter(responses__isnull=False).distinct().order_by("key"),
        "versions": people.versions(request.user),
        "verified": verified,
        "chosen": {key: request.GET.get(key, "") for key in (*FILTERS, "points")},
        "chosen_systems": request.GET.getlist("system"),
        "only_common": only_common,
        "query": request.GET.urlencode(),
        "files_url": reverse("benchmarks:recall-file", args=["x"])[:-1],
    }
    if found is not None:
        context |= {
            "overall": figure_cells(found.overall),
            "system_rows": [(group, words, figure_cells(group.scores)) for group, words in found.systems],
            "splits": [
                (split, [(group, figure_cells(group.scores)) for group in split.groups]) for split in found.splits
            ],
            "caption": caption_of(found.compared),
            "conditions_caption": caption_of(found.conditions.compared) if found.conditions else "",
            "judges_caption": caption_of(found.judges.compared) if found.judges else "",
            "checked": checking.share_right(judge=name, dataset=request.GET.get("dataset", "")),
            "measured": people.measured(request.user, judge) if judge else [],
        }
    return page(request, "benchmarks/recall.html", context, part="figures")


@require_safe
@requires(VIEW)
def recall_file(request: HtmxHttpRequest, name: str) -> HttpResponseBase:
    """All figures as JSON or CSV, those of systems, the counts of each response, or a file of a chart."""
    look, now = _look(request, _verified(request)), timezone.now()
    if name not in FILES:
        return _chart_file(request, look, name)
    shown = look_up(RECALL_FILES, look, now=now, wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    found = shown.figures
    if name == "recall.json":
        parts = {"systems": found.systems, "conditions": found.conditions}
        return json_download(found.report | parts, name=name)
    tables = {
        "recall.csv": (recall_page.FILE_COLUMNS, recall_page.figure_rows(found.report)),
        "systems.csv": (recall_page.SYSTEM_COLUMNS, recall_page.system_rows(found.systems)),
        "conditions.csv": (recall_page.CONDITION_COLUMNS, recall_page.condition_rows(found.conditions)),
        "responses.csv": (recall_page.RESPONSE_COLUMNS, iter(found.responses)),
    }
    columns, rows = tables[name]
    return csv_download(request, columns, rows, name=name)


def _chart_file(request: HtmxHttpRequest, look: RecallLook, name: str) -> HttpResponseBase:
    shown = look_up(RECALL, look, now=timezone.now(), wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    found = shown.figures.page
    charts = [found.chart, *(part.chart for part in found.parts)] if found else []
    return chart_file(request, charts, name, prefix="recall-")


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
