"""The page of a key point and the acts on it. Only ever the person's own tasks, and their own answers.

Nothing in here reads a score of a key point, a judge, a system or another person's answers.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation import consent, pane
from annotation.labelling.answers import BadAct, answers, ensure_answered, told_of_undo
from annotation.labelling.handling import OwnTask
from annotation.labelling.recording import told
from annotation.models import LabelTask, Study
from annotation.verification import recording
from annotation.verification.documents import documents_of, highlight_for, pane_of
from annotation.verification.page_context import page_context
from annotation.verification.recording import Judgments
from benchmarks.web.permissions import LOGGED_IN, requires


@requires("annotation.do_work")
@require_safe
@never_cache
def task(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Question, documents, key point, and the two judgments on it."""
    rows = LabelTask.objects.for_annotator(request.user).filter(annotator__is_active=True).visible()
    row = get_object_or_404(rows.for_verifying(), uid=uid)
    if not consent.is_given(row.annotator):
        return redirect("annotation:consent")
    question = row.item.question
    documents = documents_of(question)
    highlight = highlight_for(row.item, documents)
    shown = render(request, "annotation/verification_task.html", page_context(row, documents, highlight))
    return pane.respond(request, shown, pane_of(question, documents, highlight))


@requires(LOGGED_IN, json=True)
@require_POST
@answers
def choice(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Store the whole answer: `grounded, keyness?, unsure?, op_id?, guideline?`."""
    data = request.POST
    version = data.get("guideline", "")
    if not re.fullmatch("[0-9]{0,6}", version):
        raise BadAct(_("A version of the guidelines is a whole number."))
    given = Judgments(data.get("grounded", ""), data.get("keyness", ""), data.get("unsure") == "1")
    ensure_answered(given.grounded, extra=given.is_unsure)
    outcome = recording.record(
        tasks=tasks,
        choice=given,
        guideline_version=int(version) if version else None,
        op_id=data.get("op_id", "")[:64],
        now=now,
    )
    return told(outcome)


@requires(LOGGED_IN, json=True)
@require_POST
@answers
def undo(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Take the person's last choice back, on whatever key point: `op_id?, here?`."""
    data = request.POST
    outcome = recording.undo(
        tasks=tasks, op_id=data.get("op_id", "")[:64], only_here=data.get("here") == "1", now=now
    )
    if outcome is None or outcome.undone is None:
        return {"nothing": True}
    was, says = recording.in_words(outcome.undone.was), recording.in_words(outcome.choice)
    return told(outcome) | told_of_undo(Study.Kind.VERIFICATION, outcome.undone, was=was, now_says=says)
