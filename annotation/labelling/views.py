"""The page of a label task of any kind, the acts on it, and the ways through a study.

Only ever the annotator's own tasks and answers: nothing in here reads a system, a judge or another one's labels.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.kinds import label_kinds
from annotation.labelling import handling
from annotation.labelling.acts import act, number_in, plain, question_in, state_of, told_in, wants_json
from annotation.labelling.handling import OwnTask, comes_first, have_read
from annotation.labelling.recording import Outcome, Undone, record
from annotation.labelling.recording import undo as undo_last
from annotation.labelling.task_page import (
    OPEN_STATES,
    TaskPage,
    context_of,
    next_open,
    page_of,
    payload_of,
    position_of,
    rhythm_of,
    shown_in,
    tasks_beside,
)
from annotation.models import LabelTask, Membership, Study
from annotation.querysets import LabelTaskQuerySet
from annotation.studies import consent
from annotation.studies.scope import annotator_behind, record_exposure
from benchmarks.web.permissions import LOGGED_IN, requires

MAX_OP_ID = 64
ANSWERS = "answers"
"""Says that an item leads back to the list of last answers."""


@requires("annotation.do_work")
@require_safe
@never_cache
def task(request: HttpRequest, kind: TaskPage, uid: UUID) -> HttpResponse:
    """Show a task, what the annotator answered, and where they are in the study."""
    visible = LabelTask.objects.for_annotator(request.user).filter(annotator__is_active=True).visible()
    of_kind = visible.filter(study__kind=kind.value).select_related("study", "annotator", *kind.task_rows)
    row = get_object_or_404(of_kind, uid=uid)
    if not consent.is_given(row.annotator):
        return redirect("annotation:consent")
    if kind.trial is not None and comes_first(row):
        return redirect("annotation:trial", row.study.uid)
    instead = kind.page_instead(request, row)
    if instead is not None:
        return instead
    context = context_of(kind, row, back_url=_back(request))
    return shown_in(request, kind, context, kind.pane(context))


@requires(LOGGED_IN, json=True)
@require_POST
@act
def choice(request: HttpRequest, kind: TaskPage, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Store one answer: `question?, op_id?, guideline?, ago?, worked?, stood?` and what the kind's form has."""
    data, answers = request.POST, kind.answers_in(request.POST)
    outcome = record(
        kind=answers,
        tasks=tasks,
        answer=answers.parse(data),
        question=question_in(data) if answers.by_insight else None,
        guideline_version=number_in(data, "guideline"),
        op_id=data.get("op_id", "")[:MAX_OP_ID],
        now=now,
        told=told_in(data),
    )
    return payload_of(kind, outcome)


