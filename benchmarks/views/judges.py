"""Judges: what there is, a new one or a new version, one summary tried, a run with its estimate and progress."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks import budgets, costs, judge_desk, judging, model_tasks
from benchmarks.hints import hint
from benchmarks.judge_forms import BudgetForm, ModelJudgeForm, PriceForm, RunForm, TryForm
from benchmarks.judges.registry import description_of
from benchmarks.models import Haystack, Judge, JudgeRun, ModelPrice, Summary
from benchmarks.recall import desk as recall_desk
from benchmarks.web.exposure import saw_insights
from benchmarks.web.pages import page, wants_fragment
from benchmarks.web.permissions import requires

VIEW, ADD, CHANGE, RUN = (
    "benchmarks.view_judge", "benchmarks.add_judge", "benchmarks.change_judge", "benchmarks.add_judgerun",
)  # fmt: skip
RUN_TASK = "benchmarks.tasks.run_judge"
STOP_POLLING = 286


@require_safe
@requires(VIEW)
def judge_list(request: HttpRequest) -> HttpResponse:
    """All judges and the latest runs."""
    runs = JudgeRun.objects.select_related("judge")[:20]
    return page(request, "benchmarks/judge_list.html", {"rows": judge_desk.judge_rows(), "runs": runs})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(ADD)
def judge_new(request: HttpRequest) -> HttpResponse:
    """Make a model judge."""
    return _edit(request, ModelJudgeForm(request.POST or None), None)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(CHANGE)
def judge_edit(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Make the next version of a model judge; verdicts stay with the old one."""
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.OPENAI)
    return _edit(request, ModelJudgeForm(request.POST or None, initial=ModelJudgeForm.values_of(judge)), judge)


def _edit(request: HttpRequest, form: ModelJudgeForm, judge: Judge | None) -> HttpResponse:
    if judge is not None:
        form.fields["name"].disabled = True
    if request.method == "POST" and form.is_valid():
        saved = judge_desk.save_judge(
            name=form.cleaned_data["name"],
            config=form.config(),
            note=form.cleaned_data["note"],
            by=request.user,
            now=timezone.now(),
        )
        return redirect("benchmarks:judge-detail", saved.uid)
    status = 422 if request.method == "POST" else 200
    return page(request, "benchmarks/judge_edit.html", {"form": form, "judge": judge}, status=status)


@require_safe
@requires(VIEW)
def judge_detail(request: HttpRequest, uid: UUID) -> HttpResponse:
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
        **(_stale(judge, everything=request.GET.get("stale") == "all") if is_model else {}),
        "versions": Judge.objects.filter(name=judge.name).exclude(pk=judge.pk),
        "some_summary": Summary.objects.of_systems().first(),
    }
    if is_model and form.is_bound and form.is_valid():
        try:
            context["estimate"] = judge_desk.estimate(
                judge=judge,
                summaries=_chosen(form.cleaned_data),
                repeats=form.cleaned_data["repeats"],
                now=timezone.now(),
            )
        except ValueError as error:
            context["refused"] = str(error)
    return page(request, "benchmarks/judge_detail.html", context)


def _stale(judge: Judge, *, everything: bool) -> dict[str, Any]:
    """Verdicts on texts that changed since: among the newest, or among all when asked."""
    most = judge_desk.MOST_COMPARED if everything else judge_desk.COMPARED_AT_ONCE
    return {
        "n_stale": judge_desk.stale_count(judge=judge, most=most),
        "n_stale_points": recall_desk.stale_count(judge=judge, most=most),
        "n_compared": most,
        "has_older": not everything and recall_desk.has_more_verdicts(judge=judge, than=most),
    }


def _chosen(data: dict[str, Any]) -> list[Summary]:
    haystacks = Haystack.objects.current()
    if data["dataset"]:
        haystacks = haystacks.filter(dataset=data["dataset"])
    if data["haystack"]:
        haystacks = haystacks.filter(pk=data["haystack"].pk)
    return list(Summary.objects.of_systems().filter(haystack__in=haystacks))


@require_POST
@requires(RUN)
def run_start(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Queue what was estimated."""
    judge = get_object_or_404(Judge, uid=uid)
    form = RunForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("The run was not started: look at its numbers again."))
        return redirect("benchmarks:judge-detail", judge.uid)
    data = form.cleaned_data
    options = judging.ModelOptions(data["concurrency"], data["repeats"], data["budget"])
    return _start(request, judge, _chosen(data), options, reason="person")


def _start(
    request: HttpRequest, judge: Judge, summaries: list[Summary], options: judging.ModelOptions, *, reason: str
) -> HttpResponse:
    try:
        run = judging.request_run(
            judge=judge,
            summaries=summaries,
            reason=reason,
            now=timezone.now(),
            requested_by=request.user,
            options=options,
        )
    except judging.JudgeUnavailable as error:
        messages.error(request, str(error))
        return redirect("benchmarks:judge-detail", judge.uid)
    if run is None:
        messages.info(request, _("Nothing is lacking: all of it was judged or is being judged."))
        return redirect("benchmarks:judge-detail", judge.uid)
    hint(RUN_TASK, str(run.uid))
    return redirect("benchmarks:judge-run", run.uid)


@require_safe
@requires(VIEW)
def judge_run(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Where a run stands; the fragment is polled while somebody works on it."""
    run = get_object_or_404(JudgeRun.objects.select_related("judge"), uid=uid)
    state = judge_desk.run_state(run)
    failed = run.items.filter(state="failed").select_related(
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
def run_change(request: HttpRequest, uid: UUID, act: str) -> HttpResponse:
    """Pause, resume or cancel a run."""
    run = get_object_or_404(JudgeRun, uid=uid)
    now = timezone.now()
    if act == "pause":
        judging.pause_run(run=run, now=now, by=request.user)
    elif act == "cancel":
        judging.cancel_run(run=run, now=now, by=request.user)
    elif _may_go_on(request, run) and judging.resume_run(run=run, now=now, by=request.user):
        hint(RUN_TASK, str(run.uid))
    return redirect("benchmarks:judge-run", run.uid)


def _may_go_on(request: HttpRequest, run: JudgeRun) -> bool:
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
def judge_try(request: HttpRequest, uid: UUID, summary_uid: UUID) -> HttpResponse:
    """One summary: what is asked in which shape, and what came back; POST asks what is lacking."""
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.OPENAI)
    rows = Summary.objects.of_systems().select_related("system", "subtopic", "haystack")
    summary = get_object_or_404(rows, uid=summary_uid)
    if request.method == "POST":
        return _start(request, judge, [summary], judging.ModelOptions(), reason="try")
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
        config = model_tasks.config_of(judge)
        found = judge_desk.requests_on(judge=Judge(pk=0), config=config, summaries=[summary])
        asked = [row for row in found if insight is None or str(insight.pk) in row.question.keys]
        context["requests"] = [(row.question, json.dumps(row.body, indent=1, ensure_ascii=False)) for row in asked]
    except ValueError as error:
        context["refused"] = str(error)
    return page(request, "benchmarks/judge_try.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(CHANGE)
def prices(request: HttpRequest) -> HttpResponse:
    """The dated price table."""
    form = PriceForm(request.POST or None, initial={"valid_from": timezone.now().date().isoformat()})
    if request.method == "POST" and form.is_valid():
        costs.set_price(**form.cleaned_data, by=request.user, now=timezone.now())
        return redirect("benchmarks:prices")
    context = {"form": form, "prices": ModelPrice.objects.all()}
    return page(request, "benchmarks/prices.html", context, status=422 if request.method == "POST" else 200)
