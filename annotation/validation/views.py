"""The page of a response and a key point, and the acts on it. Only ever the person's own tasks and answers."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation import consent
from annotation.labelling.answers import BadAct, answers, ensure_answered, told_of_undo
from annotation.labelling.handling import OwnTask
from annotation.labelling.recording import told
from annotation.models import LabelTask, Study
from annotation.validation import recording
from annotation.validation.page_context import page_context
from annotation.validation.recording import Answered
from benchmarks.web.permissions import LOGGED_IN, requires


@requires("annotation.do_work")
@require_safe
@never_cache
def task(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Question, response, key point, and what the person says of them."""
    rows = LabelTask.objects.for_annotator(request.user).filter(annotator__is_active=True).visible()
    row = get_object_or_404(rows.for_validating(), uid=uid)
    if not consent.is_given(row.annotator):
        return redirect("annotation:consent")
    return render(request, "annotation/validation_task.html", page_context(row))


@requires(LOGGED_IN, json=True)
@require_POST
@answers
def choice(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Store the whole answer: `answer, start?, end?, unsure?, op_id?, guideline?`; places in code points."""
    data = request.POST
    given = Answered(data.get("answer", ""), _snippet(data), data.get("unsure") == "1")
    ensure_answered(given.answer, extra=given.is_unsure)
    outcome = recording.record(
        tasks=tasks,
        choice=given,
        guideline_version=_number(data, "guideline"),
        op_id=data.get("op_id", "")[:64],
        now=now,
    )
    return told(outcome)


@requires(LOGGED_IN, json=True)
@require_POST
@answers
def undo(request: HttpRequest, tasks: OwnTask, now: datetime) -> dict[str, Any]:
    """Take the person's last choice back, on whatever pair: `op_id?, here?`."""
    data = request.POST
    outcome = recording.undo(
        tasks=tasks, op_id=data.get("op_id", "")[:64], only_here=data.get("here") == "1", now=now
    )
    if outcome is None or outcome.undone is None:
        return {"nothing": True}
    was, says = recording.in_words(outcome.undone.was), recording.in_words(outcome.choice)
    return told(outcome) | told_of_undo(Study.Kind.VALIDATION, outcome.undone, was=was, now_says=says)


def _snippet(data: QueryDict) -> tuple[int, int] | None:
    start, end = _number(data, "start"), _number(data, "end")
    if (start is None) != (end is None):
        raise BadAct(_("A passage has a start and an end."))
    return None if start is None or end is None else (start, end)


def _number(data: QueryDict, name: str) -> int | None:
    text = data.get(name, "")
    if not re.fullmatch("[0-9]{0,9}", text):
        raise BadAct(_("Places and versions are whole numbers."))
    return int(text) if text else None
