"""The page on which people review parts one by one, and what they decide there."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from extensions.synthesis import deciding, overview
from extensions.synthesis.forms import DecisionForm, VerdictForm
from extensions.synthesis.handing_over import note_reader
from extensions.synthesis.models import SynthesisPart, SynthesisStep
from extensions.synthesis.part_states import READ, REASONS, VERDICTS, NotAllowed
from extensions.synthesis.reviewing import Queue
from extensions.synthesis.steps import KINDS, steps_of
from extensions.synthesis.views import RUN


def _reviewed(uid: UUID, name: str) -> SynthesisStep:
    """A step whose parts people look at."""
    if name not in KINDS or not KINDS[name].has_gate:
        raise Http404
    rows = SynthesisStep.objects.select_related("synthesis__haystack")
    return get_object_or_404(rows, synthesis__uid=uid, name=name)


@require_safe
@requires(RUN)
def review(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """One part with all that is needed to decide, beside the queue; without a part the first open one."""
    step = _reviewed(uid, name)
    note_reader(request.user, step.synthesis)
    queue = overview.queue_of(step)
    order = [place.uid for place in queue.order]
    wanted = request.GET.get("part", "") or _first_open(queue)
    context = {
        "step": step,
        "synthesis": step.synthesis,
        "queue": queue,
        "reasons": REASONS.items(),
        "verdicts": VERDICTS.items(),
    }
    if wanted:
        part = _part(step, wanted)
        at = order.index(wanted) if wanted in order else -1
        context |= {
            "shown": overview.shown(part, step.synthesis.seed, cursor=request.GET.get("insight", "")),
            "n_stale": deciding.would_be_stale(part),
            "before": order[at - 1] if at > 0 else "",
            "after": order[at + 1] if 0 <= at < len(order) - 1 else "",
            "place": at + 1,
            "can_again": deciding.can_be_made_again(part),
        }
    return page(request, "synthesis/review.html", context)


def _part(step: SynthesisStep, uid: str) -> SynthesisPart:
    rows = SynthesisPart.objects.filter(synthesis=step.synthesis, kind=KINDS[step.name].makes)
    try:
        return get_object_or_404(rows.select_related("parent", "synthesis"), uid=uid)
    except ValidationError as error:
        raise Http404 from error


def _first_open(queue: Queue) -> str:
    waiting = [place.uid for place in (*queue.first, *queue.sample) if place.state not in READ]
    return waiting[0] if waiting else ""


@require_POST
@requires(RUN)
def decide(request: HtmxHttpRequest, uid: UUID, name: str, part_uid: UUID) -> HttpResponse:
    """Store a decision and go on to the next open part."""
    step, form = _reviewed(uid, name), DecisionForm(request.POST)
    part = _part(step, str(part_uid))
    here = reverse("synthesis:review", args=[uid, name])
    if not form.is_valid():
        messages.error(request, "This decision is not known or too long.")
        return redirect(f"{here}?part={part.uid}")
    data = form.cleaned_data
    into = part.synthesis.parts.filter(uid=data["into"]).first() if data["into"] else None
    is_blind = overview.is_hidden(part, step.synthesis.seed)
    try:
        deciding.decide(
            part=part,
            action=data["action"],
            by=request.user,
            now=timezone.now(),
            reason=data["reason"],
            note=data["note"],
            into=into,
            title=data["title"].strip() or None,
            text=data["text"].replace("\r\n", "\n").strip(),
            is_blind=is_blind,
        )
    except NotAllowed as error:
        messages.error(request, str(error))
        return redirect(f"{here}?part={part.uid}")
    following = _next_open(overview.queue_of(step), str(part.uid))
    return redirect(f"{here}?part={following}" if following else here)


def _next_open(queue: Queue, current: str) -> str:
    """The next part after this one that nobody has read, else the first such one, else none."""
    order = [*queue.first, *queue.sample]
    at = next((n for n, place in enumerate(order) if place.uid == current), -1)
    waiting = [place.uid for place in (*order[at + 1 :], *order[: max(at, 0)]) if place.state not in READ]
    return waiting[0] if waiting else ""


@require_POST
@requires(RUN)
def judge(request: HtmxHttpRequest, uid: UUID, name: str, part_uid: UUID) -> HttpResponse:
    """Store whether a document says an insight, and go on to the next insight of it."""
    step, form = _reviewed(uid, name), VerdictForm(request.POST)
    part = _part(step, str(part_uid))
    here = f"{reverse('synthesis:review', args=[uid, name])}?part={part.uid}"
    if not form.is_valid():
        messages.error(request, "This verdict is not known.")
        return redirect(here)
    insight = get_object_or_404(step.synthesis.parts, uid=form.cleaned_data["insight"])
    try:
        deciding.judge(
            part=part,
            insight=insight,
            verdict=form.cleaned_data["verdict"],
            by=request.user,
            now=timezone.now(),
            is_blind=overview.is_hidden(part, step.synthesis.seed),
        )
    except NotAllowed as error:
        messages.error(request, str(error))
    return redirect(here)


@require_POST
@requires(RUN)
def undo(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Take back the newest decision of this user, and show its part."""
    step = _reviewed(uid, name)
    here = reverse("synthesis:review", args=[uid, name])
    try:
        row = deciding.undo(synthesis=step.synthesis, by=request.user, now=timezone.now())
    except NotAllowed as error:
        messages.error(request, str(error))
        return redirect(here)
    if row is None:
        messages.info(request, "There is nothing to undo.")
        return redirect(here)
    kinds = steps_of(step.synthesis.kind)
    reviewed_in = next(kind.name for kind in kinds if kind.has_gate and kind.makes == row.part.kind)
    there = reverse("synthesis:review", args=[uid, reviewed_in])
    return redirect(f"{there}?part={row.part.uid}")


@require_POST
@requires(RUN)
def accept_clear(request: HtmxHttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Accept all clear parts of a step, as unread."""
    step = _reviewed(uid, name)
    try:
        n = deciding.accept_clear(step=step, by=request.user, now=timezone.now())
    except NotAllowed as error:
        messages.error(request, str(error))
    else:
        messages.info(request, f"{n} clear ones were accepted; they count as unread.")
    return redirect("synthesis:review", uid, name)
