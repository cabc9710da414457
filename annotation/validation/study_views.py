"""Pages of researchers about validation studies: set up, overview, more people and verdicts, results, files."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation import studies
from annotation.assigning import stable_seed
from annotation.guidelines import current_guideline, default_guidelines
from annotation.labelling.overview import TOO_FAST_MS
from annotation.labelling.study_pages import details_page, more_page, study_of
from annotation.models import Study
from annotation.validation import exports, planning
from annotation.validation.forms import PairsForm, ValidationStudyForm
from annotation.validation.overview import overview_of
from annotation.validation.results import FIGURE_COLUMNS, as_json, figure_rows, results_of
from benchmarks.web.downloads import csv_download, json_download, jsonl_download
from benchmarks.web.pages import page
from benchmarks.web.permissions import requires

DISPUTED_SHOWN = 50


@requires("annotation.add_study")
@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Set up a validation study and deal its tasks."""
    initial = {
        "guidelines": default_guidelines(Study.Kind.VALIDATION),
        "contact": request.user.email,  # type: ignore[union-attr]
    }
    form = ValidationStudyForm(request.POST or None, user=request.user, initial=initial)
    if request.method == "POST" and form.is_valid():
        study = _create(request, form)
        if study is not None:
            messages.success(request, _("The study is set up and its tasks are dealt. Open it when it is right."))
            return redirect("annotation:validation-study", uid=study.uid)
    return page(request, "annotation/validation_new.html", {"form": form}, status=422 if form.errors else 200)


@requires("annotation.view_study")
@require_safe
def overview(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Progress, answers, speed, time and cost of each annotator."""
    study = _study(request, uid)
    context = {
        "study": study,
        "overview": overview_of(study),
        "plan": study.validation_plan,
        "judge": study.validation_plan.judge,
        "n_responses": study.label_items.order_by().values("response").distinct().count(),
        "n_short": planning.n_short(study),
        "fast_seconds": TOO_FAST_MS // 1000,
        "guideline": current_guideline(study),
        "problems": studies.opening_problems(study) if study.state == Study.State.DRAFT else [],
    }
    return page(request, "annotation/validation_study.html", context)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Name, description, contact, date and rate."""
    return details_page(request, _study(request, uid))


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def more(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Add people or verdicts."""
    study = _study(request, uid)
    return more_page(request, study, items=PairsForm, add_items=_add_pairs, planning=planning)


@requires("annotation.view_session")
@require_safe
def results(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The judge against people, people among themselves, and where they differ."""
    study = _study(request, uid)
    found = results_of(study)
    disputed = found.disputed
    context = {
        "study": study,
        "results": found,
        "evaluation": found.evaluation,
        "disputed": disputed[:DISPUTED_SHOWN],
        "n_disputed": len(disputed),
        "parts": [(_("Verdict"), found.evaluation.by_answer), *_parts(found.parts)],
    }
    return page(request, "annotation/validation_results.html", context)


@requires("annotation.view_session")
@require_safe
def files(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    """Figures as JSON or CSV, answers as CSV or JSON lines (with `history=1` all ever given), under pseudonyms."""
    study = _study(request, uid)
    with_history = request.GET.get("history") == "1"
    if name == "figures.json":
        values = as_json(results_of(study, public=True))
        return json_download(values, name=f"validation-{study.uid}.json", about=study)
    if name == "figures.csv":
        rows = figure_rows(results_of(study, public=True))
        return csv_download(FIGURE_COLUMNS, rows, name=f"validation-{study.uid}.csv", about=study)
    if name == "answers.csv":
        rows = exports.label_rows(study, with_history=with_history)
        return csv_download(exports.COLUMNS, rows, name=f"answers-{study.uid}.csv", about=study)
    if name == "answers.jsonl":
        found = (
            dict(zip(exports.COLUMNS, row, strict=True))
            for row in exports.label_rows(study, with_history=with_history)
        )
        return jsonl_download(found, name=f"answers-{study.uid}.jsonl", about=study)
    raise Http404


def _study(request: HttpRequest, uid: uuid.UUID) -> Study:
    return study_of(request, uid, Study.Kind.VALIDATION)


def _parts(parts: Any) -> list[tuple[str, Any]]:
    names = {"category": _("Category"), "domain": _("Domain"), "system": _("System")}
    return [(names[part], stats) for part, stats in parts.items() if len(stats) > 1]


def _create(request: HttpRequest, form: ValidationStudyForm) -> Study | None:
    """Make the study, or say in the form why not."""
    data = form.cleaned_data
    try:
        return planning.create_study(
            details=form.details(),
            plan=form.plan(),
            judge=data["judge"],
            n=data["n_sample"],
            dataset=data["dataset"],
            annotators=data["annotators"],
            researchers=data["researchers"],
            guidelines=data["guidelines"],
            seed=stable_seed("study", data["name"]) if data["seed"] is None else data["seed"],
            by=request.user,
            now=timezone.now(),
        )
    except planning.NothingToValidate:
        form.add_error("dataset", _("This judge has no verdicts on that question set."))
        return None


def _add_pairs(*, form: PairsForm, study: Study, by: Any, now: datetime) -> int:
    data = form.cleaned_data
    return planning.add_pairs(study=study, n=data["n_sample"], dataset=data["dataset"], by=by, now=now)
