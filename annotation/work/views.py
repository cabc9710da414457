"""Pages of an annotator: tasks, own texts and answers, time and earnings, guidelines, consent, the end of a study.

They show only ever what is the person's own.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import clock
from annotation.kinds import label_kinds
from annotation.labelling.handling import have_read
from annotation.labelling.kind import task_page_of
from annotation.labelling.recording import AnswerKind
from annotation.labelling.task_page import QuestionText, listed, page_of
from annotation.labelling.views import ANSWERS, own_task_named, own_tasks
from annotation.models import Annotator, LabelTask, Membership, RemarkReply, Session, Study
from annotation.people.earnings import earned_by, labelling_jobs, last_days
from annotation.people.recruitment import outcomes
from annotation.studies import consent, members
from annotation.studies.amounts import pay
from annotation.studies.consent import open_without_consent
from annotation.studies.forms import ConsentForm, ReasonForm
from annotation.studies.guidelines import current_guideline, guideline_html, in_active_language, translation_of
from annotation.studies.rhythm import course_of_pace, day_of, goal_of, preferences_of
from annotation.studies.scope import annotator_behind
from annotation.work import preference_views, tasklist
from annotation.writing import assigning, settling
from annotation.writing.locking import FilledBy
from annotation.writing.page_context import leftovers_config
from benchmarks.web.pages import HtmxHttpRequest, page, render_markdown
from benchmarks.web.permissions import LOGGED_IN, requires

SHOWN = 20


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """A question, its answer and when; `url` is the item, which takes changes while the study is open."""

    study: Study
    question: QuestionText
    answer: str
    made_at: datetime
    url: str

    @property
    def can_be_changed(self) -> bool:
        return bool(self.study.state == Study.State.OPEN)


def last_answers(annotator: Annotator, *, back: str = "") -> list[LastAnswer]:
    """The last twenty answers that hold, optional ones too, the newest first; a few queries for each kind.

    Their items lead `back`, as `page_of` takes it.
    """
    visible = LabelTask.objects.filter(annotator=annotator).visible()
    rows: list[tuple[AnswerKind[Any], Callable[[Any], QuestionText], Any]] = []
    for value in label_kinds():
        kind = task_page_of(value)
        if kind is None:
            continue
        parts = (
            (kind.answers, kind.question_of, kind.question_rows),
            (kind.beside, kind.question_beside, kind.beside_rows),
        )
        for answers, question_of, joined in parts:
            if answers is None:
                continue
            current = answers.model.objects.filter(is_current=True, annotator=annotator, task__in=visible)
            shown = current.select_related("task__study", "task__item__summary", *joined)
            rows += [(answers, question_of, row) for row in shown.order_by("-made_at", "-pk")[: 2 * SHOWN]]
    rows.sort(key=lambda each: each[2].made_at, reverse=True)
    read = (_read(*each, back=back) for each in rows)
    return [each for each in read if each.answer][:SHOWN]  # a cleared answer says nothing


def _read(
    answers: AnswerKind[Any], question_of: Callable[[Any], QuestionText], row: Any, *, back: str
) -> LastAnswer:
    task = row.task
    insight = row.insight.uid if answers.by_insight else None
    return LastAnswer(
        study=task.study,
        question=question_of(row),
        answer=answers.in_words(task, answers.answer_of(row)),
        made_at=row.made_at,
        url=page_of(task.study.kind, task.uid, insight, back=back),
    )


HELP = Path(__file__).with_name("help.md")


@requires("annotation.do_work")
@require_safe
@never_cache
def work(request: HtmxHttpRequest) -> HttpResponse:
    """The tasks of this person, and what has to come first."""
    annotator, now = annotator_behind(request), timezone.now()
    settling.settle_due(now=now, filled_by=FilledBy.REQUEST, among=Session.objects.filter(annotator=annotator))
    board = tasklist.board(annotator, now)
    context = {
        "board": board,
        "rhythm": _rhythm_of(annotator, now),
        "n_news": LabelTask.objects.filter(annotator=annotator).with_news().count(),
        "endings": outcomes.endings(annotator, now=now),
        "has_withdrawn": not consent.lets_work(request.user),
        "contacts": tasklist.contacts(annotator),
        "leftovers_json": leftovers_config(annotator.uid),
    }
    return page(request, "annotation/work.html", context)


@requires("annotation.do_work")
@require_POST
def practice(request: HttpRequest) -> HttpResponse:
    """Open the practice session, made when it is first asked for; note the task `for` which it was asked."""
    annotator, now = annotator_behind(request), timezone.now()
    consent.ensure_default_consent(now=now)
    if not consent.is_given(annotator):
        return redirect("annotation:consent")
    task = assigning.practice_assignment(annotator=annotator, now=now)
    if task is None:
        messages.info(request, _("There is nothing to practise on here."))
        return redirect("annotation:work")
    if "for" in request.POST:
        request.session["practised_for"] = request.POST["for"]
    return redirect("annotation:session-start", task.uid)


@requires("annotation.do_work")
@require_safe
@never_cache
def own_work(request: HtmxHttpRequest) -> HttpResponse:
    annotator = annotator_behind(request)
    context = {
        "sessions": Session.objects.filter(annotator=annotator, state__in=clock.OVER)
        .select_related("assignment__study", "assignment__subtopic__haystack")
        .order_by("-ended_at", "-pk"),
        "labelling": sorted(
            (job for job in labelling_jobs(annotator) if job.is_begun), key=lambda job: job.study.kind
        ),
        "contacts": tasklist.contacts(annotator),
    }
    return page(request, "annotation/work_done.html", context)


@requires("annotation.do_work")
@require_safe
@never_cache
def own_answers(request: HtmxHttpRequest) -> HttpResponse:
    """The last twenty answers of this person, each a link to its item, which leads back to `from` or here."""
    annotator = annotator_behind(request)
    left = own_task_named(request, request.GET.get("from", ""))
    context = {
        "answers": last_answers(annotator, back=str(left.uid) if left else ANSWERS),
        "left_url": page_of(left.study.kind, left.uid) if left else "",
        "contacts": tasklist.contacts(annotator),
    }
    return page(request, "annotation/work_answers.html", context)


@requires("annotation.do_work")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def replies(request: HtmxHttpRequest) -> HttpResponse:
    """Replies of researchers to this person's flags and comments; a POST marks all of it as read."""
    annotator = annotator_behind(request)
    tasks = LabelTask.objects.filter(annotator=annotator)
    if request.method == "POST":
        have_read(tasks=tasks, now=timezone.now())
        return redirect("annotation:replies")
    rows = RemarkReply.objects.filter(task__in=tasks).select_related("task__study").order_by("-made_at", "-pk")
    answers = [(row, page_of(row.task.study.kind, row.task.uid)) for row in rows[:100]]
    return page(request, "annotation/work_replies.html", {"replies": answers})


