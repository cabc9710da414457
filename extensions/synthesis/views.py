"""Pages of syntheses: the list, beginning one, one with its steps, and what is done with steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access.owning import NotYours, may_change
from benchmarks.engine import runs
from benchmarks.engine.judging import JudgeUnavailable
from benchmarks.engine.wakeup import enqueue
from benchmarks.io.schemas import long2rag, summhay
from benchmarks.judges.questions import GeneratorConfig
from benchmarks.models import Judge
from benchmarks.results.stored import look_up
from benchmarks.web.downloads import download
from benchmarks.web.pages import HtmxHttpRequest, page, polled
from benchmarks.web.permissions import refuse_others, requires
from extensions.synthesis import handing_over, handing_over_questions, overview, steps
from extensions.synthesis.card import card
from extensions.synthesis.figures import FIGURES, FiguresLook
from extensions.synthesis.forms import BeginForm, DocumentsForm, StepForm, SynthesisForm, has_servers
from extensions.synthesis.models import (
    StepState,
    Synthesis,
    SynthesisKind,
    SynthesisPart,
    SynthesisReply,
    SynthesisStep,
)
from extensions.synthesis.plan_picture import picture
from extensions.synthesis.question_forms import QuestionsForm
from extensions.synthesis.question_overview import cells_of
from extensions.synthesis.refusals import StepRefused
from extensions.synthesis.settings import Settings, WrongSettings

VIEW = "benchmarks.view_judge"
RUN = "benchmarks.add_judgerun"
OTHERS = "Whoever began this synthesis, or an admin, runs its steps."


@require_safe
@requires(VIEW)
def synthesis_list(request: HtmxHttpRequest) -> HttpResponse:
    """All syntheses with the step that they are at."""
    context = {"rows": overview.list_rows(), "has_servers": has_servers()}
    return page(request, "synthesis/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def synthesis_new(request: HtmxHttpRequest) -> HttpResponse:
    """Begin one; nothing is asked before its first step is started."""
    form = SynthesisForm(request.POST or None, request.FILES or None)
    return _begun(request, form, begin=steps.begin, template="synthesis/new.html")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def synthesis_documents(request: HtmxHttpRequest) -> HttpResponse:
    """Begin one with documents of one's own; nothing is asked before its first step is started."""
    form = DocumentsForm(request.POST or None, request.FILES or None)
    return _begun(request, form, begin=steps.begin_with_documents, template="synthesis/documents.html")


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
                synthesis.group = form.chosen_group
                synthesis.save(update_fields=["group"])
            return redirect("synthesis:detail", synthesis.uid)
        except (NotYours, WrongSettings) as refused:
            form.add_error(None, str(refused))
    status = 422 if request.method == "POST" else 200
    return page(request, template, {"form": form, "has_servers": has_servers()}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def synthesis_questions(request: HtmxHttpRequest) -> HttpResponse:
    """Begin one with seed questions; nothing is asked before its first step is started."""
    form = QuestionsForm(request.POST or None, request.FILES or None)
    return _begun(request, form, begin=steps.begin_with_seeds, template="synthesis/questions.html")


@require_safe
@requires(VIEW)
def synthesis_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """The steps with their states, counts and costs, and the plan as it fills; polled while a step runs."""
    synthesis = get_object_or_404(Synthesis.objects.select_related("haystack", "created_by", "group"), uid=uid)
    handing_over.note_reader(request.user, synthesis)
    rows = overview.step_rows(synthesis)
    is_working = any(row.is_working for row in rows)
    context: dict[str, Any] = {
        "synthesis": synthesis,
        "rows": rows,
        "is_working": is_working,
        "is_mine": may_change(request.user, synthesis),
        "cost": overview.cost_of(synthesis),
        "unusable": overview.unusable(synthesis),
        "plan": None if synthesis.kind == SynthesisKind.QUESTIONS else picture(synthesis),
        "cells": cells_of(synthesis),
        "is_complete": all(row.step.state == "closed" for row in rows),
        "settings": Settings.from_mapping(synthesis.settings),
        "form": StepForm(),
    }
    return polled(request, "synthesis/detail.html", context, part="steps", is_working=is_working)


def _step(request: HtmxHttpRequest, uid: UUID, name: str) -> SynthesisStep:
    step = get_object_or_404(
        SynthesisStep.objects.select_related("synthesis", "judge", "run"), synthesis__uid=uid, name=name
    )
    refuse_others(request.user, step.synthesis, words=_(OTHERS))
    return step


@require_POST
@requires(RUN)
def step_estimate(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Say what a step will ask and cost; of one at its gate, what the next one would."""
    step = _step(request, uid, name)
    try:
        if step.state == StepState.REVIEW:
            steps.foresee_next(step=step, now=timezone.now())
        else:
            steps.estimate(step=step, now=timezone.now())
    except (StepRefused, ValueError) as error:
        messages.error(request, str(error))
    return redirect("synthesis:detail", uid)


@require_POST
@requires(RUN)
def step_start(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Queue what a step asks."""
    step, form = _step(request, uid, name), StepForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Requests at the same time are from 1 to 256; a budget is in US dollars.")
        return redirect("synthesis:detail", uid)
    try:
        if (model := form.cleaned_data["model"]) and model != step.judge.config.get("model"):
            step = _with_model(request, step, model)
        run = steps.start(
            step=step,
            options=form.options(),
            by=request.user,
            now=timezone.now(),
            more=request.POST.get("more") == "1",
        )
    except (StepRefused, JudgeUnavailable, NotYours) as error:
        messages.error(request, str(error))
        return redirect("synthesis:detail", uid)
    if run is not None:
        enqueue(runs.worker_task(run), str(run.uid))
    return redirect("synthesis:detail", uid)


def _with_model(request: HtmxHttpRequest, step: SynthesisStep, model: str) -> SynthesisStep:
    """The step, done from now on by another model at the same address."""
    now = timezone.now()
    if step.judge.kind != Judge.Kind.OPENAI:
        raise StepRefused("No model does this step.")
    config = replace(GeneratorConfig.from_mapping(step.judge.config), model=model)
    judge = steps.save_generator(config=config, by=request.user, now=now)
    steps.change_model(synthesis=step.synthesis, name=step.name, judge=judge, now=now)
    return _step(request, step.synthesis.uid, step.name)


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
    return redirect("synthesis:detail", uid)


@require_POST
@requires("benchmarks.add_haystack")
def synthesis_hand_over(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Take the haystack into the corpus, or the questions into a question set."""
    synthesis = get_object_or_404(Synthesis, uid=uid)
    refuse_others(request.user, synthesis, words=_(OTHERS))
    try:
        if synthesis.kind == SynthesisKind.QUESTIONS:
            handing_over_questions.hand_over_questions(synthesis=synthesis, by=request.user, now=timezone.now())
            return redirect("synthesis:detail", uid)
        haystack = handing_over.hand_over(synthesis=synthesis, by=request.user, now=timezone.now())
    except StepRefused as error:
        messages.error(request, str(error))
        return redirect("synthesis:detail", uid)
    return redirect("benchmarks:haystack-detail", haystack.uid)


@require_safe
@requires(VIEW)
def synthesis_download(request: HtmxHttpRequest, uid: UUID) -> HttpResponseBase:
    """The haystack or the questions in the published format, once all steps are closed."""
    synthesis = get_object_or_404(Synthesis.objects.select_related("haystack"), uid=uid)
    try:
        if synthesis.kind == SynthesisKind.QUESTIONS:
            rows = handing_over_questions.question_rows(synthesis)
            name = f"{handing_over_questions.dataset_name(synthesis)}.jsonl"
            return download(long2rag.dump(rows), name=name, content_type="application/x-ndjson", about=synthesis)
        topic = handing_over.topic_file(synthesis)
    except StepRefused as error:
        messages.error(request, str(error))
        return redirect("synthesis:detail", uid)
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
    return page(request, "synthesis/figures.html", context)


@require_safe
@requires(VIEW)
def synthesis_card(request: HtmxHttpRequest, uid: UUID) -> HttpResponseBase:
    """The data card, once its figures are computed."""
    synthesis = get_object_or_404(Synthesis.objects.select_related("haystack"), uid=uid)
    shown = look_up(FIGURES, FiguresLook(synthesis.pk), now=timezone.now())
    if shown.figures is None:
        return redirect("synthesis:figures", uid)
    content = card(synthesis, shown.figures).encode()
    name = f"synthesis-{synthesis.uid.hex[:8]}-card.md"
    return download([content], name=name, content_type="text/markdown; charset=utf-8", about=synthesis)


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
    return page(request, "synthesis/part.html", context)
