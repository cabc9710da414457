"""Summarizers: what there is, making one, and letting it summarize a haystack or answer questions."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access.owning import may_add
from benchmarks.engine import judging, overview, summarizing, versions
from benchmarks.judging.model_views import edit_model
from benchmarks.judging.run_views import RUN, VIEW, shown_runs, start_run
from benchmarks.models import Judge, JudgeRun, Summarizer
from benchmarks.systems.summarizer_forms import (
    BUDGET_RULE_NAMES,
    BULLET_NAMES,
    METHOD_NAMES,
    SHUFFLE_NAMES,
    SummarizerForm,
)
from benchmarks.systems.summarizer_run_forms import RespondForm, SourcesForm, SummarizeForm, source_datasets
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

_edit = partial(
    edit_model,
    save=versions.save_summarizer,
    template="benchmarks/summarizer_edit.html",
    then="benchmarks:summarizer-detail",
)


@require_safe
@requires(VIEW)
def summarizer_list(request: HtmxHttpRequest) -> HttpResponse:
    """All summarizers with counts and costs, and the latest runs."""
    latest = JudgeRun.objects.filter(judge__role=Judge.Role.SUMMARIZER).select_related("judge")[:20]
    context = {"rows": overview.summarizer_rows(), "runs": shown_runs(latest, request.user)}
    return page(request, "benchmarks/summarizer_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("benchmarks.add_judge")
def summarizer_new(request: HtmxHttpRequest) -> HttpResponse:
    return _edit(request, SummarizerForm(request.POST or None), None)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("benchmarks.change_judge")
def summarizer_edit(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Make the next version of a summarizer; summaries stay with the old one."""
    judge = get_object_or_404(Summarizer, uid=uid, kind=Judge.Kind.OPENAI)
    return _edit(request, SummarizerForm(request.POST or None, initial=SummarizerForm.values_of(judge)), judge)


@require_POST
@requires(RUN)
def summarizer_offline(request: HtmxHttpRequest) -> HttpResponse:
    """Go to the offline baseline as the code of today configures it, which nobody may have run yet."""
    judge = versions.extractive(now=timezone.now())
    return redirect(f"{reverse('benchmarks:summarizer-detail', args=[judge.uid])}#run-haystack")


RunForm = SummarizeForm | SourcesForm | RespondForm


def _form(judge: Judge, data: QueryDict) -> RunForm:
    """The form that was sent, by the field that names what it is about."""
    named: tuple[type[RunForm], ...] = (RespondForm, SourcesForm)
    kind: type[RunForm] = next((form for form in named if form.key in data), SummarizeForm)
    return kind(data, judge=judge)


@require_safe
@requires(VIEW)
def summarizer_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """A summarizer's configuration and runs; with the documents of a run in the query, its estimate."""
    judge = get_object_or_404(Summarizer, uid=uid)
    is_asked = any(name in request.GET for name in ("source", "documents", "order"))
    return _detail(request, judge, _form(judge, request.GET) if is_asked else None)


@require_POST
@requires(RUN)
def summarizer_start(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Queue what is missing and show the run."""
    judge = get_object_or_404(Summarizer, uid=uid)
    form = _form(judge, request.POST)
    if not form.is_valid():
        return _detail(request, judge, form)
    shown, back = form.shown(), reverse("benchmarks:summarizer-detail", args=[judge.uid])
    try:
        drafts = summarizing.drafted(judge=judge, subjects=form.subjects(), shown=shown, now=timezone.now())
    except versions.NotPossible as error:
        messages.error(request, str(error))
        return redirect(back)
    return start_run(
        request,
        judge=judge,
        task=shown.task,
        subjects=drafts,
        options=form.options(),
        back=back,
        scope=shown.scope(form.about(), judge),
    )


def _detail(request: HtmxHttpRequest, judge: Judge, sent: RunForm | None) -> HttpResponse:
    """The forms of runs, one of them perhaps as it was sent; that of sources where there are any."""
    of_sources: tuple[type[RunForm], ...] = (SourcesForm,) if source_datasets() else ()
    kinds: tuple[type[RunForm], ...] = (SummarizeForm, *of_sources, RespondForm)
    forms = [sent if isinstance(sent, kind) else kind(initial=request.GET.dict(), judge=judge) for kind in kinds]
    versions = list(Summarizer.objects.filter(name=judge.name))
    context = {
        "judge": judge,
        "may_edit": may_add(request.user, versions),
        "is_model": judge.kind == Judge.Kind.OPENAI,
        "method": METHOD_NAMES.get(judge.config.get("method", ""), "sentences of the documents, no model"),
        "bullets": BULLET_NAMES.get(judge.config.get("bullets", "insights")),
        "budget_rule": BUDGET_RULE_NAMES.get(judge.config.get("budget_rule", "")),
        "shuffle": SHUFFLE_NAMES.get(judge.config.get("shuffle", "")),
        "runs": shown_runs(judge.runs.select_related("judge")[:20], request.user),
        "versions": [version for version in versions if version.pk != judge.pk],
        "forms": forms,
    }
    is_wrong = sent is not None and not sent.is_valid()
    if sent is not None and not is_wrong:
        context |= _planned(judge, sent)
    return page(request, "benchmarks/summarizer_detail.html", context, status=422 if is_wrong else 200)


def _planned(judge: Judge, form: RunForm) -> dict[str, Any]:
    """What a run would write, and what a model would be asked; for a template."""
    now, shown = timezone.now(), form.shown()
    try:
        drafts = summarizing.planned(judge=judge, subjects=form.subjects(), shown=shown, now=now)
        waiting = judging.missing(judge=judge, task=shown.task, subjects=drafts)
        plan: dict[str, Any] = {"n_texts": len(drafts), "n_waiting": len(waiting)}
        if judge.kind == Judge.Kind.OPENAI:
            plan["estimate"] = overview.estimate(
                judge=judge, task=shown.task, subjects=waiting, repeats=1, now=now
            )
    except ValueError as error:
        return {"refused": str(error), "is_planned": True}
    return {**plan, "is_planned": True}