@requires("annotation.do_work")
@require_safe
@never_cache
def own_earnings(request: HtmxHttpRequest) -> HttpResponse:
    annotator, now = annotator_behind(request), timezone.now()
    earned = earned_by(annotator, now)
    context = {
        "earned": earned,
        "days": last_days(annotator, earned, now=now),
        "contacts": tasklist.contacts(annotator),
    }
    return page(request, "annotation/work_earnings.html", context)


@requires("annotation.do_work")
@require_safe
def study_guidelines(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The guidelines of a study this person takes, or took, part in."""
    study = _membership(request, uid, current=False).study
    guideline = current_guideline(study)
    context = {
        "study": study,
        "guideline": guideline,
        "html": guideline_html(guideline),
        "original": render_markdown(guideline.body) if guideline and translation_of(guideline) else "",
    }
    return page(request, "annotation/guidelines.html", context)


@requires("annotation.do_work")
@require_http_methods(["GET", "HEAD", "POST"])
@open_without_consent
def study_leave(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Leave a study: open tasks go, what was written and earned stays."""
    member = _membership(request, uid, current=False)
    if member.left_at is not None:
        return redirect("annotation:work")
    form = ReasonForm(request.POST or None)
    form.fields["reason"].required = False
    if request.method == "POST" and form.is_valid():
        # Who is through with all tasks has completed the study, and can then leave it.
        outcomes.settle(outcomes.rows_of(member.annotator), now=timezone.now())
        members.remove_annotator(
            study=member.study,
            annotator=member.annotator,
            reason=form.cleaned_data["reason"] or "left",
            by=request.user,
            now=timezone.now(),
        )
        said = _("You have left “%(name)s”. You keep what you have earned.")
        if not member.study.hourly_rate:
            said = _("You have left “%(name)s”.")
        messages.success(request, said % {"name": member.study.name})
        return redirect("annotation:work")
    context = {
        "study": member.study,
        "form": form,
        **members.unfinished_of(study=member.study, annotator=member.annotator),
    }
    return page(request, "annotation/study_leave.html", context, status=422 if form.errors else 200)


@requires("annotation.do_work")
@require_http_methods(["GET", "HEAD", "POST"])
@open_without_consent
def consent_page(request: HtmxHttpRequest) -> HttpResponse:
    """Read the current text, and agree to it once."""
    annotator = annotator_behind(request)
    text = consent.current_text()
    form = ConsentForm(request.POST or None, initial={"version": text.version if text else None})
    if request.method == "POST" and form.is_valid():
        try:
            consent.give(annotator=annotator, version=form.cleaned_data["version"], now=timezone.now())
        except consent.StaleConsentText:
            messages.warning(request, _("The text has changed meanwhile; please read the new one."))
            return redirect("annotation:consent")
        messages.success(request, _("Thank you. You can withdraw at any time: follow “Consent” below your tasks."))
        return redirect("annotation:work")
    if form.errors:
        form.fields["agree"].widget.attrs["autofocus"] = True
    agreed = annotator.consents.in_force().filter(text=text).first() if text else None
    context = {
        "form": form,
        "offers": [] if agreed else tasklist.board(annotator, timezone.now()).rows,
        "endings": [
            ending for ending in outcomes.endings(annotator, now=timezone.now()) if ending.is_without_consent
        ],
        "may_decline": outcomes.rows_of(annotator).at_work().exists(),
        "text": text,
        "html": render_markdown(text.body) if text else "",
        "translation": render_markdown(consent.translation_of(text)) if text else "",
        "consent": agreed,
        "contacts": tasklist.contacts(annotator),
        "history": annotator.consents.select_related("text").order_by("-given_at"),
    }
    return page(request, "annotation/consent.html", context, status=422 if form.errors else 200)


@requires("annotation.do_work")
@require_POST
@open_without_consent
def consent_withdraw(request: HttpRequest) -> HttpResponse:
    """Withdraw; what was written and earned stays."""
    annotator = annotator_behind(request)
    if outcomes.decline(annotator=annotator, by=request.user, now=timezone.now()):
        messages.success(
            request, _("Your consent is withdrawn. No further task can be opened; you keep what you have earned.")
        )
    return redirect("annotation:consent")


@requires("annotation.do_work")
@require_POST
@open_without_consent
def consent_decline(request: HttpRequest) -> HttpResponse:
    """Do not agree: for people of a panel, who then see the code for that."""
    outcomes.decline(annotator=annotator_behind(request), by=request.user, now=timezone.now())
    return redirect("annotation:consent")


@requires("annotation.do_work")
@require_POST
def fewer_read(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Take away the notice that tasks of a study were passed on."""
    member = _membership(request, uid, current=True)
    member.n_tasks_before = None  # they have read it: the number that they have is the one they know
    member.save(update_fields=["n_tasks_before"])
    return redirect("annotation:work")


@requires(LOGGED_IN)
@require_safe
def help_page(request: HtmxHttpRequest) -> HttpResponse:
    """Help: what the words mean, how each kind of work goes, and the keys."""
    return page(request, "annotation/help.html", {"html": render_markdown(in_active_language(HELP).read_text())})


def _rhythm_of(annotator: Annotator, now: datetime) -> dict[str, Any] | None:
    """The quiet line of today; None for who does not want it, or has done nothing and has no goal."""
    chosen = preferences_of(annotator)
    if not chosen.shows_pace:
        return None
    day = day_of(annotator, now)
    goal = goal_of(chosen, day)
    return {"day": day, "goal": goal} if goal or day.worked_ms else None


def _membership(request: HttpRequest, uid: uuid.UUID, *, current: bool) -> Membership:
    memberships = annotator_behind(request).memberships.select_related("study", "annotator")
    if current:
        memberships = memberships.filter(left_at=None)
    member: Membership = get_object_or_404(memberships, study__uid=uid)
    return member


@requires("annotation.do_work")
@require_safe
@never_cache
def finished(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Nothing is left to answer, or what was skipped; with the code of a panel, for who came from one."""
    person, now = annotator_behind(request), timezone.now()
    study, tasks = own_tasks(request, uid)
    rows = listed(tasks)
    worked_ms = tasks.aggregate(ms=Sum("active_ms"))["ms"] or 0
    n_done = sum(row.state == LabelTask.State.DONE for row in rows)
    pace = course_of_pace(person, study)
    context = {
        "study": study,
        "pace": pace,
        "last_ms": pace[-1]["ms"] if pace else 0,
        "endings": [each for each in outcomes.endings(person, now=now) if each.link.study_id == study.pk],
        "worked_ms": worked_ms,
        "earned": pay(worked_ms, study.hourly_rate),
        "each_ms": worked_ms // n_done if n_done else None,
        "next": tasklist.board(person, now).hero,
        "n": len(rows),
        "n_open": sum(row.is_open for row in rows),
        "n_blocked": tasks.unfinished().with_blocked().filter(is_blocked=True).count(),
        "n_done": n_done,
        "skipped": [row for row in rows if row.state == LabelTask.State.SKIPPED],
        "answered": [row for row in rows if row.state in {LabelTask.State.DONE, LabelTask.State.BEGUN}],
    }
    return page(request, "annotation/label_finished.html", context)


urlpatterns = [
    path("work/", work, name="work"),
    path("work/practice/", practice, name="practice"),
    path("work/help/", help_page, name="help"),
    path("work/done/", own_work, name="own-work"),
    path("work/earnings/", own_earnings, name="earnings"),
    path("work/answers/", own_answers, name="last-answers"),
    path("work/replies/", replies, name="replies"),
    path("work/preferences/", preference_views.preferences, name="preferences"),
    path("work/preferences/switch/", preference_views.switch, name="prefer"),
    path("work/preferences/keys/<slug:kind>/", preference_views.keys, name="own-keys"),
    path("work/consent/", consent_page, name="consent"),
    path("work/consent/decline/", consent_decline, name="consent-decline"),
    path("work/consent/withdraw/", consent_withdraw, name="consent-withdraw"),
    path("work/studies/<uuid:uid>/guidelines/", study_guidelines, name="study-guidelines"),
    path("work/studies/<uuid:uid>/finished/", finished, name="label-finished"),
    path("work/studies/<uuid:uid>/fewer/", fewer_read, name="fewer-read"),
    path("work/studies/<uuid:uid>/leave/", study_leave, name="study-leave"),
]
