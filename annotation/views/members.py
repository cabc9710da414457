"""Who takes part in a study."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation import studies
from annotation.forms import AddAnnotatorsForm, MemberLimitForm, ReasonForm, member_initial
from annotation.models import Membership, Study
from annotation.views.scope import any_study_of, study_of
from benchmarks.web.pages import page
from benchmarks.web.permissions import requires


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_annotators(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Members, those who left, and people who could be added."""
    study = study_of(request, uid)
    form = AddAnnotatorsForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        added = studies.add_annotators(
            study=study, annotators=form.cleaned_data["annotators"], by=request.user, now=timezone.now()
        )
        messages.success(request, ngettext("%(n)d person added.", "%(n)d people added.", added) % {"n": added})
        return redirect("annotation:study-annotators", uid=study.uid)
    plan = study.writing_plan
    rows = [
        {
            "member": member,
            "limit_ms": studies.limit_ms_of(plan=plan, annotator=member.annotator, membership=member),
        }
        for member in study.memberships.with_progress().order_by("number")
    ]
    context = {
        "study": study,
        "form": form,
        "members": [row for row in rows if row["member"].left_at is None],
        "left": [row for row in rows if row["member"].left_at is not None],
    }
    return page(request, "annotation/study_annotators.html", context, status=422 if form.errors else 200)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def annotator_remove(request: HttpRequest, uid: uuid.UUID, annotator: uuid.UUID) -> HttpResponse:
    """Let somebody leave; their tasks that nobody has begun are withdrawn."""
    member = _member(request, uid, annotator)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        removal = studies.remove_annotator(
            study=member.study,
            annotator=member.annotator,
            reason=form.cleaned_data["reason"],
            by=request.user,
            now=timezone.now(),
        )
        messages.success(request, _removed(member, removal))
        is_writing = member.study.kind == Study.Kind.WRITING
        return redirect("annotation:study-assignments" if is_writing else "annotation:study", uid=member.study.uid)
    context = {
        "study": member.study,
        "member": member,
        "form": form,
        **studies.unfinished_of(study=member.study, annotator=member.annotator),
    }
    return page(request, "annotation/study_annotator_remove.html", context, status=422 if form.errors else 200)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def annotator_limit(request: HttpRequest, uid: uuid.UUID, annotator: uuid.UUID) -> HttpResponse:
    """Another time limit for one person."""
    member = _member(request, uid, annotator)
    if member.study.kind != Study.Kind.WRITING:
        raise Http404
    form = MemberLimitForm(request.POST or None, initial=member_initial(member))
    if request.method == "POST" and form.is_valid():
        studies.set_member_limit(membership=member, limit_ms=form.limit_ms(), by=request.user, now=timezone.now())
        messages.success(request, _("Saved; it holds for sessions that have not begun."))
        return redirect("annotation:study-annotators", uid=member.study.uid)
    context = {"study": member.study, "member": member, "form": form}
    return page(request, "annotation/study_annotator_limit.html", context, status=422 if form.errors else 200)


def _member(request: HttpRequest, uid: uuid.UUID, annotator: uuid.UUID) -> Membership:
    members = any_study_of(request, uid).memberships.current()
    member: Membership = get_object_or_404(
        members.select_related("study__writing_plan", "annotator__user"), annotator__uid=annotator
    )
    return member


def _removed(member: Membership, removal: studies.Removal) -> str:
    text = _("%(name)s has left the study; tasks withdrawn: %(n)d.") % {
        "name": member.annotator.label,
        "n": removal.n_withdrawn,
    }
    if removal.n_begun:
        text += " " + _("Tasks begun that stay theirs: %(n)d.") % {"n": removal.n_begun}
    return text
