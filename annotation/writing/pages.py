"""The pages of a writing session as its writer sees them; saving and the clock answer in `views`.

Documents are in the page of a running session and nowhere else.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation import clock
from annotation.models import Assignment, Session
from annotation.pane import pane_for, respond
from annotation.studies import consent
from annotation.writing import afterwards, assigning, sessions, settling
from annotation.writing.eligibility import NotEligible
from annotation.writing.locking import lapse_of
from annotation.writing.page_context import client_config, facts, fixed_parts, late_facts, start_facts, why_not
from annotation.writing.page_forms import ReportForm, StartForm, TimeForm
from annotation.writing.practising import PRACTISED, OfPractice, insights_of
from annotation.writing.preview import unstored_session
from annotation.writing.sample import sample
from annotation.writing.sessions import OtherSession
from benchmarks.results.stored import look_up
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires

DO_WORK = "annotation.do_work"


@requires(DO_WORK)
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def start(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Tell the rules and what is recorded; a POST with the promise starts the clock."""
    tasks = Assignment.objects.for_annotator(request.user).for_start()
    assignment = get_object_or_404(tasks, uid=uid)
    begun = Session.objects.filter(assignment=assignment).exclude(state=Session.State.READY).first()
    if begun is not None:
        return redirect("annotation:session", begun.uid)
    now = timezone.now()
    form = StartForm(request.POST if request.method == "POST" else None)
    obstacle: dict[str, Any] = {}
    try:
        assigning.ensure_still_eligible(assignment=assignment, now=now)
        if form.is_valid():
            started = sessions.start(assignment=assignment, attested=True, now=now)
            return redirect("annotation:session", started.uid)
    except NotEligible as error:
        obstacle = why_not(error)
    except OtherSession:
        form.add_error(None, _("Your clock is running in another session. Pause or submit that one first."))
        obstacle["running"] = Session.objects.filter(
            annotator=assignment.annotator, state=Session.State.RUNNING
        ).first()
    context = start_facts(assignment) | obstacle | {"form": form}
    return render(request, "annotation/session_start.html", context, status=422 if form.errors else 200)


@requires(DO_WORK)
@require_safe
@never_cache
def tour(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The work page with sample documents and no clock, for the tour, which leads back to where it was begun."""
    assignment = get_object_or_404(Assignment.objects.for_annotator(request.user).for_start(), uid=uid)
    now = timezone.now()
    row = unstored_session(assignment, started_at=now)
    shown = sample()
    row.draft_text = shown.summary
    context = facts(row, now) | {"config_json": client_config(row, now), "sample": shown}
    context["tour_leads"] = reverse("annotation:session-start", args=[uid])
    return render(request, "annotation/session_tour.html", context | fixed_parts(row))


@requires(DO_WORK)
@require_safe
@never_cache
def session(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The work page while the session runs; a page without documents while it is paused."""
    now = timezone.now()
    row = _session(request, uid, now)
    if row.state == Session.State.READY:
        return redirect("annotation:session-start", row.assignment.uid)
    if row.state in clock.OVER:
        return redirect("annotation:session-after", row.uid)
    if not consent.lets_work(request.user):
        return redirect("annotation:consent")
    context = facts(row, now) | {"config_json": client_config(row, now)}
    if row.state == Session.State.PAUSED:
        lapse = lapse_of(row)
        context |= late_facts(row)
        context["paused_itself"] = lapse is not None and lapse.is_lease
        context["requests"] = row.credit_requests.select_related("credit")
        return render(request, "annotation/session_paused.html", context)
    page = render(request, "annotation/session.html", context | fixed_parts(row))
    pane = pane_for(
        row.assignment.subtopic.haystack,
        row.document_numbers,
        click_to_cite=bool(row.config.get("click_to_cite")),
    )
    return respond(request, page, pane)


@requires(DO_WORK)
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def after(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The questions after a session; once answered or declined, or where none are asked, the person's own work."""
    now = timezone.now()
    row = _session(request, uid, now)
    if row.state not in clock.OVER:
        return redirect("annotation:session", row.uid)
    if row.assignment.is_practice:
        return redirect("annotation:session-practised", row.uid)
    if row.state == Session.State.VOIDED or hasattr(row, "report") or row.questions_declined_at:
        return redirect("annotation:session-own", row.uid)
    if request.method == "POST" and "decline" in request.POST:
        afterwards.decline_questions(session=row, now=now)
        return redirect("annotation:work")
    form = ReportForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        afterwards.report(
            session=row,
            time_was_enough=form.cleaned_data["time_was_enough"] == "yes",
            used_no_model=form.cleaned_data["used_no_model"] == "yes",
            comment=form.cleaned_data["comment"],
            now=now,
        )
        messages.success(request, _("Thank you. Your answers are saved."))
        return redirect("annotation:work")
    context = facts(row, now) | late_facts(row) | _ending(row, now) | {"form": form}
    return render(request, "annotation/session_after.html", context, status=422 if form.errors else 200)


@requires(DO_WORK)
@require_safe
@never_cache
def practised(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """The reference insights of a practice session that is over, found or missed, and what to do next.

    Until a worker has compared them the page has the insights alone, and asks again.
    """
    now = timezone.now()
    row = _session(request, uid, now)
    if row.state not in clock.OVER or not row.assignment.is_practice:
        return redirect("annotation:session-after", row.uid)
    shown = look_up(PRACTISED, OfPractice(row.pk), now=now)
    context = facts(row, now) | {
        "shown": shown,
        "insights": insights_of(row) if shown.figures is None else (),
        "n_found": sum(insight.is_found for insight in shown.figures.insights) if shown.figures else 0,
    }
    return page(request, "annotation/session_practised.html", context)


@requires(DO_WORK)
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def own_results(request: HttpRequest, uid: UUID) -> HttpResponse:
    """A person's own work after its end, to read; remarks on the measured time go here."""
    now = timezone.now()
    row = _session(request, uid, now)
    if row.state not in clock.OVER:
        return redirect("annotation:session", row.uid)
    form = TimeForm(request.POST if request.method == "POST" else None)
    if not row.assignment.is_practice and form.is_valid():
        afterwards.ask_for_time(session=row, now=now, **form.cleaned_data)
        return redirect("annotation:session-own", row.uid)
    context = facts(row, now) | late_facts(row) | _ending(row, now)
    context |= {"form": form, "requests": row.credit_requests.select_related("credit")}
    return render(request, "annotation/session_own.html", context, status=422 if form.errors else 200)


def _ending(row: Session, now: datetime) -> dict[str, Any]:
    return {"earned": afterwards.earned(session=row, now=now)}


def _session(request: HttpRequest, uid: UUID, now: datetime) -> Session:
    """The person's session with all that a page of it needs, its clock brought to `now`."""
    rows = Session.objects.for_pages().filter(annotator__user=request.user.pk)
    row = get_object_or_404(rows, uid=uid)
    return row if settling.settle(session=row, now=now) is row else rows.get(pk=row.pk)
