"""Pages and downloads for researchers: a study's curves, a session's timeline, a snapshot's text and scores."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation import clock
from annotation.models import Session, Snapshot, Study
from annotation.writing import curves, exports, late, session_page, sessions
from annotation.writing.result_forms import AnswerForm, CreditForm, LateTextForm, ReasonForm, ViewForm
from benchmarks.engine import judging
from benchmarks.judges.registry import description_of
from benchmarks.models import Judge, Verdict
from benchmarks.web.downloads import download, json_download
from benchmarks.web.exposure import saw_insights
from benchmarks.web.pages import page
from benchmarks.web.permissions import requires
from benchmarks.web.plots import FORMATS, plot_download


def _study(request: HttpRequest, uid: uuid.UUID) -> Study:
    rows: QuerySet[Study, Study] = Study.objects.for_user(request.user)
    return get_object_or_404(rows.filter(kind=Study.Kind.WRITING), uid=uid)


def _session(request: HttpRequest, uid: uuid.UUID) -> Session:
    rows: QuerySet[Session, Session] = Session.objects.for_researcher(request.user)
    return get_object_or_404(
        rows.select_related("assignment__subtopic__haystack", "assignment__study", "annotator", "guideline"),
        uid=uid,
    )


def _choices(request: HttpRequest, study: Study | None) -> tuple[ViewForm, Judge, dict[str, Any]]:
    """Read how to look; a wrong choice, or a judge without verdicts here, falls back to the default one."""
    default = judging.default_judge(now=timezone.now())
    texts = Snapshot.objects.filter(session__assignment__study=study).values("summary")
    with_verdicts = Exists(Verdict.objects.filter(judge=OuterRef("pk"), summary__in=texts))
    judges = Judge.objects.filter(Q(pk=default.pk) | with_verdicts, archived_at=None)
    form = ViewForm(request.GET, judges=judges)
    form.is_valid()
    data = form.cleaned_data
    judge = data.get("judge") or default
    shown = {
        "present_only": data.get("insights") == "present",
        "carried": data.get("average") != "working",
        "with_late": data.get("texts") == "late",
        "with_running": data.get("running") == "running",
    }
    bound = {"judge": judge.uid, **{name: value for name, value in data.items() if name != "judge"}}
    return ViewForm(bound, judges=judges), judge, shown


@requires("annotation.view_session")
@require_safe
def study_results(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Curves and scores of all sessions of a study."""
    study = _study(request, uid)
    sessions.settle_study(study=study, now=timezone.now())
    form, judge, shown = _choices(request, study)
    report = curves.study_report(study=study, judge=judge, **shown)
    context = {"study": study, "form": form, "judge": judge, "report": report, "files": exports.FILES.values()}
    context |= {"table": curves.SESSIONS.shown(report.sessions, request.GET)}
    context |= {"formats": FORMATS, "judge_note": description_of(judge.kind)}
    return page(request, "annotation/results_study.html", context, part="results")


@requires("annotation.view_session")
@require_safe
def study_curve_file(request: HttpRequest, uid: uuid.UUID, file_format: str) -> HttpResponse:
    """The curves as svg, png, pdf or json."""
    study = _study(request, uid)
    sessions.settle_study(study=study, now=timezone.now())
    _form, judge, shown = _choices(request, study)
    report = curves.study_report(study=study, judge=judge, **shown)
    if file_format == "json":
        return json_download(curves.as_json(report), name=_name(study, "progress.json"), about=study)
    if file_format not in FORMATS:
        raise Http404
    return plot_download(report.plot, file_format=file_format, name=_name(study, "progress"), about=study)


