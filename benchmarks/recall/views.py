"""Key point recall: figures and their files, runs of judges on responses, one response, checks of its points."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.engine import judging, overview
from benchmarks.judges.registry import entailment_description_of
from benchmarks.judging.run_views import RUN, estimated, start_run
from benchmarks.models import Judge, JudgeRun, Response, ResponsePoint
from benchmarks.recall import checking, people, reading
from benchmarks.recall.forms import ALL_QUESTIONS, CheckForm, RecallForm, ResponseRunForm
from benchmarks.recall.results import RECALL, RESPONSE_COLUMNS, RESPONSES, RecallLook, as_json
from benchmarks.recall.sheet import Beside, sheet
from benchmarks.results.sheet_files import origin_of, sheet_file
from benchmarks.results.stored import FILE_WAIT_S, look_up
from benchmarks.results.views import waiting_file, waiting_page
from benchmarks.web.downloads import csv_download
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires

VIEW, CHECK = "benchmarks.view_question", "benchmarks.add_responsepointcheck"
TASKS = (JudgeRun.Task.RECALL, JudgeRun.Task.EXTRACTION, JudgeRun.Task.SUPPORT)
RENAMED = {
    "recall.json": "figures.json",
    "recall.csv": "figures.csv",
    "systems.csv": "systems-in-parts.csv",
    "conditions.csv": "by-condition.csv",
}
"""What files were called before."""
OF_ALL = ("figures", "systems-in-parts", "by-condition")
"""Files that have every judge unless one is asked for; the others are of the judge that the page shows."""
LONGEST = 300
"""No name that is filtered by is longer."""


def _verified(request: HtmxHttpRequest) -> people.Verified | None:
    """The version of verified key points that the address names; 404 where the user may see none such."""
    key = request.GET.get("points", "")
    points = people.verified(request.user, key) if key else None
    if key and points is None:
        raise Http404
    return points


def _look(request: HtmxHttpRequest, verified: people.Verified | None) -> RecallLook:
    dataset, category, domain = (request.GET.get(name, "")[:LONGEST] for name in ("dataset", "category", "domain"))
    return RecallLook(
        dataset=dataset,
        category=category,
        domain=domain,
        systems=tuple(sorted({name[:LONGEST] for name in request.GET.getlist("system") if name})),
        key_points=tuple(sorted(verified.key_points)) if verified else None,
        questions=tuple(sorted(verified.questions)) if verified else None,
        only_common=request.GET.get("questions") != ALL_QUESTIONS,
    )


def _beside(request: HtmxHttpRequest, name: str, verified: people.Verified | None) -> Beside:
    """What stands beside the figures of a judge."""
    judge = next((judge for judge in Judge.objects.all() if str(judge) == name), None)
    about = entailment_description_of(judge.kind) if judge else ""
    if judge and judge.kind == Judge.Kind.LEXICAL:
        about = f"{about} It splits responses into sentences and does not extract claims."
    return Beside(
        about=about,
        measured={name: people.measured(request.user, judge)} if judge else {},
        checked=checking.share_right(judge=name, dataset=request.GET.get("dataset", "")),
        verified=verified,
        is_narrowed=any(request.GET.get(name) for name in ("dataset", "category", "domain", "system", "points")),
    )


@require_safe
@requires(VIEW)
def recall(request: HtmxHttpRequest) -> HttpResponse:
    """Figures of one judge, filtered by the address."""
    verified, heading = _verified(request), "Key point recall"
    shown = look_up(RECALL, _look(request, verified), now=timezone.now())
    if shown.figures is None:
        return waiting_page(request, shown, {}, heading=heading)
    judge = shown.figures.most(request.GET.get("judge", ""))
    extraction = (
        f"{reverse('benchmarks:extraction-recall')}?{urlencode({'dataset': request.GET.get('dataset', '')})}"
    )
    links = [("Are all points extracted?", extraction)]
    if request.user.has_perm(RUN):
        links.append(("Run a judge on responses", reverse("benchmarks:recall-run")))
    context = {
        "heading": heading,
        "crumbs": [(_("Questions"), reverse("benchmarks:questions"))],
        "links": links,
        "form": RecallForm(
            request.GET, judges=shown.figures.judges, judge=judge, versions=people.versions(request.user)
        ),
        "form_template": "results/_form.html",
        "downloads_template": "benchmarks/_recall_downloads.html",
        "shown": shown,
        "sheet": sheet(shown.figures, _beside(request, judge, verified), judge=judge),
        "files_url": reverse("benchmarks:recall-file", args=["x"])[:-1],
    }
    return page(request, "results/sheet.html", context, part="figures")


@require_safe
@requires(VIEW)
def recall_file(request: HtmxHttpRequest, name: str) -> HttpResponseBase:
    """All figures, a table or a chart of them as a file, or the counts of each response."""
    verified, now = _verified(request), timezone.now()
    look, judge = _look(request, verified), request.GET.get("judge", "")
    if name == "responses.csv":
        counts = look_up(RESPONSES, look, now=now, wait_s=FILE_WAIT_S)
        if counts.figures is None:
            return waiting_file(request, counts, name=name)
        rows = (row for row in counts.figures.rows if judge in {"", row[0]})
        return csv_download(request, RESPONSE_COLUMNS, rows, name=name)
    shown = look_up(RECALL, look, now=now, wait_s=FILE_WAIT_S)
    if shown.figures is None:
        return waiting_file(request, shown, name=name)
    name = RENAMED.get(name, name)
    if name.partition(".")[0] not in OF_ALL:
        judge = shown.figures.most(judge)
    figures = shown.figures.of(judge) if judge else shown.figures
    laid_out = sheet(
        shown.figures if judge in figures.judges else figures, _beside(request, judge, verified), judge=judge
    )
    prefix, origin = f"recall-{shown.version}-", origin_of(shown, "Key point recall", judge=judge)
    return sheet_file(request, laid_out, name, as_json=as_json(figures), prefix=prefix, origin=origin)


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
        return HttpResponse("Choose whether the point is right.", status=422, content_type="text/plain")
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
