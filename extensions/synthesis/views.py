"""Pages of syntheses: the list, beginning one, one with its steps, and the review of parts one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.conf import settings as site
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access.owning import NotYours, may_change
from benchmarks.engine import runs
from benchmarks.engine.judging import JudgeUnavailable
from benchmarks.engine.wakeup import enqueue
from benchmarks.judges.questions import GeneratorConfig
from benchmarks.models import Judge
from benchmarks.results.stored import look_up
from benchmarks.web.downloads import download
from benchmarks.web.pages import HtmxHttpRequest, page, polled
from benchmarks.web.permissions import refuse_others, requires
from extensions.synthesis import deciding, handing_over, overview, steps
from extensions.synthesis.figures import FIGURES, FiguresLook, card
from extensions.synthesis.forms import BeginForm, DecisionForm, StepForm, VerdictForm
from extensions.synthesis.haystacks import parts_of
from extensions.synthesis.models import (
    KINDS,
    REASONS,
    STEPS_OF,
    VERDICTS,
    NotAllowed,
    StepRefused,
    StepState,
    Synthesis,
    SynthesisPart,
    SynthesisReply,
    SynthesisStep,
)
from extensions.synthesis.settings import Settings, WrongSettings

VIEW = "benchmarks.view_judge"
RUN = "benchmarks.add_judgerun"
OTHERS = "Whoever began this synthesis, or an admin, runs its steps."


@require_safe
@requires(VIEW)
def synthesis_list(request: HtmxHttpRequest) -> HttpResponse:
    context = {"rows": overview.list_rows(), "has_servers": bool(site.OPENAI_BASE_URLS)}
    return page(request, "synthesis/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def begin(request: HtmxHttpRequest, form_class: type[BeginForm], template: str) -> HttpResponse:
    """Begin one; nothing is asked before a step is started, and nothing saved if a model is somebody else's."""
    form = form_class(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        who: dict[str, Any] = {"by": request.user, "now": timezone.now()}
        try:
            with transaction.atomic():
                judge = steps.save_generator(config=form.config(), **who)
                judges = {name: steps.save_generator(config=each, **who) for name, each in form.configs().items()}
                synthesis = steps.begin(**form.choices(), judge=judge, judges=judges, **who)
                synthesis.group = form.chosen_group
                synthesis.save(update_fields=["group"])
            return redirect("synthesis:detail", synthesis.uid)
        except (NotYours, WrongSettings) as refused:
            form.add_error(None, str(refused))
    status = 422 if request.method == "POST" else 200
    return page(request, template, {"form": form, "has_servers": bool(site.OPENAI_BASE_URLS)}, status=status)


# One of them


@contextmanager
def _said(request: HtmxHttpRequest, *refusals: type[Exception]) -> Iterator[None]:
    """Say why something was refused; what follows is done all the same."""
    try:
        yield
    except refusals as refusal:
        messages.error(request, str(refusal))


def _synthesis(request: HtmxHttpRequest, uid: UUID) -> Synthesis:
    """A synthesis whose insights this person sees now."""
    rows = Synthesis.objects.select_related("haystack", "created_by", "group")
    synthesis: Synthesis = get_object_or_404(rows, uid=uid)
    handing_over.note_reader(request.user, synthesis)
    return synthesis


@require_safe
@requires(VIEW)
def synthesis_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """The steps with their states, counts and costs, and the plan as it fills; polled while a step runs."""
    synthesis = _synthesis(request, uid)
    rows = overview.step_rows(synthesis)
    is_working = any(row.is_working for row in rows)
    context: dict[str, Any] = {
        "synthesis": synthesis,
        "rows": rows,
        "is_working": is_working,
        "is_mine": may_change(request.user, synthesis),
        "cost": synthesis.cost(),
        "unusable": overview.unusable(synthesis),
        "plan": overview.picture(synthesis),
        "cells": overview.cells_of(synthesis),
        "is_complete": all(row.step.state == StepState.CLOSED for row in rows),
        "settings": Settings.from_mapping(synthesis.settings),
    }
    return polled(request, "synthesis/detail.html", context, part="steps", is_working=is_working)


@require_safe
@requires(VIEW)
def synthesis_figures(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Verdicts of checks and people on it, computed by a worker."""
    synthesis = _synthesis(request, uid)
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
def synthesis_download(request: HtmxHttpRequest, uid: UUID) -> HttpResponseBase:
    """The haystack or the questions in the published format, once all steps are closed."""
    synthesis = get_object_or_404(Synthesis.objects.select_related("haystack"), uid=uid)
    with _said(request, StepRefused):
        content, name, content_type = handing_over.published(synthesis)
        handing_over.note_reader(request.user, synthesis)
        return download(content, name=name, content_type=content_type, about=synthesis)
    return redirect("synthesis:detail", uid)


@require_POST
@requires("benchmarks.add_haystack")
def synthesis_hand_over(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Take the haystack into the corpus, or the questions into a question set."""
    synthesis = get_object_or_404(Synthesis, uid=uid)
    refuse_others(request.user, synthesis, words=OTHERS)
    with _said(request, StepRefused):
        haystack = handing_over.hand_over(synthesis=synthesis, by=request.user, now=timezone.now())
        if haystack is not None:
            return redirect("benchmarks:haystack-detail", haystack.uid)
    return redirect("synthesis:detail", uid)


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


# Steps


def _step(request: HtmxHttpRequest, uid: UUID, name: str) -> SynthesisStep:
    rows = SynthesisStep.objects.select_related("synthesis", "judge", "run")
    step = get_object_or_404(rows, synthesis__uid=uid, name=name)
    refuse_others(request.user, step.synthesis, words=OTHERS)
    return step


@require_POST
@requires(RUN)
def step_estimate(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Say what a step will ask and cost; of one at its gate, what the next one would."""
    step = _step(request, uid, name)
    foresee = steps.foresee_next if step.state == StepState.REVIEW else steps.estimate
    with _said(request, ValueError):
        foresee(step=step, now=timezone.now())
    return redirect("synthesis:detail", uid)


@require_POST
@requires(RUN)
def step_start(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Queue what a step asks, of another model at the same address where one is named."""
    step, form, now = _step(request, uid, name), StepForm(request.POST), timezone.now()
    if not form.is_valid():
        messages.error(request, "Requests at the same time are from 1 to 256; a budget is in US dollars.")
        return redirect("synthesis:detail", uid)
    is_more = request.POST.get("more") == "1"
    with _said(request, StepRefused, JudgeUnavailable, NotYours):
        if (model := form.cleaned_data["model"]) and model != step.judge.config.get("model"):
            if step.judge.kind != Judge.Kind.OPENAI:
                raise StepRefused("No model does this step.")
            config = replace(GeneratorConfig.from_mapping(step.judge.config), model=model)
            judge = steps.save_generator(config=config, by=request.user, now=now)
            steps.change_model(synthesis=step.synthesis, name=name, judge=judge, now=now)
            step = _step(request, uid, name)
        run = steps.start(step=step, options=form.options(), by=request.user, now=now, more=is_more)
        if run is not None:
            enqueue(runs.worker_task(run), str(run.uid))
    return redirect("synthesis:detail", uid)


@require_POST
@requires(RUN)
def step_close(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Go through the gate, and start the next step without one where there is one."""
    step, allow_short = _step(request, uid, name), request.POST.get("allow_short") == "1"
    with _said(request, StepRefused):
        steps.close(step=step, by=request.user, now=timezone.now(), allow_short=allow_short)
    return redirect("synthesis:detail", uid)


# Review


def _reviewed(uid: UUID, name: str, part_uid: UUID | str) -> tuple[SynthesisStep, SynthesisPart | None, str]:
    """(a step whose parts people look at, the part that is named, the address of its review)."""
    if name not in KINDS or not KINDS[name].has_gate:
        raise Http404
    rows = SynthesisStep.objects.select_related("synthesis__haystack")
    step: SynthesisStep = get_object_or_404(rows, synthesis__uid=uid, name=name)
    part = None
    if part_uid:
        parts = SynthesisPart.objects.filter(synthesis=step.synthesis, kind=KINDS[name].makes)
        try:
            part = get_object_or_404(parts.select_related("parent", "synthesis"), uid=part_uid)
        except ValidationError as error:
            raise Http404 from error
    return step, part, reverse("synthesis:review", args=[uid, name])


def _queue(step: SynthesisStep) -> overview.Queue:
    return overview.queue(list(parts_of(step)), seed=step.synthesis.seed)


@require_safe
@requires(RUN)
def review(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """One part with all that is needed to decide, beside the queue; without a part the first open one."""
    step, part, _here = _reviewed(uid, name, request.GET.get("part", ""))
    handing_over.note_reader(request.user, step.synthesis)
    queue = _queue(step)
    if part is None and (first := queue.next_open()):
        part = _reviewed(uid, name, first)[1]
    context: dict[str, Any] = {
        "step": step,
        "synthesis": step.synthesis,
        "queue": queue,
        "reasons": REASONS.items(),
        "verdicts": VERDICTS.items(),
    }
    if part is not None:
        order = [row.pk for row in queue.order]
        at = order.index(part.pk) if part.pk in order else -1
        context |= {
            "shown": overview.shown(part, step.synthesis.seed, cursor=request.GET.get("insight", "")),
            "n_stale": len(deciding.made_from(part)),
            "before": queue.order[at - 1].uid if at > 0 else "",
            "after": queue.order[at + 1].uid if 0 <= at < len(order) - 1 else "",
            "place": at + 1,
            "can_again": deciding.can_be_made_again(part),
        }
    return page(request, "synthesis/review.html", context)


@require_POST
@requires(RUN)
def decide(request: HtmxHttpRequest, uid: UUID, name: str, part_uid: UUID) -> HttpResponse:
    """Store a decision and go on to the next open part."""
    step, part, here = _reviewed(uid, name, part_uid)
    form = DecisionForm(request.POST)
    if part is None or not form.is_valid():
        messages.error(request, "This decision is not known or too long.")
        return redirect(f"{here}?part={part_uid}")
    data = form.cleaned_data
    with _said(request, NotAllowed):
        deciding.decide(
            part=part,
            action=data["action"],
            by=request.user,
            now=timezone.now(),
            reason=data["reason"],
            note=data["note"],
            into=part.synthesis.parts.filter(uid=data["into"]).first() if data["into"] else None,
            title=data["title"].strip() or None,
            text=data["text"].replace("\r\n", "\n").strip(),
            is_blind=overview.is_hidden(part, step.synthesis.seed),
        )
        following = _queue(step).next_open(str(part_uid))
        return redirect(f"{here}?part={following}" if following else here)
    return redirect(f"{here}?part={part_uid}")


@require_POST
@requires(RUN)
def judge(request: HtmxHttpRequest, uid: UUID, name: str, part_uid: UUID) -> HttpResponse:
    """Store whether a document says an insight, and go on to the next insight of it."""
    step, part, here = _reviewed(uid, name, part_uid)
    form = VerdictForm(request.POST)
    if part is None or not form.is_valid():
        messages.error(request, "This verdict is not known.")
        return redirect(f"{here}?part={part_uid}")
    data = form.cleaned_data
    with _said(request, NotAllowed):
        deciding.judge(
            part=part,
            insight=get_object_or_404(step.synthesis.parts, uid=data["insight"]),
            verdict=data["verdict"],
            by=request.user,
            now=timezone.now(),
            is_blind=overview.is_hidden(part, step.synthesis.seed),
        )
    return redirect(f"{here}?part={part_uid}")


@require_POST
@requires(RUN)
def undo(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Take back the newest decision of this user, and show its part."""
    step, _part, here = _reviewed(uid, name, "")
    with _said(request, NotAllowed):
        row = deciding.undo(synthesis=step.synthesis, by=request.user, now=timezone.now())
        if row is not None:
            kinds = STEPS_OF[step.synthesis.kind]
            reviewed_in = next(kind.name for kind in kinds if kind.has_gate and kind.makes == row.part.kind)
            return redirect(f"{reverse('synthesis:review', args=[uid, reviewed_in])}?part={row.part.uid}")
        messages.info(request, "There is nothing to undo.")
    return redirect(here)


@require_POST
@requires(RUN)
def accept_clear(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    step, _part, here = _reviewed(uid, name, "")
    with _said(request, NotAllowed):
        n = deciding.accept_clear(step=step, by=request.user, now=timezone.now())
        messages.info(request, f"{n} clear ones were accepted; they count as unread.")
    return redirect(here)
