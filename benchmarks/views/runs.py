"""Runs of judges: one is started, followed, paused and repeated, and its answers are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from benchmarks import answers
from benchmarks.engine import budgets, judging, runs, scopes
from benchmarks.engine.tasks import TASKS
from benchmarks.engine.wakeup import enqueue
from benchmarks.judge_forms import BudgetForm
from benchmarks.models import Judge, JudgeRun, JudgeRunItem
from benchmarks.web.exposure import saw_insights
from benchmarks.web.pages import HtmxHttpRequest, page, polled
from benchmarks.web.permissions import requires

VIEW, RUN = "benchmarks.view_judge", "benchmarks.add_judgerun"
RUN_TASK = "benchmarks.tasks.run_judge"
ANSWERS_PER_PAGE = 50
ENDED = (JudgeRun.State.DONE, JudgeRun.State.CANCELLED)
NOTHING_MISSING = gettext_lazy("Nothing is missing: everything is done or in a run.")


def shown_runs(found: Iterable[JudgeRun], user: Any) -> list[tuple[JudgeRun, str]]:
    """Runs, each with what it is about in words that this user may read."""
    seen = scopes.seen_by(user)
    return [(run, scopes.words(run.scope, seen=seen)) for run in found]


def start_run(
    request: HtmxHttpRequest,
    *,
    judge: Judge,
    task: str,
    subjects: Iterable[Any],
    options: judging.ModelOptions | None = None,
    reason: str = "person",
    back: str,
    scope: Mapping[str, Any] | None = None,
    then: str = "",
) -> HttpResponse:
    """Queue what is missing and show the run, or go on to `then`; where there is none, say why at `back`."""
    try:
        run = judging.request_run(
            judge=judge,
            task=task,
            subjects=subjects,
            reason=reason,
            now=timezone.now(),
            requested_by=request.user,
            options=options,
            scope=scope,
        )
    except judging.JudgeUnavailable as error:
        messages.error(request, str(error))
        return redirect(back)
    if run is None:
        messages.info(request, NOTHING_MISSING)
        return redirect(back)
    enqueue(RUN_TASK, str(run.uid))
    return redirect(then or reverse("benchmarks:judge-run", args=[run.uid]))


@require_safe
@requires(VIEW)
def judge_run(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Where a run stands; the fragment is polled while somebody works on it."""
    run = get_object_or_404(JudgeRun.objects.select_related("judge"), uid=uid)
    state = runs.run_state(run)
    failed = run.items.filter(state=JudgeRunItem.State.FAILED).select_related(
        "summary__system", "response__system", "key_point__question", "draft__subtopic", "draft__question"
    )[:20]
    context = {
        "state": state,
        "run": run,
        "failed": failed,
        "scope": scopes.words(run.scope, seen=scopes.seen_by(request.user)),
    }
    if not state.is_working:
        context |= _afterwards(request, state)
    return polled(request, "benchmarks/judge_run.html", context, part="status", is_working=state.is_working)


def _afterwards(request: HtmxHttpRequest, state: runs.RunState) -> dict[str, Any]:
    """What one does after a run: compare its judge with people, or ask again what is missing."""
    run, is_whole = state.run, state.progress.n_done == state.progress.n_total
    found: dict[str, Any] = {"can_repeat": run.state in ENDED and not is_whole}
    if run.task == JudgeRun.Task.COVERAGE:
        summaries = run.items.exclude(summary=None).values("summary")
        found["compared"] = scopes.studies().compared(request.user, summaries)
    return found


@require_safe
@requires(VIEW)
def run_answers(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """What a judge answered in a run; `only=invalid` leaves what could not be used."""
    run = get_object_or_404(JudgeRun.objects.select_related("judge"), uid=uid)
    only_invalid = request.GET.get("only") == "invalid"
    rows = answers.of_run(run, only_invalid=only_invalid)
    shown = Paginator(rows, ANSWERS_PER_PAGE).get_page(request.GET.get("page"))
    found = answers.read(list(shown.object_list), user=request.user)
    saw_insights(request.user, *found.haystacks)
    context = {
        "run": run,
        "task": TASKS[run.task],
        "scope": scopes.words(run.scope, seen=scopes.seen_by(request.user)),
        "page": shown,
        "rows": found.rows,
        "only_invalid": only_invalid,
        "n_invalid": answers.of_run(run, only_invalid=True).count(),
        "query": "only=invalid" if only_invalid else "",
    }
    return page(request, "benchmarks/run_answers.html", context)


@require_POST
@requires(RUN)
def run_change(request: HtmxHttpRequest, uid: UUID, act: str) -> HttpResponse:
    """Pause, resume or cancel a run, or queue what is missing of it as another one."""
    run = get_object_or_404(JudgeRun, uid=uid)
    now = timezone.now()
    if act == "pause":
        runs.pause_run(run=run, now=now, by=request.user)
    elif act == "cancel":
        runs.cancel_run(run=run, now=now, by=request.user)
    elif act == "again":
        return _again(request, run)
    elif _may_go_on(request, run) and runs.resume_run(run=run, now=now, by=request.user):
        enqueue(RUN_TASK, str(run.uid))
    return redirect("benchmarks:judge-run", run.uid)


def _again(request: HtmxHttpRequest, run: JudgeRun) -> HttpResponse:
    try:
        new = judging.request_again(run=run, by=request.user, now=timezone.now())
    except judging.JudgeUnavailable as error:
        messages.error(request, str(error))
        return redirect("benchmarks:judge-run", run.uid)
    if new is None:
        messages.info(request, NOTHING_MISSING)
        return redirect("benchmarks:judge-run", run.uid)
    enqueue(RUN_TASK, str(new.uid))
    return redirect("benchmarks:judge-run", new.uid)


def _may_go_on(request: HtmxHttpRequest, run: JudgeRun) -> bool:
    """Take the budget that came along, if one did; where it can't be taken, say why and leave the run paused."""
    if "budget" not in request.POST:
        return True
    form = BudgetForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter US dollars, or leave it blank for no limit."))
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
