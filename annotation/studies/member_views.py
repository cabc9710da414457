"""Who takes part in a study, and what there is to work on: people and items to add, people to remove."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.models import Membership, Study
from annotation.studies import members
from annotation.studies.amounts import in_figures
from annotation.studies.forms import PeopleForm, ReasonForm
from annotation.studies.kind import (
    ARCHIVED,
    NotPossible,
    Work,
    blocked_in,
    gaps_of,
    has_plan,
    held_in,
    work_of,
)
from annotation.studies.scope import study_of
from benchmarks.web.lists import Column, MemoryTable
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires


class MemberTable(MemoryTable):
    member = Column("Annotator", "member__annotator__label", is_searched=True)
    number = Column("In exports", "member__pseudonym", is_searched=True)
    joined = Column("Joined", "member__joined_at", high_first=True)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def study_annotators(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Members, those who left, people and items that could be added. Work that was begun stays where it is.

    The forms are sent with action "people" (also where none is named), "items", "deal" or "release".
    """
    study = study_of(request, uid)
    work = work_of(study)
    if not has_plan(study):
        raise Http404
    if request.method == "POST" and study.state == Study.State.ARCHIVED:
        messages.error(request, ARCHIVED)
        return redirect("annotation:study", uid=study.uid)
    if request.POST.get("action") == "release":
        return _take_back(request, study)
    action = request.POST.get("action", "people") if request.method == "POST" else ""
    people = PeopleForm(
        request.POST if action == "people" else None, study=study, user=request.user, deals=work.deals
    )
    sent = (request.POST, request.FILES) if action == "items" else (None, None)
    items = work.items_form(*sent, user=request.user, study=study) if work.items_form is not None else None
    if action and _do(request, work, study, action=action, people=people, items=items):
        return redirect("annotation:study" if work.deals else "annotation:study-annotators", uid=study.uid)
    rows, gaps = work.member_rows(study), gaps_of(study)
    members_now = [row for row in rows if row["member"].left_at is None]
    context = {
        "study": study,
        "kind": work,
        "people": people,
        "form": items,
        "short": work.short_of(study, gaps),
        "blocked": blocked_in(study, gaps, request.user),
        "held": held_in(study, gaps),
        "table": MemberTable(members_now, request.GET, extra_columns=work.columns_of_members(study).items()),
        "left": [row for row in rows if row["member"].left_at is not None],
    }
    return page(request, work.people_template, context, status=422 if action else 200)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def annotator_remove(request: HtmxHttpRequest, uid: uuid.UUID, annotator: uuid.UUID) -> HttpResponse:
    """Let somebody leave; their tasks that nobody has begun are withdrawn."""
    member = member_of(study_of(request, uid), annotator)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        n_withdrawn, n_begun = members.remove_annotator(
            study=member.study,
            annotator=member.annotator,
            reason=form.cleaned_data["reason"],
            by=request.user,
            now=timezone.now(),
        )
        text = f"{member.annotator.label} has left the study; tasks withdrawn: {n_withdrawn}."
        if n_begun:
            text += f" Tasks begun that stay theirs: {n_begun}."
        messages.success(request, text)
        return redirect(work_of(member.study).tasks_page, uid=member.study.uid)
    context = {
        "study": member.study,
        "member": member,
        "form": form,
        "has_tasks": bool(work_of(member.study).words),
        **members.unfinished_of(study=member.study, annotator=member.annotator),
    }
    return page(request, "annotation/study_annotator_remove.html", context, status=422 if form.errors else 200)


def _take_back(request: HttpRequest, study: Study) -> HttpResponse:
    """Free the tasks of people who cannot work; the page then says what is missing."""
    n = members.release_absent(study=study, by=request.user, now=timezone.now())
    text = in_figures(n, "task was taken back.", "tasks were taken back.")
    (messages.success if n else messages.info)(request, text)
    return redirect("annotation:study-annotators", uid=study.uid)


def member_of(study: Study, annotator: uuid.UUID) -> Membership:
    """Somebody who takes part in a study now; 404 for anybody else."""
    current = study.memberships.current().select_related("study", "annotator__user")
    member: Membership = get_object_or_404(current, annotator__uid=annotator)
    return member


def _do(request: HttpRequest, work: Work, study: Study, *, action: str, people: PeopleForm, items: Any) -> bool:
    """Do what a form asks and deal what is missing; False where it is not right."""
    how: dict[str, Any] = {"study": study, "by": request.user, "now": timezone.now()}
    rebalance, n_added = False, 0
    if action == "people":
        if not people.is_valid():
            return False
        n_added = members.add_annotators(annotators=people.cleaned_data["annotators"], **how)
        rebalance = people.cleaned_data.get("rebalance", False)
    elif action == "items" and items is not None:
        if not items.is_valid():
            return False
        try:
            work.add_items(form=items, **how)
        except NotPossible as problem:
            items.add_error(problem.field, str(problem))
            return False
    elif action != "deal" or not work.deals:
        raise Http404
    if work.deals:
        dealt = work.deal(rebalance=rebalance, **how)
        n = n_added = dealt.n_new
        if dealt.n_set_aside:
            told = in_figures(
                dealt.n_set_aside,
                "trial example is an item of the study now, so new tries leave it out.",
                "trial examples are items of the study now, so new tries leave them out.",
            )
            messages.warning(request, told)
        text = in_figures(n, "task was assigned.", "tasks were assigned.")
    else:
        text = in_figures(n_added, "person added.", "people added.")
    (messages.success if n_added else messages.warning)(request, text)
    return True
