"""Pages on which researchers go through disagreements of a study and decide them."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.adjudication import blind
from annotation.adjudication.decisions import DecisionRefused
from annotation.adjudication.pages import newest, say_decided, seen_in, withdrawn
from annotation.coverage.collect import coverage_table
from annotation.coverage.rows import views
from annotation.linking import adjudicating, disputes, exports
from annotation.linking.annotated import haystacks_of
from annotation.models import Study
from annotation.results.table import Filters, LabelTable
from annotation.studies.guidelines import current_guideline, render_markdown
from annotation.studies.rows import objects
from annotation.studies.scope import uid_in
from benchmarks.models import Haystack, Insight, Summary
from benchmarks.web.downloads import csv_download, jsonl_download
from benchmarks.web.exposure import saw_insights
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

A_PAGE = 25
NARROWED_BY = ("between", "summarizer", blind.PARAMETER)
"""What of an address says which queue one goes through."""
MAX_LINES = 200
MAX_LINE_DIGITS = 9


@requires("annotation.view_session")
@require_safe
def queue(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Items in dispute, most disputed first; `between` sets a judge against people, `summarizer` keeps one.

    With `blind=1` open items have letters instead of names, and no judges.
    Items made elsewhere have no text here to decide on: their rows are all there is to see.
    """
    study = _study(request, uid)
    if not study.coveragelabels.exists() and study.external_labels.exists():
        return redirect("annotation:study-agreement-rows", uid=study.uid)
    full, which = _table(study), _which(request)
    table = _narrowed(full, which)
    between, show = which.get("between", ""), request.GET.get("show", disputes.OPEN)
    everything = disputes.queue_of(table, between=between)
    shown = Paginator(disputes.narrowed(everything, show), A_PAGE).get_page(request.GET.get("page"))
    rows = views(table, [place.position for place in shown])
    if blind.is_asked(request):
        rows = [disputes.blinded_row(study, row) for row in rows]
    saw_insights(request.user, *_haystacks(table))
    context = {
        "study": study,
        "page": shown,
        "rows": list(zip(shown, rows, strict=True)),
        "between": between,
        "show": show,
        "is_blind": blind.is_asked(request),
        "judges": table.judges_with_verdicts,
        "summarizers": sorted({info.summarizer for info in full.summaries}),
        "summarizer": which.get("summarizer", ""),
        "judge": next((judge.name for judge in table.judges if judge.key == between), ""),
        "n_all": len(everything),
        "n_decided": sum(place.is_decided for place in everything),
        "n_labelled": len(table.codes),
        "query": urlencode(which),
    }
    return page(request, "annotation/disagreements.html", context)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def dispute(request: HtmxHttpRequest, uid: uuid.UUID, summary: uuid.UUID, insight: uuid.UUID) -> HttpResponse:
    """One item: everybody's label beside the bullets, and the decision."""
    study = _study(request, uid)
    about = _item(study, summary, insight)
    item = disputes.dispute_of(**about)
    if blind.is_asked(request):
        item = disputes.blinded(item)
    if request.method == "POST":
        done = _decide(request, about, item)
        if done is not None:
            return done
    saw_insights(request.user, about["summary"].haystack)
    guideline = current_guideline(study)
    context = {
        "study": study,
        "dispute": item,
        "haystack": item.summary.haystack,
        "subtopic": item.summary.subtopic,
        "answer": _form_values(request, item),
        "seen": newest(row for row, _names in item.history),
        "allows_several": adjudicating.may_link_several(study),
        "guideline": guideline,
        "guideline_html": render_markdown(guideline.body) if guideline else "",
        "query": urlencode(_which(request)),
    }
    status = 422 if request.method == "POST" else 200
    return page(request, "annotation/dispute.html", context, status=status)


