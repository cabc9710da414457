"""Pages of syntheses: the list, beginning one, one with its steps, and what is done with steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.engine import runs
from benchmarks.engine.judging import JudgeUnavailable
from benchmarks.engine.wakeup import enqueue
from benchmarks.io.schemas import summhay
from benchmarks.models import Synthesis, SynthesisPart, SynthesisReply, SynthesisStep
from benchmarks.owning import NotYours, may_change
from benchmarks.results.stored import look_up
from benchmarks.synthesis import handing_over, overview, steps
from benchmarks.synthesis.figures import FIGURES, FiguresLook
from benchmarks.synthesis.forms import BeginForm, DocumentsForm, StepForm, SynthesisForm, has_servers
from benchmarks.synthesis.plan_picture import picture
from benchmarks.synthesis.refusals import StepRefused
from benchmarks.synthesis.settings import Settings
from benchmarks.web.downloads import download
from benchmarks.web.pages import HtmxHttpRequest, page, polled
from benchmarks.web.permissions import refuse_others, requires

VIEW = "benchmarks.view_judge"
RUN = "benchmarks.add_judgerun"
OTHERS = "Whoever began this synthesis, or an admin, runs its steps."


@require_safe
@requires(VIEW)
def synthesis_list(request: HtmxHttpRequest) -> HttpResponse:
    """All syntheses with the step that they are at."""
    context = {"rows": overview.list_rows(), "has_servers": has_servers()}
    return page(request, "benchmarks/synthesis_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def synthesis_new(request: HtmxHttpRequest) -> HttpResponse:
    """Begin one; nothing is asked before its first step is started."""
    form = SynthesisForm(request.POST or None)
    return _begun(request, form, begin=steps.begin, template="benchmarks/synthesis_new.html")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def synthesis_documents(request: HtmxHttpRequest) -> HttpResponse:
    """Begin one with documents of one's own; nothing is asked before its first step is started."""
    form = DocumentsForm(request.POST or None)
    return _begun(request, form, begin=steps.begin_with_documents, template="benchmarks/synthesis_documents.html")


def _begun(
    request: HtmxHttpRequest, form: BeginForm, *, begin: Callable[..., Synthesis], template: str
) -> HttpResponse:
    """The page of what a form begins, or the form; nothing is saved where a model's name is somebody else's."""
    if request.method == "POST" and form.is_valid():
        who: dict[str, Any] = {"by": request.user, "now": timezone.now()}
        try:
            with transaction.atomic():
                judge = steps.save_generator(config=form.config(), **who)
                judges = {name: steps.save_generator(config=each, **who) for name, each in form.configs().items()}
                synthesis = begin(**form.choices(), judge=judge, judges=judges, **who)
            return redirect("benchmarks:synthesis", synthesis.uid)
        except NotYours as refused:
            form.add_error(None, str(refused))
    status = 422 if request.method == "POST" else 200
    return page(request, template, {"form": form, "has_servers": has_servers()}, status=status)


@require_safe
@requires(VIEW)
def synthesis_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """The steps with their states, counts and costs, and the plan as it fills; polled while a step runs."""
    synthesis = get_object_or_404(Synthesis.objects.select_related("haystack", "created_by"), uid=uid)
    handing_over.note_reader(request.user, synthesis)
    rows = overview.step_rows(synthesis)
    is_working = any(row.is_working for row in rows)
    context: dict[str, Any] = {
        "synthesis": synthesis,
        "rows": rows,
        "is_working": is_working,
        "is_mine": may_change(request.user, synthesis),
        "cost": overview.cost_of(synthesis),
        "plan": picture(synthesis),
        "is_complete": all(row.step.state == "closed" for row in rows),
        "settings": Settings.from_mapping(synthesis.settings),
        "form": StepForm(),
    }
    return polled(request, "benchmarks/synthesis_detail.html", context, part="steps", is_working=is_working)


