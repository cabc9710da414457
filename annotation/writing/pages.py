"""The pages of a writing session as its writer sees them; saving and the clock answer in `views`.

Documents are in the page of a running session and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, get_language_info, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation import clock
from annotation.models import Assignment, CreditRequest, Session, SessionReport
from annotation.studies import consent
from annotation.writing import assigning, results, sessions, settling
from annotation.writing.eligibility import NotEligible
from annotation.writing.locking import lapse_of
from annotation.writing.page_context import (
    client_config,
    facts,
    fixed_parts,
    late_facts,
    start_facts,
    unstored_session,
    why_not,
    with_documents,
)
from annotation.writing.scoring import text_of
from annotation.writing.sessions import OtherSession
from benchmarks.engine import texts
from benchmarks.io.schemas.topics import TopicDocument
from benchmarks.judges.base import ItemRef, SummaryToJudge
from benchmarks.judges.registry import default_config, offline_judge
from benchmarks.models import Insight
from benchmarks.results.computation import CannotCompute, Computation, register
from benchmarks.results.stored import look_up
from benchmarks.scoring.sessions import InsightFeedback, feedback_on
from benchmarks.scoring.text import bullets, lines_from_list
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
    row.draft_text = shown["summary"]
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
    return with_documents(request, row, context)


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
        open_ones = Session.objects.with_open_questions().filter(pk=row.pk)
        Session.objects.filter(pk__in=open_ones.values("pk")).update(questions_declined_at=now)
        return redirect("annotation:work")
    form = ReportForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        said = {name: form.cleaned_data[name] == "yes" for name in ("time_was_enough", "used_no_model")}
        said |= {"comment": form.cleaned_data["comment"], "at": now}
        SessionReport.objects.get_or_create(session=row, defaults=said)  # a second click changes nothing
        messages.success(request, _("Thank you. Your answers are saved."))
        return redirect("annotation:work")
    context = facts(row, now) | late_facts(row) | {"earned": earned(session=row, now=now), "form": form}
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
        CreditRequest.objects.create(session=row, at=now, **form.cleaned_data)
        return redirect("annotation:session-own", row.uid)
    context = facts(row, now) | late_facts(row) | {"earned": earned(session=row, now=now), "form": form}
    context["requests"] = row.credit_requests.select_related("credit")
    return render(request, "annotation/session_own.html", context, status=422 if form.errors else 200)


def _session(request: HttpRequest, uid: UUID, now: datetime) -> Session:
    """The person's session with all that a page of it needs, its clock brought to `now`."""
    rows = Session.objects.for_pages().filter(annotator__user=request.user.pk)
    row = get_object_or_404(rows, uid=uid)
    return row if settling.settle(session=row, now=now) is row else rows.get(pk=row.pk)


# Forms


class StartForm(forms.Form):
    no_model = forms.BooleanField(
        label=gettext_lazy(
            "I write this myself: no language model, no writing assistant, no help from other people."
        ),
        error_messages={"required": gettext_lazy("Please confirm this before you start.")},
    )


class ReportForm(forms.Form):
    time_was_enough = forms.ChoiceField(
        label=gettext_lazy("Was there enough time to work without rushing?"),
        choices=[("yes", gettext_lazy("Yes")), ("no", gettext_lazy("No"))],
        widget=forms.RadioSelect,
    )
    used_no_model = forms.ChoiceField(
        label=gettext_lazy("Did you write it without a language model, as promised?"),
        choices=[("yes", gettext_lazy("Yes")), ("no", gettext_lazy("No, I used one"))],
        widget=forms.RadioSelect,
        help_text=gettext_lazy("Answering no has no consequences."),
    )
    comment = forms.CharField(
        label=gettext_lazy("Any comments on the task, the documents or the page?"),
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 5}),
    )


class TimeForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Comment on the measured time"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy(
            "For example: the connection was lost, or somebody was at the door and you could not pause."
        ),
    )
    minutes = forms.IntegerField(
        label=gettext_lazy("Time to credit (minutes), if any"),
        required=False,
        min_value=1,
        max_value=600,
        help_text=gettext_lazy("An admin decides, and answers on this page."),
    )


# A sample


def sample() -> dict[str, Any]:
    """Documents and a summary of them, in the language that is active."""
    language = get_language() or "en"
    texts = {
        3: _("The documents of your task are here once the clock runs. This one says that fares rise in May."),
        7: _("Look for what several documents say. This one says so too: from May on, tickets cost more."),
    }
    return {
        "language": language,
        "direction": "rtl" if get_language_info(language)["bidi"] else "ltr",
        "documents": [TopicDocument(str(number), number, text, _("A sample")) for number, text in texts.items()],
        "summary": _("- Fares rise in May. [3, 7]"),
    }


# Practice


@dataclass(frozen=True, slots=True)
class OfPractice:
    """A practice session by its primary key."""

    session: int


@dataclass(frozen=True, slots=True)
class OtherBullet:
    """A bullet that covers no insight, and what it cites; `unknown` are no documents of the session."""

    text: str
    cited: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Practised:
    """The insights that the shown documents have, each found or missed; then the bullets that match none."""

    insights: tuple[InsightFeedback, ...]
    others: tuple[OtherBullet, ...] = ()


def insights_of(session: Session) -> list[Insight]:
    """The reference insights that the documents of a session have."""
    shown = set(session.document_numbers)
    rows = Insight.objects.filter(subtopic=session.assignment.subtopic_id).order_by("number")
    return [insight for insight in rows if shown.intersection(insight.gold_documents)]


def _compute(options: OfPractice) -> Practised:
    rows = Session.objects.filter(pk=options.session, assignment__is_practice=True, state__in=clock.OVER)
    session: Session | None = rows.select_related("assignment__subtopic").first()
    if session is None:
        raise CannotCompute("This practice session is gone.")
    insights = insights_of(session)
    raw = tuple(text_of(session.draft_text).split("\n"))
    lines = lines_from_list(raw)
    refs = tuple(ItemRef(str(insight.pk), insight.text) for insight in insights)
    background = texts.of_haystack(session.assignment.subtopic.haystack_id)
    judge = offline_judge("lexical", default_config())
    [verdicts] = judge.judge_coverage([SummaryToJudge(str(session.pk), raw, refs)], background)
    by_key = {verdict.insight_key: verdict for verdict in verdicts}
    return Practised(
        tuple(
            feedback_on(
                text=insight.text,
                gold=insight.gold_documents,
                shown=session.document_numbers,
                lines=lines,
                coverage=verdict.coverage,
                covering=verdict.lines,
                probabilities=verdict.probabilities,
            )
            for insight in insights
            for verdict in [by_key[str(insight.pk)]]
        ),
        tuple(
            OtherBullet(line.plain, line.citations, tuple(sorted({*line.citations} - {*session.document_numbers})))
            for line in bullets(lines)
            if line.number not in {number for verdict in verdicts for number in verdict.lines}
        ),
    )


def _facts(options: OfPractice) -> object:
    """The text, the documents and the insights, which are those of a version of the haystack."""
    rows = Session.objects.filter(pk=options.session, assignment__is_practice=True)
    text = rows.values_list("state", "draft_text", "assignment__subtopic__haystack__content_sha256").first()
    insights = Insight.objects.filter(subtopic__assignments__session=options.session).order_by("number")
    return text, list(insights.values_list("pk", "number"))


PRACTISED = register(Computation("practice", OfPractice, Practised, _compute, _facts))


# Afterwards


def earned(*, session: Session, now: datetime) -> results.Earning | None:
    """Pay of a session; None for practice and in a study that pays nothing."""
    study = session.assignment.study
    return results.earning_of(session, study, now) if study and study.hourly_rate else None
