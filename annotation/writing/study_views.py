"""What setting up a writing study shows beside the form: what would be shown, who ranked it; and time limits."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.models import Study
from annotation.studies.estimates import Design, Estimate, Measured, Sizes
from annotation.studies.member_views import member_of
from annotation.studies.pages import form_page, work_named
from annotation.studies.scope import study_of, uid_in
from annotation.writing import planning
from annotation.writing.assigning import subtopics_of
from annotation.writing.documentsets import MS_PER_MINUTE, Preview, Rule, preview, rule_of
from annotation.writing.study_forms import MemberLimitForm, StudyForm, member_initial
from benchmarks.web.pages import HtmxHttpRequest, page, wants_fragment
from benchmarks.web.permissions import requires

RULE_FIELDS = {
    "setting",
    "retriever",
    "token_budget",
    "include_zero_insight",
    "limit_minutes",
    "subtopics",
    "haystacks",
}


@requires("annotation.add_study")
@require_POST
def study_preview(request: HtmxHttpRequest) -> HttpResponse:
    """Say what the settings of a form that is being filled in would show, and what reading it takes."""
    study = _study_of_form(request)
    form = StudyForm(request.POST, user=request.user, study=study)
    form.is_valid()
    work = work_named(Study.Kind.WRITING)
    if wants_fragment(request):
        return page(request, "annotation/_study_preview.html", work.form_context(form, study))
    return form_page(request, work, form, study=study, status=200)


@requires("annotation.add_study")
@require_POST
def study_retrievers(request: HtmxHttpRequest) -> HttpResponse:
    """The retrievers to choose from for the subtopics that are chosen in a form that is being filled in."""
    study = _study_of_form(request)
    if not wants_fragment(request):
        form = StudyForm(request.POST, user=request.user, study=study)
        return form_page(request, work_named(Study.Kind.WRITING), form, study=study, status=200)
    initial = {name: request.POST.getlist(name) for name in ("haystacks", "subtopics")}
    kept = study.writing_plan.retriever if study is not None else ""  # a frozen field is not posted
    form = StudyForm(
        user=request.user,
        study=study,
        initial={**initial, "retriever": request.POST.get("retriever", kept)},
    )
    return page(request, "_field.html", {"field": form["retriever"]})


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def annotator_limit(request: HtmxHttpRequest, uid: uuid.UUID, annotator: uuid.UUID) -> HttpResponse:
    """Another time limit for one person."""
    member = member_of(study_of(request, uid, kind=Study.Kind.WRITING), annotator)
    form = MemberLimitForm(request.POST or None, initial=member_initial(member))
    if request.method == "POST" and form.is_valid():
        planning.set_member_limit(membership=member, limit_ms=form.limit_ms(), by=request.user, now=timezone.now())
        messages.success(request, "Saved. It applies to sessions that have not started.")
        return redirect("annotation:study-annotators", uid=member.study.uid)
    context = {"study": member.study, "member": member, "form": form}
    return page(request, "annotation/study_annotator_limit.html", context, status=422 if form.errors else 200)


def preview_of(form: StudyForm, study: Study | None = None) -> Preview | None:
    """The preview of a form, whose other fields may still be wrong, None while its own are; or of a study."""
    if not form.is_bound:
        return None if study is None else _preview_of_stored(study)
    if RULE_FIELDS & set(form.errors) or not form.chosen_subtopics():
        return None
    data: dict[str, Any] = form.cleaned_data
    rule = Rule(
        setting=data["setting"],
        token_budget=data["token_budget"],
        include_zero_insight=data["include_zero_insight"],
        retriever=data["retriever"],
    )
    limit_ms = int(data["limit_minutes"] * MS_PER_MINUTE)
    return preview(subtopics=form.chosen_subtopics(), rule=rule, limit_ms=limit_ms)


def takes_of(form: StudyForm) -> Estimate | None:
    """What the sessions of a form take where each lasts to the limit; None while its fields are wrong."""
    needed = {"subtopics", "haystacks", "sessions_per_subtopic", "limit_minutes", "hourly_rate", "currency"}
    if not form.is_bound or needed & set(form.errors):
        return None
    data, n = form.cleaned_data, len(form.chosen_subtopics())
    people = data.get("annotators") or ()
    design = Design(Sizes(n, n, n), data["sessions_per_subtopic"], n_people=len(people))
    return Estimate(design, float(data["limit_minutes"]), data["hourly_rate"], data["currency"]) if n else None


def all_of(takes: Estimate) -> Measured:
    """All of its sessions, which a mean stands on, whoever else has the subtopic."""
    design = takes.design
    return Measured(design.sizes.n_clusters, 1.0, max(design.n_people, design.n_each), design.n_each)


def _preview_of_stored(study: Study) -> Preview:
    plan = study.writing_plan
    subtopics = subtopics_of(plan)
    return preview(subtopics=subtopics, rule=rule_of(plan), limit_ms=plan.limit_ms)


def _study_of_form(request: HtmxHttpRequest) -> Study | None:
    """The study whose settings are being changed; None for a new one."""
    uid = request.GET.get("study")
    return study_of(request, uid_in(uid), kind=Study.Kind.WRITING) if uid else None
