"""Pages of researchers about verification studies: set up, overview, more people and questions."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
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
from annotation.verification import planning
from annotation.verification.forms import QuestionsForm, VerificationStudyForm, initial_from
from annotation.verification.overview import overview_of
from benchmarks.web.pages import page
from benchmarks.web.permissions import requires


@requires("annotation.add_study")
@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Set up a verification study and deal its tasks; `from` names a study whose settings it starts with."""
    form = VerificationStudyForm(request.POST or None, user=request.user, initial=_initial(request))
    if request.method == "POST" and form.is_valid():
        study = _create(request, form)
        if study is not None:
            messages.success(request, _("The study is set up and its tasks are dealt. Open it when it is right."))
            return redirect("annotation:verification-study", uid=study.uid)
    context = {"form": form, "has_questions": bool(form.fields["dataset"].choices)}  # type: ignore[attr-defined]
    return page(request, "annotation/verification_new.html", context, status=422 if form.errors else 200)


@requires("annotation.view_study")
@require_safe
def overview(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Progress, answers, speed, time and cost of each annotator."""
    study = _study(request, uid)
    plan = study.verification_plan
    rows = study.label_items.order_by()
    context = {
        "study": study,
        "overview": overview_of(study),
        "plan": plan,
        "control_share": float(plan.control_share),
        "plain_share": float(plan.share_without_highlight),
        "n_questions": rows.values("question").distinct().count(),
        "n_control": rows.filter(is_overlap=True).values("question").distinct().count(),
        "n_short": planning.n_short(study),
        "fast_seconds": TOO_FAST_MS // 1000,
        "guideline": current_guideline(study),
        "problems": studies.opening_problems(study) if study.state == Study.State.DRAFT else [],
    }
    return page(request, "annotation/verification_study.html", context)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Name, description, contact, date and rate."""
    return details_page(request, _study(request, uid))


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def more(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Add people or questions."""
    study = _study(request, uid)
    return more_page(request, study, items=QuestionsForm, add_items=_add_questions, planning=planning)


def _study(request: HttpRequest, uid: uuid.UUID) -> Study:
    return study_of(request, uid, Study.Kind.VERIFICATION)


def _initial(request: HttpRequest) -> dict[str, Any]:
    source = request.GET.get("from", "")
    if source:
        try:
            return initial_from(_study(request, uuid.UUID(source)))
        except ValueError as problem:
            raise Http404 from problem
    return {
        "guidelines": default_guidelines(Study.Kind.VERIFICATION),
        "contact": request.user.email,  # type: ignore[union-attr]
    }


def _create(request: HttpRequest, form: VerificationStudyForm) -> Study | None:
    """Make the study, or say in the form why not."""
    data = form.cleaned_data
    seed = stable_seed("study", data["name"]) if data["seed"] is None else data["seed"]
    questions = form.chosen(seed=seed)
    if not questions:
        form.add_error(None, _("There is no question with key points of that kind in this set."))
        return None
    try:
        return planning.create_study(
            details=form.details(),
            plan=form.plan(),
            questions=questions,
            annotators=data["annotators"],
            researchers=data["researchers"],
            guidelines=data["guidelines"],
            seed=seed,
            by=request.user,
            now=timezone.now(),
        )
    except planning.NoRoomForChecks as problem:
        form.add_error("n_attention_checks", str(problem))
        return None


def _add_questions(*, form: QuestionsForm, study: Study, by: Any, now: datetime) -> int:
    return planning.add_questions(study=study, questions=form.chosen(seed=study.seed), by=by, now=now)
