"""Judges: what there is, a new one or a new version, one summary tried, the estimate of a run and its start."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.engine import costs, judging, juries, overview, runs, scopes, sending
from benchmarks.judge_forms import JuryForm, ModelJudgeForm, PriceForm, PublishedCostForm, RunForm, TryForm
from benchmarks.judges.jury import WrongJury
from benchmarks.judges.registry import description_of
from benchmarks.models import Judge, JudgeRun, ModelPrice, Summary
from benchmarks.scoring.summhay import Score
from benchmarks.views.models import edit_model
from benchmarks.views.runs import RUN, VIEW, shown_runs, start_run
from benchmarks.web.exposure import saw_insights
from benchmarks.web.pages import HtmxHttpRequest, page, polled, wants_fragment
from benchmarks.web.permissions import requires

ADD, CHANGE = "benchmarks.add_judge", "benchmarks.change_judge"


@require_safe
@requires(VIEW)
def judge_list(request: HtmxHttpRequest) -> HttpResponse:
    """All judges and the latest runs."""
    runs = JudgeRun.objects.filter(judge__role=Judge.Role.JUDGE).select_related("judge")
    latest = shown_runs(runs[:20], request.user)
    return page(request, "benchmarks/judge_list.html", {"rows": overview.judge_rows(), "runs": latest})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(ADD)
def judge_new(request: HtmxHttpRequest) -> HttpResponse:
    """Make a model judge."""
    return _edit(request, ModelJudgeForm(request.POST or None), None)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(CHANGE)
def judge_edit(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Make the next version of a model judge; verdicts stay with the old one."""
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.OPENAI)
    return _edit(request, ModelJudgeForm(request.POST or None, initial=ModelJudgeForm.values_of(judge)), judge)


def _edit(request: HtmxHttpRequest, form: ModelJudgeForm, judge: Judge | None) -> HttpResponse:
    return edit_model(
        request,
        form,
        judge,
        save=judging.save_judge,
        template="benchmarks/judge_edit.html",
        then="benchmarks:judge-detail",
    )


@require_POST
@requires(RUN)
def judge_offline(request: HtmxHttpRequest) -> HttpResponse:
    """Go to the offline judge as the code of today configures it, which nobody may have run yet."""
    judge = judging.default_judge(now=timezone.now())
    return redirect(f"{reverse('benchmarks:judge-detail', args=[judge.uid])}#run")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(ADD)
def jury_new(request: HtmxHttpRequest) -> HttpResponse:
    """Make a jury, or the next version of one, and run it on what its members have judged."""
    form = JuryForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            jury = judging.save_jury(
                name=data["name"],
                members=list(data["members"]),
                score=Score(data["score"]),
                note=data["note"],
                by=request.user,
                now=timezone.now(),
            )
        except WrongJury as error:
            form.add_error(None, str(error))
        else:
            return _run_jury(request, jury)
    status = 422 if request.method == "POST" else 200
    return page(request, "benchmarks/jury_new.html", {"form": form}, status=status)