@requires("annotation.view_session")
@require_safe
def study_file(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    """One of the raw files of a study."""
    study = _study(request, uid)
    _form, judge, _shown = _choices(request, study)
    now = timezone.now()
    sessions.settle_study(study=study, now=now)
    if name == "manifest.json":
        values = exports.manifest(study, judge, now=now)
        return json_download(values, name=_name(study, name), about=study)
    if name not in exports.FILES:
        raise Http404
    file = exports.FILES[name]
    content = file.make(study, judge, now)
    return download(content, name=_name(study, name), content_type=file.content_type, about=study)


@requires("annotation.view_session")
@require_safe
def session_results(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """A session's timeline, scores per insight, and what may be done about it."""
    session = _session(request, uid)
    sessions.settle(session=session, now=timezone.now())
    form, judge, shown = _choices(request, session.assignment.study)
    saw_insights(request.user, session.assignment.subtopic.haystack)
    context = session_page.build(session=session, judge=judge, present_only=shown["present_only"])
    context |= {"reason_form": ReasonForm(), "credit_form": CreditForm()}
    context |= {"form": form, "judge": judge}
    context["judge_note"] = description_of(judge.kind)
    return page(request, "annotation/results_session.html", context)


@requires("annotation.view_session")
@require_safe
def snapshot_text(request: HttpRequest, uid: uuid.UUID, mark_ms: int) -> HttpResponse:
    """A snapshot's text with what changed since the one before, and its scores per insight."""
    session = _session(request, uid)
    _form, judge, shown = _choices(request, session.assignment.study)
    saw_insights(request.user, session.assignment.subtopic.haystack)
    context = session_page.snapshot(
        session=session, mark_ms=mark_ms, judge=judge, present_only=shown["present_only"]
    )
    if context is None:
        raise Http404
    return page(request, "annotation/results_snapshot.html", {**context, "judge": judge}, part="snapshot")


@requires("annotation.add_exclusion")
@require_POST
def exclude(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Leave a session out of figures, with a reason."""
    session = _session(request, uid)
    form = ReasonForm(request.POST)
    if form.is_valid():
        sessions.exclude(session=session, by=request.user, reason=form.cleaned_data["reason"], now=timezone.now())
        messages.success(request, _("The session is excluded from results; its data stays."))
    else:
        messages.error(request, _("An exclusion needs a reason."))
    return redirect("annotation:session-results", uid=session.uid)


@requires("annotation.add_exclusion")
@require_POST
def include(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Let a session count again."""
    session = _session(request, uid)
    sessions.lift_exclusion(session=session, by=request.user, now=timezone.now())
    messages.success(request, _("The session is included in results again."))
    return redirect("annotation:session-results", uid=session.uid)


@requires("annotation.add_latedecision")
@require_POST
def decide_late_text(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Accept or decline a text that arrived after the end, with a reason."""
    session = _session(request, uid)
    form = LateTextForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("A decision on a late text needs a reason."))
        return redirect("annotation:session-results", uid=session.uid)
    is_accepted = form.cleaned_data["decision"] == "accept"
    decide = late.accept if is_accepted else late.decline
    values = {"op_id": form.cleaned_data["text"], "reason": form.cleaned_data["reason"]}
    try:
        decide(session=session, by=request.user, now=timezone.now(), **values)
    except late.NotDecidable:
        messages.error(
            request, _("Only a text that arrived after the end of a session that counts can be decided on.")
        )
        return redirect("annotation:session-results", uid=session.uid)
    messages.success(
        request,
        _("The late text is accepted as a second final text; the one submitted stays as it is.")
        if is_accepted
        else _("The late text is declined; it stays stored."),
    )
    return redirect("annotation:session-results", uid=session.uid)


@requires("annotation.void_session")
@require_POST
def void(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """End a session for good, with a reason; nothing of it is deleted."""
    session = _session(request, uid)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Voiding needs a reason."))
        return redirect("annotation:session-results", uid=session.uid)
    try:
        sessions.void(session=session, by=request.user, reason=form.cleaned_data["reason"], now=timezone.now())
        messages.success(request, _("The session is voided."))
    except sessions.ClockRefused as error:
        messages.error(request, str(error))
    return redirect("annotation:session-results", uid=session.uid)


@requires("annotation.add_clockcredit")
@require_POST
def credit(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Give active time back, with a reason; a session that is over opens again, paused."""
    session = _session(request, uid)
    form = CreditForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("A credit needs a number of minutes and a reason."))
        return redirect("annotation:session-results", uid=session.uid)
    is_over = session.state in clock.OVER
    if is_over and form.cleaned_data["minutes"] < 0:
        messages.error(
            request, _("This session is over. You can credit minutes, which reopens it, but not deduct them.")
        )
        return redirect("annotation:session-results", uid=session.uid)
    give = sessions.reopen if is_over else sessions.credit_clock
    values = {"delta_ms": form.cleaned_data["minutes"] * 60_000, "reason": form.cleaned_data["reason"]}
    try:
        give(session=session, by=request.user, now=timezone.now(), **values)
        messages.success(request, _("The clock was corrected."))
    except sessions.ClockRefused as error:
        messages.error(request, str(error))
    return redirect("annotation:session-results", uid=session.uid)


@requires("annotation.add_clockcredit")
@require_POST
def answer_request(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Grant or decline what an annotator asked for; a second answer is refused with a message."""
    session = _session(request, uid)
    form = AnswerForm(request.POST, session=session)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, " ".join(map(str, errors)))
        return redirect("annotation:session-results", uid=session.uid)
    try:
        messages.success(request, _answer(form, by=request.user))
    except sessions.AlreadyAnswered:
        messages.error(request, _("This request was already answered. Nothing was changed."))
    except sessions.ClockRefused as error:
        messages.error(request, str(error))
    return redirect("annotation:session-results", uid=session.uid)


def _answer(form: AnswerForm, *, by: Any) -> str:
    """Do what a valid form says, and tell what was done."""
    data = form.cleaned_data
    values = {"request": data["request"], "answer": data["answer"], "by": by, "now": timezone.now()}
    if data["action"] == form.GRANT:
        row = sessions.grant_request(delta_ms=data["minutes"] * 60_000, **values)
        if row.state == Session.State.PAUSED:
            return _("The minutes were given back. The session is open and paused; the annotator can go on.")
        return _("The minutes were credited.")
    if not sessions.decline_request(**values):
        raise sessions.AlreadyAnswered
    return _("The request was answered without a credit.")


def _name(study: Study, name: str) -> str:
    """A file's name with that of the study, whose letters may be of any alphabet."""
    return f"{slugify(study.name, allow_unicode=True)}-{name}"
