"""The page of a linking task and the acts on it. Only ever the person's own tasks, and their own labels.

Nothing in here reads a system, a judge or another person's labels.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation import consent, exposures
from annotation.labelling.answers import BadAct, answers, ensure_answered, told_of_undo
from annotation.labelling.handling import OwnTask
from annotation.linking import recording
from annotation.linking.bullets import bullets_of
from annotation.linking.page_context import feedback_of, in_words, page_context
from annotation.models import Assignment, Exposure, LabelTask, Study
from benchmarks.web.permissions import LOGGED_IN, requires

MAX_LINES = 200


@requires("annotation.do_work")
@require_safe
@never_cache
def task(request: HttpRequest, uid: UUID) -> HttpResponse:
    """All insights of a summary beside its bullets. Whoever is shown them never writes on the haystack again."""
    rows = LabelTask.objects.for_annotator(request.user).filter(annotator__is_active=True).visible().for_page()
    row = get_object_or_404(rows, uid=uid)
    if not consent.is_given(row.annotator):
        return redirect("annotation:consent")
    haystack = row.item.summary.haystack
    writing = Assignment.objects.for_annotator(request.user).unfinished()
    if writing.filter(subtopic__haystack=haystack, is_practice=False).exists():
        return render(request, "annotation/linking_later.html", {"study": row.study}, status=409)
    exposures.record_exposure(
        user=request.user, haystack=haystack, reason=Exposure.Reason.LINKING, now=timezone.now()
    )
    return render(request, "annotation/linking_task.html", page_context(row))


@requires(LOGGED_IN, json=True)
@require_POST
@answers
def choice(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Store one whole answer: `insight, coverage, line*, unsure?, op_id?, guideline?`."""
    data = request.POST
    try:
        insight = UUID(data.get("insight", ""))
        lines = [int(line) for line in data.getlist("line")[:MAX_LINES]]
        version = int(data["guideline"]) if data.get("guideline") else None
    except ValueError as problem:
        raise BadAct(_("An insight is named by its id, lines and versions by whole numbers.")) from problem
    ensure_answered(data.get("coverage", ""), extra=data.get("unsure") == "1")
    outcome = recording.record(
        tasks=tasks,
        insight=insight,
        coverage=data.get("coverage", ""),
        lines=lines,
        is_unsure=data.get("unsure") == "1",
        guideline_version=version,
        op_id=data.get("op_id", "")[:64],
        now=now,
    )
    return told(outcome, tasks)


@requires(LOGGED_IN, json=True)
@require_POST
@answers
def undo(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Take the person's last choice back, on whatever summary: `op_id?, here?`."""
    data = request.POST
    outcome = recording.undo(
        tasks=tasks, op_id=data.get("op_id", "")[:64], only_here=data.get("here") == "1", now=now
    )
    if outcome is None or outcome.undone is None:
        return {"nothing": True}
    undone = outcome.undone
    names = _bullet_names(OwnTask(tasks.user_id, undone.uid))
    was, says = in_words(undone.was, names), in_words(outcome.choice, names)
    where = told_of_undo(Study.Kind.LINKING, undone, was=was, now_says=says)
    return told(outcome, tasks) | where | {"next": f"{where['next']}#q-{outcome.insight}"}


def told(outcome: recording.Outcome, tasks: OwnTask) -> dict[str, Any]:
    """An outcome as JSON; in training with the agreed answer."""
    shown = OwnTask(tasks.user_id, outcome.undone.uid) if outcome.undone else tasks
    feedback = {} if outcome.key is None else {"feedback": feedback_of(outcome.key, _bullet_names(shown))}
    return {
        **asdict(outcome.choice),
        **feedback,
        **({} if outcome.is_changed else {"unchanged": True}),
        "is_complete": outcome.choice.is_complete,
        "insight": str(outcome.insight),
        "state": outcome.state,
        "n_answered": outcome.n_answered,
        "n_questions": outcome.n_questions,
    }


def _bullet_names(tasks: OwnTask) -> dict[int, str]:
    row = tasks.rows().select_related("item__summary").get()
    return {bullet.number: bullet.key or bullet.name for bullet in bullets_of(row.item.summary)}