@requires(LOGGED_IN, json=True)
@require_POST
@act
def undo(request: HttpRequest, kind: TaskPage, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Take the annotator's last answer or skip back, on whatever task: `op_id?, here?`.

    The payload says where that was and what was taken back, in words; `next` is the page of that task.
    """
    data = request.POST
    undone = undo_last(
        kinds=[answers for answers in (kind.answers, kind.beside) if answers],
        tasks=tasks,
        op_id=data.get("op_id", "")[:MAX_OP_ID],
        only_here=data.get("here") == "1",
        now=now,
    )
    if undone is None:
        return {"nothing": True}
    row, outcome = undone.task, undone.outcome
    question = outcome.question if outcome else None
    there = {"task": str(row.uid), "next": page_of(row.study.kind, row.uid, question)}
    if outcome is None:
        words = _("Undone: skip on item %(number)d.") % {"number": undone.number}
        return state_of(row) | there | {"is_skip": True, "message": words}
    return payload_of(kind, outcome) | there | {"message": _undone_in_words(kind, undone, outcome)}


def _undone_in_words(kind: TaskPage, undone: Undone, outcome: Outcome[Any]) -> str:
    """An undo in words: what it took back, where that was, and what holds there now."""
    row, number, answers = undone.task, undone.number, undone.kind or kind.answers
    was, holds = (answers.in_words(row, each) for each in answers.differing(undone.was, outcome.answer))
    where = str(number)
    if outcome.question and (question := kind.question_in_words(row, outcome.question)):
        where = _("%(number)d, %(question)s") % {"number": number, "question": question}
    if not was:
        return _("Undone on item %(where)s: it is now %(now)s.") % {"where": where, "now": holds}
    if not holds:
        return _("Undone: %(was)s on item %(where)s.") % {"was": was, "where": where}
    return _("Undone: %(was)s on item %(where)s; it is now %(now)s.") % {"was": was, "where": where, "now": holds}


@requires(LOGGED_IN, json=True)
@require_POST
@act
def seen(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """The annotator is at work: `worked?, stood?`."""
    return state_of(handling.contact(tasks=tasks, now=now, told=told_in(request.POST)))


@requires(LOGGED_IN, json=True)
@require_safe
@never_cache
def near(request: HttpRequest, uid: UUID) -> JsonResponse:
    """How the tasks around one stand now, for a page that was left and is looked at again."""
    visible = LabelTask.objects.for_annotator(request.user).visible()
    row = get_object_or_404(visible.select_related("study"), uid=uid)
    tasks = [
        {"task": str(each.uid), "state": each.state, "revision": each.revision} for each in position_of(row).near
    ]
    return JsonResponse({"is_open": row.study.state == Study.State.OPEN, "tasks": tasks})


@requires(LOGGED_IN, json=True)
@require_POST
@act
def skip(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Put the task out of the way, and go to the next one; `undo` takes that back."""
    if request.POST.get("undo"):
        return state_of(handling.unskip(tasks=tasks, now=now))
    reason = request.POST.get("other", "").strip() or request.POST.get("reason", "")
    skipped = handling.skip(tasks=tasks, reason=reason, now=now)
    return state_of(skipped) | {"next": _onward(skipped.study, tasks_beside(skipped), skipped)}


@requires(LOGGED_IN, json=True)
@require_POST
@act
def remark(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Set the flag or the comment, whichever is sent: `flag?, comment?`."""
    flag, comment = request.POST.get("flag"), request.POST.get("comment")
    is_flagged = None if flag is None else flag == "1"
    return state_of(handling.remark(tasks=tasks, is_flagged=is_flagged, comment=comment, now=now))


@requires(LOGGED_IN, json=True)
@require_POST
def read(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The annotator has read what a researcher answered to a remark; of a closed study too."""
    row = get_object_or_404(LabelTask.objects.for_annotator(request.user).select_related("study"), uid=uid)
    have_read(tasks=LabelTask.objects.filter(pk=row.pk), now=timezone.now())
    if wants_json(request):
        return plain(state_of(row))
    return redirect(page_of(row.study.kind, row.uid))


@requires("annotation.do_work")
@require_safe
@never_cache
def rhythm(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The quiet line of a task's page, as it stands now."""
    visible = LabelTask.objects.for_annotator(request.user).visible().select_related("study", "annotator")
    row = get_object_or_404(visible, uid=uid)
    context = {"study": row.study, "rhythm": rhythm_of(row, position_of(row))}
    return render(request, "annotation/_label_rhythm.html", context)


@requires("annotation.do_work")
@require_safe
@never_cache
def go(request: HttpRequest, uid: UUID) -> HttpResponse:
    """To the task with the number `n`, or to the next open one after `after`, or else to where the person was.

    Where that is done too the next open one; at the end the page that says so.
    """
    study, tasks = own_tasks(request, uid)
    number, after = _number(request.GET.get("n")), _number(request.GET.get("after"))
    if number is not None:
        wanted = tasks[max(number, 1) - 1 :].first() or tasks.last()
        return redirect(page_of(study.kind, wanted.uid) if wanted else "annotation:work")
    if after is not None:
        return redirect(_onward(study, tasks, tasks[after - 1 :].first() if after else None))
    last_seen = tasks.filter(last_seen_at__isnull=False).order_by("-last_seen_at").first()
    if last_seen is not None and last_seen.state in OPEN_STATES:
        return redirect(page_of(study.kind, last_seen.uid))
    return redirect(_onward(study, tasks, last_seen))


def own_tasks(request: HttpRequest, uid: UUID) -> tuple[Study, LabelTaskQuerySet]:
    """A study of label work that somebody belongs to, and their tasks in it in order; 404 without one."""
    person = annotator_behind(request)
    memberships = Membership.objects.filter(annotator=person, study__kind__in=label_kinds())
    member = get_object_or_404(memberships.select_related("study"), study__uid=uid)
    rows: LabelTaskQuerySet = LabelTask.objects.filter(study=member.study, annotator=person).order_by("position")
    return member.study, rows


def own_task_named(request: HttpRequest, name: str) -> LabelTask | None:
    """A task of the person's own that an address names, None where it names none."""
    try:
        uid = UUID(name)
    except ValueError:
        return None
    visible = LabelTask.objects.for_annotator(request.user).visible()
    row: LabelTask | None = visible.select_related("study").filter(uid=uid).first()
    return row


def _back(request: HttpRequest) -> str:
    """Where a person was before they opened an earlier answer: `back`, a task or the list of answers."""
    name = request.GET.get("back", "")
    if name == ANSWERS:
        return reverse("annotation:last-answers")
    left = own_task_named(request, name)
    return page_of(left.study.kind, left.uid) if left else ""


def _onward(study: Study, tasks: LabelTaskQuerySet, at: LabelTask | None) -> str:
    uid = next_open(tasks, at)
    return page_of(study.kind, uid) if uid else reverse("annotation:label-finished", args=[study.uid])


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 8 else None


def barred(request: HttpRequest, task: LabelTask, *, reason: str) -> HttpResponse | None:
    """A page that says why the task cannot be shown yet; otherwise note that the haystack was seen, and why.

    Whoever has seen what a haystack says never writes on it again, so what is still to be written comes first.
    """
    item = task.item
    haystack = item.summary.haystack if item.summary_id else item.question.haystack
    if LabelTask.objects.filter(pk=task.pk).with_blocked().filter(is_blocked=True).exists():
        return render(request, "annotation/label_later.html", {"study": task.study}, status=409)
    record_exposure(user=request.user, haystack=haystack, reason=reason, now=timezone.now())
    return None
