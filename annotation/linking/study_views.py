"""Pages of researchers about linking studies: set up, overview, more people and summaries, labels to download."""

from __future__ import annotations

import uuid
from datetime import datetime
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation import studies
from annotation.assigning import stable_seed
from annotation.guidelines import DEFAULT_LINKING_BODY, current_guideline
from annotation.labelling.study_pages import details_page, more_page, study_of
from annotation.linking import exports, planning
from annotation.linking.forms import LinkingStudyForm, SummariesForm
from annotation.linking.overview import overview_of
from annotation.models import Study
from benchmarks.web.downloads import csv_download, jsonl_download
from benchmarks.web.pages import page
from benchmarks.web.permissions import requires


@requires("annotation.add_study")
@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Set up a linking study and deal its tasks."""
    initial = {"guidelines": DEFAULT_LINKING_BODY, "contact": request.user.email}  # type: ignore[union-attr]
    form = LinkingStudyForm(request.POST or None, request.FILES or None, user=request.user, initial=initial)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        seed = stable_seed("study", data["name"]) if data["seed"] is None else data["seed"]
        study = _create(request, form, seed)
        if study is not None:
            messages.success(request, _("The study is set up and its tasks are dealt. Open it when it is right."))
            return redirect("annotation:linking-study", uid=study.uid)
    return page(request, "annotation/linking_form.html", {"form": form}, status=422 if form.errors else 200)


@requires("annotation.view_study")
@require_safe
def overview(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Progress, answers, time and cost of each annotator."""
    study = _study(request, uid)
    has_plan = hasattr(study, "linking_plan")
    context = {
        "study": study,
        "overview": overview_of(study),
        "plan": study.linking_plan if has_plan else None,
        "overlap_share": float(study.linking_plan.overlap_share or 0) if has_plan else None,
        "pass_mark": _pass_mark(study) if has_plan else None,
        "n_short": planning.n_short(study) if has_plan else 0,
        "guideline": current_guideline(study),
        "problems": studies.opening_problems(study) if study.state == Study.State.DRAFT else [],
    }
    return page(request, "annotation/linking_study.html", context)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Name, description, contact, date and rate."""
    return details_page(request, _study(request, uid))


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def more(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Add people or summaries."""
    study = _study(request, uid)
    if not hasattr(study, "linking_plan"):
        raise Http404
    form = partial(SummariesForm, user=request.user)
    return more_page(request, study, items=form, add_items=_add_summaries, planning=planning)


@requires("annotation.view_study")
@require_safe
def labels(request: HttpRequest, uid: uuid.UUID, kind: str) -> HttpResponseBase:
    """Labels as CSV or JSON lines; with `history=1` every row that was ever made."""
    study = _study(request, uid)
    with_history = request.GET.get("history") == "1"
    name = f"labels-{study.uid}{'-history' if with_history else ''}"
    if kind == "csv":
        return csv_download(
            exports.COLUMNS, exports.csv_rows(study, with_history=with_history), name=f"{name}.csv", about=study
        )
    if kind == "jsonl":
        return jsonl_download(exports.objects(study, with_history=with_history), name=f"{name}.jsonl", about=study)
    raise Http404


def _pass_mark(study: Study) -> float | None:
    mark = study.linking_plan.pass_mark
    return None if mark is None else float(mark)


def _study(request: HttpRequest, uid: uuid.UUID) -> Study:
    return study_of(request, uid, Study.Kind.LINKING)


def _create(request: HttpRequest, form: LinkingStudyForm, seed: int) -> Study | None:
    """Make the study, or say in the form why not."""
    data, summaries = form.cleaned_data, form.chosen(seed=seed)
    if not summaries:
        form.add_error(None, _("There is no summary of that kind in these haystacks."))
        return None
    try:
        return planning.create_study(
            details=form.details(),
            plan=form.plan(),
            summaries=summaries,
            checks=form.checks(),
            annotators=data["annotators"],
            researchers=data["researchers"],
            guidelines=data["guidelines"],
            seed=seed,
            by=request.user,
            now=timezone.now(),
        )
    except planning.TooFewAgreed as problem:
        form.add_error("checks_source", str(problem))
        return None


def _add_summaries(*, form: SummariesForm, study: Study, by: Any, now: datetime) -> int:
    return planning.add_summaries(study=study, summaries=form.chosen(seed=study.seed), by=by, now=now)