@require_POST
@requires(RUN)
def jury_run(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Have a jury judge what its members have judged since."""
    return _run_jury(request, get_object_or_404(Judge, uid=uid, kind=Judge.Kind.JURY))


def _run_jury(request: HtmxHttpRequest, jury: Judge) -> HttpResponse:
    return start_run(
        request,
        judge=jury,
        task=JudgeRun.Task.COVERAGE,
        subjects=Summary.objects.only("pk").order_by("pk"),
        back=reverse("benchmarks:judge-detail", args=[jury.uid]),
    )


@require_safe
@requires(VIEW)
def judge_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """A judge's configuration and runs; with `concurrency` in the query, the estimate of a run."""
    judge = get_object_or_404(Judge, uid=uid)
    if "concurrency" in request.GET and judge.kind == Judge.Kind.OPENAI:
        return _detail(request, judge, RunForm(request.GET, judge=judge, user=request.user))
    return _detail(request, judge, RunForm(initial=request.GET.dict(), judge=judge, user=request.user))


def _detail(request: HtmxHttpRequest, judge: Judge, form: RunForm) -> HttpResponse:
    """The page of a judge; a bound form is answered with the estimate of its run."""
    is_model = judge.kind == Judge.Kind.OPENAI
    context = {
        "judge": judge,
        "is_model": is_model,
        "can_run": judge.kind != Judge.Kind.IMPORTED and judge.archived_at is None,
        "about": description_of(judge.kind),
        "runs": shown_runs(judge.runs.select_related("judge")[:20], request.user),
        "form": form,
        "versions": Judge.objects.filter(name=judge.name).exclude(pk=judge.pk),
        "cost_form": PublishedCostForm(initial={"published_cost": judge.published_cost}),
        "some_summary": Summary.objects.of_systems().first(),
    }
    if judge.kind == Judge.Kind.JURY:
        context["jury"] = juries.overview(judge)
    if is_model:
        everything = request.GET.get("stale") == "all"
        most = overview.MOST_COMPARED if everything else overview.COMPARED_AT_ONCE
        stale = overview.stale_answers(judge=judge, most=most)
        has_older = not everything and any(one.has_older for one in stale)
        context |= {"stale": stale, "n_compared": most, "has_older": has_older}
    if form.is_bound and form.is_valid():
        context |= _waiting(judge, form, request.user)
    status = 422 if request.method == "POST" and not form.is_valid() else 200
    return page(request, "benchmarks/judge_detail.html", context, status=status)


@require_POST
@requires(CHANGE)
def judge_cost(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Write the published cost of an imported judge."""
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.IMPORTED)
    form = PublishedCostForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter US dollars, 0 or more, or leave it blank."))
    else:
        dollars = form.cleaned_data["published_cost"]
        judging.set_published_cost(judge=judge, dollars=dollars, by=request.user, now=timezone.now())
        messages.success(request, _("The cost was saved."))
    return redirect("benchmarks:judge-detail", judge.uid)


def _waiting(judge: Judge, form: RunForm, user: Any) -> dict[str, Any]:
    """What a run of this scope would judge, and what a model would be asked; for a template."""
    scope = form.scope()
    summaries, options = scope.summaries(), form.options()
    waiting = judging.missing(
        judge=judge, task=JudgeRun.Task.COVERAGE, subjects=summaries, repeats=options.repeats
    )
    context = {
        "scope": scopes.words(scope.as_json(), seen=scopes.seen_by(user)),
        "n_summaries": len(summaries),
        "n_waiting": len(waiting),
    }
    if judge.kind == Judge.Kind.OPENAI:
        context |= estimated(judge, JudgeRun.Task.COVERAGE, waiting, options.repeats)
    return context


def estimated(judge: Judge, task: str, subjects: Iterable[Any], repeats: int) -> dict[str, Any]:
    """What a run would ask and cost, or why it can't be asked; for a template."""
    try:
        found = overview.estimate(judge=judge, task=task, subjects=subjects, repeats=repeats, now=timezone.now())
    except ValueError as error:
        return {"refused": str(error)}
    return {"estimate": found}


@require_POST
@requires(RUN)
def run_start(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Estimate a run, or queue what was estimated; a list of ids may be too long for an address."""
    judge = get_object_or_404(Judge, uid=uid)
    form = RunForm(request.POST, request.FILES, judge=judge, user=request.user)
    if "estimate" in request.POST or not form.is_valid():
        return _detail(request, judge, form)
    scope = form.scope()
    return start_run(
        request,
        judge=judge,
        task=JudgeRun.Task.COVERAGE,
        subjects=scope.summaries(),
        options=form.options(),
        back=reverse("benchmarks:judge-detail", args=[judge.uid]),
        scope=scope.as_json(),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def judge_try(request: HtmxHttpRequest, uid: UUID, summary_uid: UUID) -> HttpResponse:
    """One summary: what is asked in which shape, and what came back; POST asks what is missing."""
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.OPENAI)
    rows = Summary.objects.of_systems().select_related("system", "subtopic", "haystack")
    summary = get_object_or_404(rows, uid=summary_uid)
    here = reverse("benchmarks:judge-try", args=[judge.uid, summary.uid])
    if request.method == "POST":
        return start_run(
            request,
            judge=judge,
            task=JudgeRun.Task.COVERAGE,
            subjects=[summary],
            reason="try",
            back=here,
            then=f"{here}#answers",
        )
    form = TryForm({"summary": str(summary.uid), **request.GET.dict()}, summary=summary)
    chosen = form.cleaned_data if form.is_valid() else {}
    if chosen.get("summary", str(summary.uid)) != str(summary.uid):
        return redirect("benchmarks:judge-try", judge.uid, chosen["summary"])
    saw_insights(request.user, summary.haystack)
    verdicts = judge.verdicts.filter(summary=summary).select_related("insight", "call").order_by("insight__number")
    insight = summary.subtopic.insights.filter(uid=chosen["insight"]).first() if chosen.get("insight") else None
    if insight is not None:
        verdicts = verdicts.filter(insight=insight)
    run = judge.runs.filter(items__summary=summary, task=JudgeRun.Task.COVERAGE).first()
    is_working = run is not None and run.state in runs.GOING
    context = {"judge": judge, "summary": summary, "verdicts": verdicts, "form": form, "run": run}
    context |= {"is_working": is_working, "requests": [], "here": request.get_full_path()}
    if wants_fragment(request):
        return polled(request, "benchmarks/judge_try.html", context, part="answers", is_working=is_working)
    try:
        found = overview.requests_on(
            judge=Judge(pk=0), config=sending.config_of(judge), task=JudgeRun.Task.COVERAGE, subjects=[summary]
        )
        asked = [row for row in found if insight is None or str(insight.pk) in row.question.keys]
        context["requests"] = [(row.question, json.dumps(row.body, indent=1, ensure_ascii=False)) for row in asked]
    except ValueError as error:
        context["refused"] = str(error)
    return page(request, "benchmarks/judge_try.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(CHANGE)
def prices(request: HtmxHttpRequest) -> HttpResponse:
    """The dated price table."""
    form = PriceForm(request.POST or None, initial={"valid_from": timezone.now().date().isoformat()})
    if request.method == "POST" and form.is_valid():
        costs.set_price(**form.cleaned_data, by=request.user, now=timezone.now())
        return redirect("benchmarks:prices")
    context = {"form": form, "prices": ModelPrice.objects.all()}
    return page(request, "benchmarks/prices.html", context, status=422 if request.method == "POST" else 200)
