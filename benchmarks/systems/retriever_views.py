"""The retrievers of a haystack: how well each finds the gold documents, and running one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from benchmarks.access.owning import may_change
from benchmarks.engine import retrieving
from benchmarks.models import Haystack, Retrieval
from benchmarks.retrieval.registry import WrongSettings, make
from benchmarks.scoring.oracle import TOKEN_BUDGET
from benchmarks.systems.retriever_forms import RetrieverForm
from benchmarks.systems.retriever_quality import quality_lines
from benchmarks.web.lists import Column, MemoryTable
from benchmarks.web.pages import HtmxHttpRequest, page, polled
from benchmarks.web.permissions import refuse_others, requires


def _figure(title: Any, name: str) -> Column:
    return Column(title, lambda line: getattr(line.quality, name).value, css="num", high_first=True)


class RetrieverTable(MemoryTable):
    """What retrievers are sorted by."""

    retriever = Column("Retriever", "reference")
    recall_insights = _figure("Recall of insights, %", "recall_insights")
    recall_documents = _figure("Recall of gold documents, %", "recall_documents")
    ndcg = _figure("nDCG, %", "ndcg")
    documents = Column("Documents taken", "quality__mean_documents", css="num", high_first=True)
    subtopics = Column("Subtopics", "quality__n_subtopics", css="num", high_first=True)

    class Meta:
        order_by = "-recall_insights"


class BudgetForm(forms.Form):
    """How many tokens of documents a reader has."""

    budget = forms.IntegerField(label="Token budget", min_value=1, max_value=10_000_000, initial=TOKEN_BUDGET)


@require_safe
@requires("benchmarks.view_haystack")
def retriever_list(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Every retriever with scores; the fragment is polled while one is at work."""
    haystack = get_object_or_404(Haystack, uid=uid)
    return _page(request, haystack, RetrieverForm(initial=request.GET.dict(), haystack=haystack))


@require_safe
@requires("benchmarks.change_haystack")
def retriever_settings(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """The fields of the retriever that is chosen in the form."""
    haystack = get_object_or_404(Haystack, uid=uid)
    form = RetrieverForm(initial=request.GET.dict(), haystack=haystack)
    return page(request, "benchmarks/_retriever_settings.html", {"form": form})


@require_POST
@requires("benchmarks.change_haystack")
def retriever_run(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Run a retriever with the settings of the form."""
    haystack = get_object_or_404(Haystack, uid=uid)
    form = RetrieverForm(request.POST, haystack=haystack)
    if not form.is_valid():
        return _page(request, haystack, form, status=422)
    retrieving.request(
        haystack=haystack,
        retriever=form.made,
        actor=request.user,
        now=timezone.now(),
        max_requests=form.cleaned_data.get("max_requests"),
    )
    messages.success(request, "The retriever is running. Stored scores are not computed again.")
    return redirect("benchmarks:retriever-list", haystack.uid)


@require_POST
@requires("benchmarks.change_haystack")
def retriever_again(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Run a retriever once more, with the settings it had."""
    row = get_object_or_404(Retrieval.objects.select_related("haystack"), uid=uid)
    try:
        retriever = make(row.retriever, row.settings)
    except WrongSettings as error:  # of a release that knew other settings
        messages.error(request, str(error))
    else:
        retrieving.request(
            haystack=row.haystack,
            retriever=retriever,
            actor=request.user,
            now=timezone.now(),
            max_requests=row.max_requests,
        )
    return redirect("benchmarks:retriever-list", row.haystack.uid)


@require_POST
@requires("benchmarks.change_haystack")
def retriever_cancel(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Stop a retriever before its next request."""
    row = get_object_or_404(Retrieval.objects.select_related("haystack"), uid=uid)
    refuse_others(request.user, row, words="Whoever started this retriever, or an admin, can cancel it.")
    retrieving.cancel(row=row, by=request.user, now=timezone.now())
    return redirect("benchmarks:retriever-list", row.haystack.uid)


def _page(request: HtmxHttpRequest, haystack: Haystack, form: RetrieverForm, *, status: int = 200) -> HttpResponse:
    budget_form = BudgetForm(request.GET if "budget" in request.GET else None)
    budget = budget_form.cleaned_data["budget"] if budget_form.is_valid() else TOKEN_BUDGET
    rows = haystack.retrievals.exclude(state=Retrieval.State.DONE).select_related("created_by")
    unfinished = rows.order_by("-created_at")
    working = [row for row in unfinished if row.state in retrieving.WORKING]
    context: dict[str, Any] = {
        "haystack": haystack,
        "form": form,
        "budget_form": budget_form,
        "budget": budget,
        "working": [(row, may_change(request.user, row)) for row in working],
        "failed": [row for row in unfinished if row.state not in retrieving.WORKING],
        "table": RetrieverTable(quality_lines([haystack], token_budget=budget), request.GET),
    }
    if status != 200:
        return page(request, "benchmarks/retriever_list.html", context, part="state", status=status)
    return polled(request, "benchmarks/retriever_list.html", context, part="state", is_working=bool(working))
