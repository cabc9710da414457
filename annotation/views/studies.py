"""Pages that set up studies and say how they go."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import earnings, studies
from annotation.documentsets import Rule, rule_of
from annotation.forms import CloneForm
from annotation.guidelines import DEFAULT_WRITING_BODY, current_guideline
from annotation.labelling.study_pages import overview_of
from annotation.models import CreditRequest, Session, Study
from annotation.previews import Preview, preview
from annotation.views.scope import any_study_of, study_of
from annotation.writing.study_form import StudyForm
from benchmarks.web.pages import page, wants_fragment
from benchmarks.web.permissions import requires

ON_A_PAGE = 50
RULE_FIELDS = {
    "setting",
    "retriever",
    "token_budget",
    "include_zero_insight",
    "limit_minutes",
    "subtopics",
    "haystacks",
}
VERBS = {
    "open": studies.open_study,
    "close": studies.close_study,
    "archive": studies.archive_study,
    "restore": studies.restore_study,
}


@requires("annotation.view_study")
@require_safe
def study_list(request: HttpRequest) -> HttpResponse:
    """Studies of this researcher; the archive apart."""
    shows_archive = request.GET.get("archived") == "1"
    rows = Study.objects.for_user(request.user).with_progress()
    archived = Study.State.ARCHIVED
    rows = rows.filter(state=archived) if shows_archive else rows.exclude(state=archived)
    shown = Paginator(rows.order_by("-created_at", "-pk"), ON_A_PAGE).get_page(request.GET.get("page"))
    return page(request, "annotation/study_list.html", {"studies": shown, "shows_archive": shows_archive})


@requires("annotation.add_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_create(request: HttpRequest) -> HttpResponse:
    """Set up a writing study."""
    initial = {"guidelines": DEFAULT_WRITING_BODY, "contact": request.user.email}  # type: ignore[union-attr]
    form = StudyForm(request.POST or None, user=request.user, initial=initial)
    if request.method == "POST" and form.is_valid():
        study = studies.create_study(
            details=form.details(),
            plan=form.plan(),
            subtopics=form.chosen_subtopics(),
            annotators=form.cleaned_data["annotators"],
            researchers=form.cleaned_data["researchers"],
            guidelines=form.cleaned_data["guidelines"],
            by=request.user,
            now=timezone.now(),
        )
        messages.success(request, _("The study is set up. Give its tasks to people, then open it."))
        return redirect("annotation:study-assignments", uid=study.uid)
    return _form_page(request, form)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_settings(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Change a study; what is frozen is shown and cannot be changed."""
    study = study_of(request, uid)
    form = StudyForm(request.POST or None, user=request.user, instance=study)
    if request.method == "POST" and form.is_valid():
        try:
            studies.update_study(
                study=study,
                details=form.details(),
                plan=form.plan(),
                subtopics=form.chosen_subtopics(),
                researchers=_with_hidden_members(study, form),
                by=request.user,
                now=timezone.now(),
            )
        except (studies.Frozen, studies.NotReady) as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, _("Saved."))
            return redirect("annotation:study-settings", uid=study.uid)
    return _form_page(request, form, study=study)


@requires("annotation.add_study")
@require_POST
def study_preview(request: HttpRequest) -> HttpResponse:
    """Say what the settings of a form that is being filled in would show, and what reading it takes."""
    uid = request.GET.get("study")
    study = study_of(request, _uuid(uid)) if uid else None
    form = StudyForm(request.POST, user=request.user, instance=study)
    form.is_valid()
    found = _preview_of(form)
    if wants_fragment(request):
        return page(request, "annotation/_study_preview.html", {"preview": found})
    return _form_page(request, form, study=study, found=found, status=200)


@requires("annotation.add_study")
@require_POST
def study_retrievers(request: HttpRequest) -> HttpResponse:
    """The retrievers to choose from for the subtopics that are chosen in a form that is being filled in."""
    uid = request.GET.get("study")
    study = study_of(request, _uuid(uid)) if uid else None
    if not wants_fragment(request):
        return _form_page(
            request, StudyForm(request.POST, user=request.user, instance=study), study=study, status=200
        )
    initial = {name: request.POST.getlist(name) for name in ("haystacks", "subtopics")}
    kept = study.writing_plan.retriever if study is not None else ""  # a frozen field is not posted
    form = StudyForm(
        user=request.user,
        instance=study,
        initial={**initial, "retriever": request.POST.get("retriever", kept)},
    )
    return page(request, "_field.html", {"field": form["retriever"]})