@requires("annotation.view_session")
@require_safe
def onward(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """To the next undecided item after `summary` and `insight`, or to the queue where there is none."""
    study, which = _study(request, uid), _which(request)
    after = None
    if "summary" in request.GET:
        about = _item(study, uid_in(request.GET["summary"]), uid_in(request.GET.get("insight", "")))
        after = (about["summary"].pk, about["insight"].pk)
    queued = disputes.queue_of(_narrowed(_table(study), which), between=which.get("between", ""))
    place = disputes.next_open(queued, after=after)
    query = f"?{urlencode(which)}" if which else ""
    if place is None:
        messages.info(request, _("Everything is decided."))
        return redirect(reverse("annotation:disagreements", args=[study.uid]) + query)
    summary, insight = Summary.objects.get(pk=place.summary), Insight.objects.get(pk=place.insight)
    return redirect(reverse("annotation:dispute", args=[study.uid, summary.uid, insight.uid]) + query)


@requires("annotation.view_session")
@require_safe
def gold(request: HttpRequest, uid: uuid.UUID, kind: str) -> HttpResponseBase:
    """What was decided, as CSV or JSON lines; with `history=1` every decision ever made."""
    study = _study(request, uid)
    with_history = request.GET.get("history") == "1"
    name = f"adjudicated-{study.uid}{'-history' if with_history else ''}"
    saw_insights(request.user, *haystacks_of(study))
    rows = exports.decision_rows(study, with_history=with_history)
    if kind == "csv":
        return csv_download(
            request, tuple(exports.DECISION_COLUMNS), exports.decision_cells(rows), name=f"{name}.csv", about=study
        )
    if kind == "jsonl":
        return jsonl_download(objects(exports.DECISION_COLUMNS, rows), name=f"{name}.jsonl", about=study)
    raise Http404


def _study(request: HttpRequest, uid: uuid.UUID) -> Study:
    study: Study = get_object_or_404(Study.objects.readable_by(request.user).of_coverage(), uid=uid)
    return study


def _table(study: Study) -> LabelTable:
    return coverage_table(study.coveragelabels.all(), study=study)


def _which(request: HttpRequest) -> dict[str, str]:
    """Which queue the address names."""
    return {name: value for name in NARROWED_BY if (value := request.GET.get(name, ""))}


def _narrowed(table: LabelTable, which: dict[str, str]) -> LabelTable:
    return table.filtered(Filters(summarizer=which.get("summarizer", "")))


def _haystacks(table: LabelTable) -> Any:
    return Haystack.objects.filter(pk__in={info.haystack_pk for info in table.summaries}).only("pk")


def _item(study: Study, summary: uuid.UUID, insight: uuid.UUID) -> dict[str, Any]:
    labels = study.coveragelabels.filter(summary__uid=summary, insight__uid=insight)
    label: Any = labels.select_related("summary__haystack", "summary__subtopic", "insight").first()
    if label is None:
        raise Http404
    return {"study": study, "summary": label.summary, "insight": label.insight}


def _decide(request: HttpRequest, about: dict[str, Any], item: disputes.Dispute) -> HttpResponse | None:
    """Store what was decided and go on; None where it cannot be stored."""
    here = reverse("annotation:dispute", args=[about["study"].uid, about["summary"].uid, about["insight"].uid])
    if withdrawn(request, adjudicating.DECISIONS, **about):
        return redirect(here)
    try:
        adjudicating.adjudicate(
            **about,
            coverage=request.POST.get("coverage", ""),
            lines=_lines(request),
            note=request.POST.get("note", ""),
            is_blind=item.is_blind,
            seen=seen_in(request.POST),
            by=request.user,
            now=timezone.now(),
        )
    except DecisionRefused as problem:
        messages.error(request, str(problem))
        return None
    say_decided(request, item.letters)
    after = {"summary": about["summary"].uid, "insight": about["insight"].uid, **_which(request)}
    return redirect(f"{reverse('annotation:disagreements-next', args=[about['study'].uid])}?{urlencode(after)}")


def _lines(request: HttpRequest) -> list[int]:
    """The bullets that were ticked, by their number."""
    sent = request.POST.getlist("line")[:MAX_LINES]
    return [int(line) for line in sent if line.isdecimal() and len(line) <= MAX_LINE_DIGITS]


def _form_values(request: HttpRequest, item: disputes.Dispute) -> dict[str, Any]:
    """What the form holds: what was sent and refused, else the decision that holds."""
    if request.method == "POST":
        lines = {*_lines(request)}
        return {"coverage": request.POST.get("coverage", ""), "lines": lines, "note": request.POST.get("note", "")}
    current = item.current
    return {
        "coverage": current.coverage if current else "",
        "lines": item.chosen_lines,
        "note": current.note if current else "",
    }
