"""Judges: what there is, a new one or a new version, one summary tried, a run with its estimate and progress."""

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

from benchmarks.engine import budgets, costs, judging, juries, overview, runs, sending
from benchmarks.engine.wakeup import enqueue
from benchmarks.judge_forms import BudgetForm, JuryForm, ModelJudgeForm, PriceForm, RunForm, TryForm
from benchmarks.judges.jury import WrongJury
from benchmarks.judges.registry import description_of
from benchmarks.models import Judge, JudgeRun, JudgeRunItem, ModelPrice, Summary
from benchmarks.scoring.summhay import Score
from benchmarks.web.exposure import saw_insights
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires

VIEW, ADD, CHANGE, RUN = (
    "benchmarks.view_judge", "benchmarks.add_judge", "benchmarks.change_judge", "benchmarks.add_judgerun",
)  # fmt: skip
RUN_TASK = "benchmarks.tasks.run_judge"
STOP_POLLING = 286


@require_safe
@requires(VIEW)
def judge_list(request: HtmxHttpRequest) -> HttpResponse:
    """All judges and the latest runs."""
    runs = JudgeRun.objects.select_related("judge")[:20]
    return page(request, "benchmarks/judge_list.html", {"rows": overview.judge_rows(), "runs": runs})


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
    if judge is not None:
        form.fields["name"].disabled = True
    if request.method == "POST" and form.is_valid():
        saved = judging.save_judge(
            name=form.cleaned_data["name"],
            config=form.config(),
            note=form.cleaned_data["note"],
            by=request.user,
            now=timezone.now(),
        )
        return redirect("benchmarks:judge-detail", saved.uid)
    status = 422 if request.method == "POST" else 200
    return page(request, "benchmarks/judge_edit.html", {"form": form, "judge": judge}, status=status)


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
        options=judging.ModelOptions(),
        reason="person",
        back=reverse("benchmarks:judge-detail", args=[jury.uid]),
    )


@require_safe
@requires(VIEW)
def judge_detail(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """A judge's configuration and runs; with `concurrency` in the query, the estimate of a run."""
    judge = get_object_or_404(Judge, uid=uid)
    is_model = judge.kind == Judge.Kind.OPENAI
    form = RunForm(request.GET if "concurrency" in request.GET else None)
    context = {
        "judge": judge,
        "is_model": is_model,
        "about": description_of(judge.kind),
        "runs": judge.runs.all()[:20],
        "form": form,
        "versions": Judge.objects.filter(name=judge.name).exclude(pk=judge.pk),
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
    if is_model and form.is_bound and form.is_valid():
        context |= estimated(judge, JudgeRun.Task.COVERAGE, form.summaries(), form.cleaned_data["repeats"])
    return page(request, "benchmarks/judge_detail.html", context)


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
    """Queue what was estimated."""
    judge = get_object_or_404(Judge, uid=uid)
    form = RunForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("The run was not started: look at its numbers again."))
        return redirect("benchmarks:judge-detail", judge.uid)
    return start_run(
        request,
        judge=judge,
        task=JudgeRun.Task.COVERAGE,
        subjects=form.summaries(),
        options=form.options(),
        reason="person",
        back=reverse("benchmarks:judge-detail", args=[judge.uid]),
    )


def start_run(
    request: HtmxHttpRequest,
    *,
    judge: Judge,
    task: str,
    subjects: Iterable[Any],
    options: judging.ModelOptions,
    reason: str,
    back: str,
) -> HttpResponse:
    """Queue what is missing and show the run; where there is none, say why on the page at `back`."""
    try:
        run = judging.request_run(
            judge=judge,
            task=task,
            subjects=subjects,
            reason=reason,
            now=timezone.now(),
            requested_by=request.user,
            options=options,
        )
    except judging.JudgeUnavailable as error:
        messages.error(request, str(error))
        return redirect(back)
    if run is None:
        messages.info(request, _("Nothing is lacking: all of it was judged or is being judged."))
        return redirect(back)
    enqueue(RUN_TASK, str(run.uid))
    return redirect("benchmarks:judge-run", run.uid)


@require_safe
@requires(VIEW)
def judge_run(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Where a run stands; the fragment is polled while somebody works on it."""
    run = get_object_or_404(JudgeRun.objects.select_related("judge"), uid=uid)
    state = runs.run_state(run)
    failed = run.items.filter(state=JudgeRunItem.State.FAILED).select_related(
        "summary__system", "response__system", "key_point__question"
    )[:20]
    is_last = wants_fragment(request) and not state.is_working
    return page(
        request,
        "benchmarks/judge_run.html",
        {"state": state, "run": run, "failed": failed},
        part="status",
        status=STOP_POLLING if is_last else 200,
    )


@require_POST
@requires(RUN)
def run_change(request: HtmxHttpRequest, uid: UUID, act: str) -> HttpResponse:
    """Pause, resume or cancel a run."""
    run = get_object_or_404(JudgeRun, uid=uid)
    now = timezone.now()
    if act == "pause":
        runs.pause_run(run=run, now=now, by=request.user)
    elif act == "cancel":
        runs.cancel_run(run=run, now=now, by=request.user)
    elif _may_go_on(request, run) and runs.resume_run(run=run, now=now, by=request.user):
        enqueue(RUN_TASK, str(run.uid))
    return redirect("benchmarks:judge-run", run.uid)


def _may_go_on(request: HtmxHttpRequest, run: JudgeRun) -> bool:
    """Take the budget that came along, if one did; where it can't be taken, say why and leave the run paused."""
    if "budget" not in request.POST:
        return True
    form = BudgetForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("The budget is a number of US dollars, or empty for no limit."))
        return False
    budget = form.cleaned_data["budget"]
    if budget == run.budget:
        return True
    try:
        budgets.change_budget(run=run, budget=budget, by=request.user, now=timezone.now())
    except budgets.BudgetRefused as refused:
        messages.error(request, str(refused))
        return False
    return True


@require_http_methods(["GET", "HEAD", "POST"])
@requires(RUN)
def judge_try(request: HtmxHttpRequest, uid: UUID, summary_uid: UUID) -> HttpResponse:
    """One summary: what is asked in which shape, and what came back; POST asks what is missing."""
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.OPENAI)
    rows = Summary.objects.of_systems().select_related("system", "subtopic", "haystack")
    summary = get_object_or_404(rows, uid=summary_uid)
    if request.method == "POST":
        return start_run(
            request,
            judge=judge,
            task=JudgeRun.Task.COVERAGE,
            subjects=[summary],
            options=judging.ModelOptions(),
            reason="try",
            back=reverse("benchmarks:judge-detail", args=[judge.uid]),
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
    context = {"judge": judge, "summary": summary, "verdicts": verdicts, "requests": [], "form": form}
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