@requires("annotation.view_study")
@require_safe
def study_detail(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """How a study goes: each annotator's progress, time and cost so far."""
    study = any_study_of(request, uid)
    if study.kind != Study.Kind.WRITING:
        return redirect(overview_of(study))
    now = timezone.now()
    sessions = Session.objects.filter(assignment__study=study).select_related("assignment__study")
    rows = earnings.earnings_of(sessions, now)
    per_person = earnings.by_annotator(rows)
    members = [
        {"member": member, "total": per_person.get(member.annotator_id)}
        for member in study.memberships.with_progress().order_by("number")
    ]
    requests = CreditRequest.objects.unanswered().filter(session__assignment__study=study)
    context = {
        "study": study,
        "requests": requests.select_related("session__annotator", "session__assignment__subtopic"),
        "plan": study.writing_plan,
        "members": members,
        "total": earnings.by_study(rows).get(study),
        "counts": _counts(members),
        "subtopics": study.writing_plan.subtopics.select_related("haystack").order_by("haystack", "number"),
        "guideline": current_guideline(study),
        "problems": studies.opening_problems(study) if study.state == Study.State.DRAFT else [],
    }
    return page(request, "annotation/study_detail.html", context)


@requires("annotation.change_study")
@require_POST
def study_state(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Open, close, archive or restore."""
    study = any_study_of(request, uid)
    verb = VERBS.get(request.POST.get("action", ""))
    if verb is None:
        messages.error(request, _("Nothing was changed: choose what to do with the study."))
        return redirect("annotation:study", uid=study.uid)
    try:
        study = verb(study=study, by=request.user, now=timezone.now())
    except studies.NotReady as problem:
        for text in problem.problems:
            messages.error(request, text)
    else:
        messages.success(request, _("The study is now: %(state)s.") % {"state": study.get_state_display()})
    return redirect("annotation:study", uid=study.uid)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_delete(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Delete a study that nobody has worked in, after a look at what goes with it."""
    study = any_study_of(request, uid)
    if request.method == "POST":
        try:
            studies.delete_study(study=study, by=request.user, now=timezone.now())
        except studies.NotReady as problem:
            messages.error(request, str(problem))
            return redirect("annotation:study-delete", uid=study.uid)
        messages.success(request, _("“%(name)s” was deleted.") % {"name": study.name})
        return redirect("annotation:studies")
    context = {
        "study": study,
        "problems": studies.deletion_problems(study),
        "n_tasks": study.assignments.count() + study.label_tasks.count(),
        "n_members": study.memberships.count(),
    }
    return page(request, "annotation/study_delete.html", context)


@requires("annotation.add_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_clone(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Copy the settings of a study into a new one."""
    study = study_of(request, uid)
    name = _("%(name)s (copy)") % {"name": study.name[:110]}
    form = CloneForm(request.POST or None, initial={"name": name})
    if request.method == "POST" and form.is_valid():
        copy = studies.clone_study(
            study=study,
            name=form.cleaned_data["name"],
            with_annotators=form.cleaned_data["with_annotators"],
            by=request.user,
            now=timezone.now(),
        )
        messages.success(request, _("Copied. No task has been given yet."))
        return redirect("annotation:study-settings", uid=copy.uid)
    context = {"study": study, "form": form}
    return page(request, "annotation/study_clone.html", context, status=422 if form.errors else 200)


def _form_page(
    request: HttpRequest,
    form: StudyForm,
    *,
    study: Study | None = None,
    found: Preview | None = None,
    status: int | None = None,
) -> HttpResponse:
    if found is None and form.is_bound:
        found = _preview_of(form)
    elif found is None and study is not None:
        found = preview(
            subtopics=list(study.writing_plan.subtopics.select_related("haystack").order_by("haystack", "number")),
            rule=rule_of(study.writing_plan),
            limit_ms=study.writing_plan.limit_ms,
        )
    context = {"form": form, "study": study, "preview": found}
    has_errors = form.is_bound and bool(form.errors)
    return page(request, "annotation/study_form.html", context, status=status or (422 if has_errors else 200))


def _preview_of(form: StudyForm) -> Preview | None:
    """The preview of a form whose other fields may still be wrong; None while its own are."""
    if RULE_FIELDS & set(form.errors) or not form.chosen_subtopics():
        return None
    data = form.cleaned_data
    rule = Rule(
        setting=data["setting"],
        token_budget=data["token_budget"],
        include_zero_insight=data["include_zero_insight"],
        retriever=data["retriever"],
    )
    return preview(subtopics=form.chosen_subtopics(), rule=rule, limit_ms=int(data["limit_minutes"] * 60_000))


def _with_hidden_members(study: Study, form: StudyForm) -> list[Any]:
    """The chosen researchers, and those whom the form does not offer: oneself, people who are inactive."""
    offered = form.fields["researchers"].queryset  # type: ignore[attr-defined]
    kept = study.researchers.exclude(pk__in=offered.values("pk"))
    return [*form.cleaned_data["researchers"], *kept]


def _counts(members: list[dict[str, Any]]) -> dict[str, int]:
    return {
        state: sum(getattr(row["member"], f"n_{state}") for row in members)
        for state in ("assigned", "started", "done")
    }


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError as problem:
        raise Http404 from problem
