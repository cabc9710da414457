"""Judges: what there is, a new one or a new version, what they cost; the page of one is in `runs`."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access.owning import NotYours
from benchmarks.engine import costs, overview, versions
from benchmarks.judges.jury import JuryRule, WrongJury
from benchmarks.judges.registry import OFFLINE
from benchmarks.judging.forms import JuryForm, ModelJudgeForm, PriceForm, PublishedCostForm
from benchmarks.judging.model_views import edit_model
from benchmarks.judging.run_views import RUN, VIEW, shown_runs, start_run
from benchmarks.models import Judge, JudgeRun, ModelPrice, Summary
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import refuse_others, requires

ADD, CHANGE = "benchmarks.add_judge", "benchmarks.change_judge"
_edit = partial(
    edit_model,
    save=versions.save_judge,
    template="benchmarks/judge_edit.html",
    then="benchmarks:judge-detail",
)


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
    return _edit(request, ModelJudgeForm(request.POST or None, user=request.user), None)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(CHANGE)
def judge_edit(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Make the next version of a model judge; verdicts stay with the old one."""
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.OPENAI)
    initial = ModelJudgeForm.values_of(judge)
    return _edit(request, ModelJudgeForm(request.POST or None, initial=initial, user=request.user), judge)


@require_POST
@requires(RUN)
def judge_offline(request: HtmxHttpRequest) -> HttpResponse:
    """Go to an offline judge as the code of today configures it, which nobody may have run yet."""
    name = request.POST.get("name", "")
    judge = versions.offline_judge(name=name if name in OFFLINE else versions.OFFLINE, now=timezone.now())
    return redirect(f"{reverse('benchmarks:judge-detail', args=[judge.uid])}#run")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(ADD)
def jury_new(request: HtmxHttpRequest) -> HttpResponse:
    """Make a jury, or the next version of one, and run it on what its members have judged."""
    form = JuryForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            jury = versions.save_jury(
                name=data["name"],
                members=list(data["members"]),
                rule=JuryRule(data["score"]),
                note=data["note"],
                by=request.user,
                must_judge=True,
                now=timezone.now(),
            )
        except (WrongJury, NotYours) as error:
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


@require_POST
@requires(CHANGE)
def judge_cost(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Write the published cost of an imported judge."""
    judge = get_object_or_404(Judge, uid=uid, kind=Judge.Kind.IMPORTED)
    refuse_others(request.user, judge, words="Whoever imported this judge, or an admin, can change its cost.")
    form = PublishedCostForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Enter US dollars, 0 or more, or leave it blank.")
    else:
        dollars = form.cleaned_data["published_cost"]
        versions.set_published_cost(judge=judge, dollars=dollars, by=request.user, now=timezone.now())
        messages.success(request, "The cost was saved.")
    return redirect("benchmarks:judge-detail", judge.uid)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(CHANGE)
def prices(request: HtmxHttpRequest) -> HttpResponse:
    """The dated price table."""
    form = PriceForm(request.POST or None, initial={"valid_from": timezone.now().date().isoformat()})
    if request.method == "POST" and form.is_valid():
        try:
            costs.set_price(**form.cleaned_data, by=request.user, now=timezone.now())
        except NotYours as refused:
            form.add_error("valid_from", str(refused))
        else:
            return redirect("benchmarks:prices")
    context = {"form": form, "prices": ModelPrice.objects.all()}
    return page(request, "benchmarks/prices.html", context, status=422 if request.method == "POST" else 200)
