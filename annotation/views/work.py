"""Pages of an annotator: tasks, own texts, time and earnings, guidelines. Only ever the person's own."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import assigning, consent, earnings, studies, tasklist
from annotation.consent_gate import open_without_consent
from annotation.forms import ReasonForm
from annotation.guidelines import current_guideline, render_markdown
from annotation.models import Membership, Session
from annotation.views.scope import annotator_behind
from annotation.writing import snapshots
from annotation.writing.marks import FilledBy
from annotation.writing.page_context import leftovers_config
from benchmarks.web.pages import page
from benchmarks.web.permissions import requires


@requires("annotation.do_work")
@require_safe
@never_cache
def work(request: HttpRequest) -> HttpResponse:
    """The tasks of this person, and what has to come first."""
    annotator, now = annotator_behind(request), timezone.now()
    snapshots.settle_due(now=now, filled_by=FilledBy.REQUEST, among=Session.objects.filter(annotator=annotator))
    board = tasklist.board(annotator, now)
    context = {
        "board": board,
        "contacts": tasklist.contacts(annotator),
        "leftovers_json": leftovers_config(annotator.uid),
    }
    return page(request, "annotation/work.html", context)


@requires("annotation.do_work")
@require_POST
def practice(request: HttpRequest) -> HttpResponse:
    """Open the practice session, made when it is first asked for."""
    annotator, now = annotator_behind(request), timezone.now()
    consent.ensure_default_consent(now=now)
    if not consent.is_given(annotator):
        return redirect("annotation:consent")
    task = assigning.practice_assignment(annotator=annotator, now=now)
    if task is None:
        messages.info(request, _("There is nothing to practise on here."))
        return redirect("annotation:work")
    return redirect("annotation:session-start", task.uid)


@requires("annotation.do_work")
@require_safe
@never_cache
def own_work(request: HttpRequest) -> HttpResponse:
    """What this person has handed in."""
    annotator = annotator_behind(request)
    context = {
        "sessions": tasklist.finished_sessions(annotator),
        "labelling": sorted(
            (job for job in tasklist.labelling_jobs(annotator) if job.is_begun), key=lambda job: job.study.kind
        ),
        "contacts": tasklist.contacts(annotator),
    }
    return page(request, "annotation/work_done.html", context)


@requires("annotation.do_work")
@require_safe
@never_cache
def own_earnings(request: HttpRequest) -> HttpResponse:
    """Measured time and pay of this person, per session and study."""
    annotator = annotator_behind(request)
    rows = tasklist.own_earnings(annotator, timezone.now())
    labelling = tasklist.labelling_jobs(annotator)
    context = {
        "rows": rows,
        "totals": earnings.by_study(rows),
        "labelling": [job for job in labelling if job.worked_ms],
        "contacts": tasklist.contacts(annotator),
    }
    return page(request, "annotation/work_earnings.html", context)


@requires("annotation.do_work")
@require_safe
def study_guidelines(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The guidelines of a study this person takes, or took, part in."""
    study = _membership(request, uid, current=False).study
    guideline = current_guideline(study)
    context = {
        "study": study,
        "guideline": guideline,
        "html": render_markdown(guideline.body) if guideline else "",
    }
    return page(request, "annotation/guidelines.html", context)


@requires("annotation.do_work")
@require_http_methods(["GET", "HEAD", "POST"])
@open_without_consent
def study_leave(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Leave a study: open tasks go, what was written and earned stays."""
    member = _membership(request, uid, current=True)
    form = ReasonForm(request.POST or None)
    form.fields["reason"].required = False
    if request.method == "POST" and form.is_valid():
        studies.remove_annotator(
            study=member.study,
            annotator=member.annotator,
            reason=form.cleaned_data["reason"] or _("left"),
            by=request.user,
            now=timezone.now(),
        )
        messages.success(
            request, _("You have left “%(name)s”. What you have earned stays.") % {"name": member.study.name}
        )
        return redirect("annotation:work")
    context = {
        "study": member.study,
        "form": form,
        **studies.unfinished_of(study=member.study, annotator=member.annotator),
    }
    return page(request, "annotation/study_leave.html", context, status=422 if form.errors else 200)


def _membership(request: HttpRequest, uid: uuid.UUID, *, current: bool) -> Membership:
    members = annotator_behind(request).memberships.select_related("study", "annotator")
    if current:
        members = members.filter(left_at=None)
    member: Membership = get_object_or_404(members, study__uid=uid)
    return member
