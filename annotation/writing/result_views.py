"""Pages and downloads for researchers: a study's curves, a session's timeline, a snapshot's text and scores."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from functools import wraps
from itertools import islice
from pathlib import PurePath
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Exists, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe

from annotation import clock
from annotation.models import CreditRequest, Session, SessionEvent, Snapshot, Study, TypedText
from annotation.studies.forms import ReasonForm
from annotation.studies.scope import study_of
from annotation.writing import files, late, packing, settling
from annotation.writing.documentsets import MS_PER_MINUTE
from annotation.writing.drafting import SessionClosed
from annotation.writing.eligibility import saw_insights_before_the_end
from annotation.writing.results import ScoredSnapshot, last_known_ms, with_facts
from annotation.writing.results import session_results as results_of
from annotation.writing.settling import Unchanged
from annotation.writing.sheet import look_form
from benchmarks.judges.registry import description_of
from benchmarks.models import Insight, Judge
from benchmarks.scoring.text import lines_from_list
from benchmarks.web.downloads import download, json_download, reader_of
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires, saw_insights

CONTENT_TYPES = {".csv": "text/csv; charset=utf-8", ".jsonl": "application/x-ndjson", ".gz": "application/gzip"}


def _session(request: HttpRequest, uid: uuid.UUID) -> Session:
    rows: QuerySet[Session, Session] = Session.objects.for_researcher(request.user)
    return get_object_or_404(
        with_facts(rows).select_related(
            "assignment__subtopic__haystack", "assignment__study__writing_plan", "annotator", "guideline", "report"
        ),
        uid=uid,
    )


class CreditForm(ReasonForm):
    """Minutes to give back, or to take away where too many were given."""

    minutes = forms.IntegerField(label="Minutes", min_value=-600, max_value=600)

    def clean_minutes(self) -> int:
        minutes: int = self.cleaned_data["minutes"]
        if minutes == 0:
            raise forms.ValidationError("Enter minutes other than 0.")
        return minutes


class AnswerForm(forms.Form):
    """The answer to an annotator's request for time: minutes and words to grant it, words alone to decline it."""

    GRANT, DECLINE = "grant", "decline"

    request = forms.ModelChoiceField(CreditRequest.objects.none(), widget=forms.HiddenInput)
    action = forms.ChoiceField(choices=[(GRANT, GRANT), (DECLINE, DECLINE)], widget=forms.HiddenInput)
    minutes = forms.IntegerField(label="Minutes to credit", required=False, min_value=1, max_value=600)
    answer = forms.CharField(
        label="Answer",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="The annotator reads this.",
        error_messages={"required": "Write an answer; the annotator reads it."},
    )

    def __init__(self, *args: Any, session: Session, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["request"].queryset = session.credit_requests.all()  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """A grant says how much."""
        data = super().clean() or {}
        if data.get("action") == self.GRANT and not data.get("minutes") and "minutes" not in self.errors:
            self.add_error("minutes", "Enter the minutes to credit, from 1 to 600.")
        return data


class LateTextForm(ReasonForm):
    """A decision on a text that arrived after the end."""

    text = forms.CharField(max_length=40, widget=forms.HiddenInput)
    decision = forms.ChoiceField(choices=[("accept", "Accept"), ("decline", "Decline")])


@requires("annotation.view_session")
@require_safe
def study_file(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    study = study_of(request, uid, kind=Study.Kind.WRITING)
    judge = look_form(study, request.GET).chosen
    now = timezone.now()
    settling.settle_study(study=study, now=now)
    if name == "manifest.json":
        values = files.manifest(study, judge, now=now)
        return json_download(values, name=_name(study, name), about=study)
    file = files.files(study, judge, now).get(name)
    if file is None:
        raise Http404
    kind = CONTENT_TYPES[PurePath(name).suffix]
    return download(
        file.content(reader=reader_of(request)), name=_name(study, name), content_type=kind, about=study
    )


@requires("annotation.view_session")
@require_safe
def session_results(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """A session's timeline, scores per insight, and what may be done about it."""
    session = _session(request, uid)
    settling.settle(session=session, now=timezone.now())
    form = look_form(session.assignment.study, request.GET)
    saw_insights(request.user, session.assignment.subtopic.haystack)
    context = build(session=session, judge=form.chosen, present_only=form.shown["present_only"])
    context |= {"reason_form": ReasonForm(), "credit_form": CreditForm()}
    context |= {"form": form, "judge": form.chosen}
    context["judge_note"] = description_of(form.chosen.kind, form.chosen.config)
    return page(request, "annotation/results_session.html", context)


@requires("annotation.view_session")
@require_safe
def snapshot_text(request: HtmxHttpRequest, uid: uuid.UUID, mark_ms: int) -> HttpResponse:
    """A snapshot's text with what changed since the one before, and its scores per insight."""
    session = _session(request, uid)
    form = look_form(session.assignment.study, request.GET)
    saw_insights(request.user, session.assignment.subtopic.haystack)
    context = snapshot(
        session=session, mark_ms=mark_ms, judge=form.chosen, present_only=form.shown["present_only"]
    )
    if context is None:
        raise Http404
    return page(request, "annotation/results_snapshot.html", {**context, "judge": form.chosen}, part="snapshot")


def _amended(
    request: HttpRequest, session: Session, form: forms.Form, do: Callable[..., str], *otherwise: str
) -> HttpResponse:
    """Do what a valid form says of a session and tell what was done, or why it was not."""
    try:
        if form.is_valid():
            how = {"session": session, "by": request.user, "now": timezone.now()}
            messages.success(request, do(form.cleaned_data, **how))
        for problem in () if form.is_valid() else otherwise:
            messages.error(request, problem)
    except Unchanged as refusal:
        messages.error(request, str(refusal))
    return redirect("annotation:session-results", uid=session.uid)


def amends(right: str, form: type[forms.Form], otherwise: str = "") -> Callable[[Callable[..., str]], Any]:
    """Make a view of what is done about a session by what a form says; `otherwise` names what the form lacks."""

    def view_of(do: Callable[..., str]) -> Any:
        @requires(right)
        @require_POST
        @wraps(do)
        def view(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
            return _amended(request, _session(request, uid), form(request.POST), do, otherwise)

        return view

    return view_of


@amends("annotation.add_exclusion", ReasonForm, "An exclusion needs a reason.")
def exclude(data: dict[str, Any], **how: Any) -> str:
    """Leave a session out of figures, with a reason."""
    settling.exclude(reason=data["reason"], **how)
    return "The session is excluded from results; its data stays."


@amends("annotation.add_exclusion", forms.Form)
def include(_data: dict[str, Any], **how: Any) -> str:
    """Let a session count again."""
    settling.lift_exclusion(**how)
    return "The session is included in results again."


@amends("annotation.add_latedecision", LateTextForm, "A decision on a late text needs a reason.")
def decide_late_text(data: dict[str, Any], **how: Any) -> str:
    """Accept or decline a text that arrived after the end, with a reason."""
    is_accepted = data["decision"] == "accept"
    decide = late.accept if is_accepted else late.decline
    decide(op_id=data["text"], reason=data["reason"], **how)
    if is_accepted:
        return "The late text is accepted as a second final text; the one submitted stays as it is."
    return "The late text is declined; it stays stored."


@amends("annotation.void_session", ReasonForm, "Voiding needs a reason.")
def void(data: dict[str, Any], **how: Any) -> str:
    """End a session for good, with a reason; nothing of it is deleted."""
    settling.void(reason=data["reason"], **how)
    return "The session is voided."


@amends("annotation.add_clockcredit", CreditForm, "A credit needs a number of minutes and a reason.")
def credit(data: dict[str, Any], *, session: Session, **how: Any) -> str:
    """Give active time back, with a reason; a session that is over opens again, paused."""
    is_over = session.state in clock.OVER
    if is_over and data["minutes"] < 0:
        raise Unchanged("This session is over. You can credit minutes, which reopens it, but not deduct them.")
    give = settling.reopen if is_over else settling.credit_clock
    give(session=session, delta_ms=data["minutes"] * MS_PER_MINUTE, reason=data["reason"], **how)
    return "The clock was corrected."


@requires("annotation.add_clockcredit")
@require_POST
def answer_request(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Grant or decline what an annotator asked for; a second answer is refused with a message."""
    session = _session(request, uid)
    form = AnswerForm(request.POST, session=session)

    def do(data: dict[str, Any], *, session: Session, **how: Any) -> str:
        how |= {"request": data["request"], "answer": data["answer"]}
        if data["action"] == form.GRANT:
            row = settling.grant_request(delta_ms=data["minutes"] * MS_PER_MINUTE, **how)
            if row.state == Session.State.PAUSED:
                return "The minutes were given back. The session is open and paused; the annotator can go on."
            return "The minutes were credited."
        if not settling.decline_request(**how):
            raise settling.AlreadyAnswered
        return "The request was answered without a credit."

    return _amended(request, session, form, do, *(" ".join(map(str, errors)) for errors in form.errors.values()))


def _name(study: Study, name: str) -> str:
    """A file's name with that of the study, whose letters may be of any alphabet."""
    return f"{slugify(study.name, allow_unicode=True)}-{name}"


# The page of a session


MAX_POINTS, MAX_EVENTS = 4000, 500
_EVENT = ("type", "active_ms", "payload", "happened_at", "at_server")
_SAVE = ("accepted", "active_ms", "reject_code", "rev")


def build(*, session: Session, judge: Judge, present_only: bool) -> dict[str, Any]:
    """Gather timeline, snapshots, scores and records of a session that has the facts that results need."""
    [result] = results_of(sessions=[session], judge=judge, present_only=present_only)
    last = result.final or (result.snapshots[-1] if result.snapshots else None)
    if session.as_typed_at is None:
        late.note_typed(now=timezone.now(), sessions=Session.objects.filter(pk=session.pk))
    has_typed = Exists(TypedText.objects.filter(session=session))
    finals = Snapshot.objects.filter(session=session, kind=Snapshot.Kind.FINAL).annotate(has_typed=has_typed)
    checks = finals.values_list("copy_check__lines", "growth_check__jumps", "has_typed")
    copied, jumps, came_later = checks.first() or (None, None, False)
    recorded = packing.rows_of(packing.Table.EVENTS, [session.pk], _EVENT)
    events = [SessionEvent(**row) for row in islice(recorded, MAX_POINTS)]
    revisions = packing.rows_of(packing.Table.REVISIONS, [session.pk], _SAVE)
    saved = [tuple(row[name] for name in _SAVE) for row in islice(revisions, MAX_POINTS)]
    may_be_late = len(saved) == MAX_POINTS or any(code == SessionClosed.code for _a, _ms, code, _rev in saved)
    typed = session.typed_texts.select_related("snapshot") if came_later else ()
    points = [
        late.Point("save" if accepted else "rejected", active_ms, code or f"r{rev}")
        for accepted, active_ms, code, rev in saved
    ]
    for event in events:
        facts = ", ".join(f"{key} {value}" for key, value in event.payload.items())[:120]
        points.append(late.Point(event.type, event.active_ms, f"{event.type} {facts}", event.happened_at))
    points += [late.Point("snapshot", scored.mark_ms, f"{scored.minutes:g} min") for scored in result.snapshots]
    return {
        "session": session,
        "active_ms": last_known_ms(session),
        "result": result,
        "ceiling": session.assignment.ceiling,
        "timeline": late.build(
            limit_ms=session.limit_ms,
            active_ms=max([last_known_ms(session), *(point.active_ms for point in points)], default=0),
            periods=list(session.periods.order_by("seq")),
            points=points,
            is_paused=session.state == Session.State.PAUSED,
        ),
        "shown": last,
        "insights": list(insight_rows(session=session, snapshot=last)),
        "credits": session.credits.select_related("by"),
        "requests": session.credit_requests.select_related("credit__by"),
        "exclusions": session.exclusions.select_related("by"),
        "report": getattr(session, "report", None),
        "saw_insights": bool(saw_insights_before_the_end([session])),
        "copied": [line for line in (copied or []) if line["is_flagged"]],
        "events": sorted(events, key=lambda event: event.at)[:MAX_EVENTS],
        "late_texts": late.late_texts(session) if may_be_late else [],
        "as_typed": [(row, late.changes(row.snapshot.text, row.text)) for row in typed],
        "may_decide_late": session.state in clock.HANDED_IN,
        "jumps": jumps or [],
    }


def snapshot(*, session: Session, mark_ms: int, judge: Judge, present_only: bool) -> dict[str, Any] | None:
    """Gather one snapshot with what changed since the one before; None if there is none at this mark."""
    [result] = results_of(sessions=[session], judge=judge, present_only=present_only)
    position = next((i for i, scored in enumerate(result.snapshots) if scored.mark_ms == mark_ms), None)
    if position is None:
        return None
    chosen = result.snapshots[position]
    before = result.snapshots[position - 1] if position else None
    return {
        "session": session,
        "result": result,
        "snapshot": chosen,
        "changes": late.changes(before.text if before else "", chosen.text),
        "insights": list(insight_rows(session=session, snapshot=chosen)),
    }


def insight_rows(*, session: Session, snapshot: ScoredSnapshot | None) -> Iterator[dict[str, Any]]:
    """Each reference insight of the subtopic, how it scored, and where: gold and cited documents compared."""
    scores = {score.key: score for score in snapshot.score.insights} if snapshot and snapshot.score else {}
    lines = lines_from_list(snapshot.text.split("\n")) if snapshot else ()
    for insight in Insight.objects.filter(subtopic=session.assignment.subtopic_id).order_by("number"):
        score, gold = scores.get(str(insight.pk)), set(insight.gold_documents)
        cited, numbers = (set(score.cited), set(score.lines)) if score else (set[int](), set[int]())
        yield {
            "number": insight.number,
            "text": insight.text,
            "score": score,
            "linked": [line for line in lines if line.number in numbers],
            "shown_gold": gold & set(session.document_numbers),
            "right": sorted(cited & gold),
            "wrong": sorted(cited - gold),
            "missed": sorted(gold - cited),
        }