def _step(request: HtmxHttpRequest, uid: UUID, name: str) -> SynthesisStep:
    step = get_object_or_404(
        SynthesisStep.objects.select_related("synthesis", "judge", "run"), synthesis__uid=uid, name=name
    )
    refuse_others(request.user, step.synthesis, words=_(OTHERS))
    return step


@require_POST
@requires(RUN)
def step_estimate(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Say what a step will ask and cost."""
    step = _step(request, uid, name)
    try:
        steps.estimate(step=step, now=timezone.now())
    except (StepRefused, ValueError) as error:
        messages.error(request, str(error))
    return redirect("benchmarks:synthesis", uid)


@require_POST
@requires(RUN)
def step_start(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Queue what a step asks."""
    step, form = _step(request, uid, name), StepForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Requests at the same time are from 1 to 256; a budget is in US dollars."))
        return redirect("benchmarks:synthesis", uid)
    try:
        run = steps.start(
            step=step,
            options=form.options(),
            by=request.user,
            now=timezone.now(),
            more=request.POST.get("more") == "1",
        )
    except (StepRefused, JudgeUnavailable) as error:
        messages.error(request, str(error))
        return redirect("benchmarks:synthesis", uid)
    if run is not None:
        enqueue(runs.worker_task(run), str(run.uid))
    return redirect("benchmarks:synthesis", uid)


@require_POST
@requires(RUN)
def step_close(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Go through the gate, and start the next step without one where there is one."""
    step = _step(request, uid, name)
    try:
        steps.close(
            step=step, by=request.user, now=timezone.now(), allow_short=request.POST.get("allow_short") == "1"
        )
    except StepRefused as error:
        messages.error(request, str(error))
    return redirect("benchmarks:synthesis", uid)


@require_POST
@requires("benchmarks.add_haystack")
def synthesis_hand_over(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Take the haystack into the corpus."""
    synthesis = get_object_or_404(Synthesis, uid=uid)
    refuse_others(request.user, synthesis, words=_(OTHERS))
    try:
        haystack = handing_over.hand_over(synthesis=synthesis, by=request.user, now=timezone.now())
    except StepRefused as error:
        messages.error(request, str(error))
        return redirect("benchmarks:synthesis", uid)
    return redirect("benchmarks:haystack-detail", haystack.uid)


@require_safe
@requires(VIEW)
def synthesis_download(request: HtmxHttpRequest, uid: UUID) -> HttpResponseBase:
    """The haystack in the published format, once all steps are closed."""
    synthesis = get_object_or_404(Synthesis.objects.select_related("haystack"), uid=uid)
    try:
        topic = handing_over.topic_file(synthesis)
    except StepRefused as error:
        messages.error(request, str(error))
        return redirect("benchmarks:synthesis", uid)
    handing_over.note_reader(request.user, synthesis)
    name = f"{topic.source_name}.json"
    return download(summhay.dump(topic), name=name, content_type="application/json", about=synthesis)


@require_safe
@requires(VIEW)
def synthesis_figures(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """What checks and people say of it, computed by a worker."""
    synthesis = get_object_or_404(Synthesis.objects.select_related("haystack"), uid=uid)
    handing_over.note_reader(request.user, synthesis)
    shown = look_up(FIGURES, FiguresLook(synthesis.pk), now=timezone.now())
    context = {"synthesis": synthesis, "shown": shown, "here": request.get_full_path()}
    return page(request, "benchmarks/synthesis_figures.html", context)


@require_safe
@requires(VIEW)
def part_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Where a part comes from: its generations, every request and reply, every decision."""
    rows = SynthesisPart.objects.select_related("synthesis__haystack", "parent", "replaces", "step")
    part = get_object_or_404(rows, uid=uid)
    handing_over.note_reader(request.user, part.synthesis)
    replies = SynthesisReply.objects.filter(part=part).select_related("call", "judge").order_by("pk")
    context = {
        "part": part,
        "replies": replies,
        "decisions": part.decisions.select_related("by").order_by("pk"),
        "uses": part.uses.order_by("kind", "number"),
        "used_by": part.used_by.order_by("kind", "number"),
    }
    return page(request, "benchmarks/synthesis_part.html", context)
