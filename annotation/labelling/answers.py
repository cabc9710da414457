"""How acts on a task answer: JSON to the scripts of the page, a redirect to the page to a plain form."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.labelling.handling import OwnTask, TaskRefused
from annotation.labelling.undoing import Undone
from annotation.models import LabelTask, Study

logger = logging.getLogger(__name__)

PAGES = {
    Study.Kind.LINKING: "annotation:linking-task",
    Study.Kind.VERIFICATION: "annotation:verification-task",
    Study.Kind.VALIDATION: "annotation:validation-task",
}
"""The page of a task, by kind of study."""

Act = Callable[[HttpRequest, OwnTask, datetime], dict[str, Any]]


class BadAct(Exception):
    """The request is not what the page sends."""


def page_of(kind: str, uid: UUID) -> str:
    """The address of a task's page."""
    return reverse(PAGES[Study.Kind(kind)], args=[uid])


def ensure_answered(answer: str, *, extra: bool) -> None:
    """Raise TaskRefused for a mark ("not sure", a passage) that comes without the answer it belongs to."""
    if extra and not answer:
        raise TaskRefused("answer_first", _("Answer first; then mark it as not sure. Nothing was stored."))


def told_of_undo(kind: str, undone: Undone, *, was: str, now_says: str) -> dict[str, Any]:
    """Where an undo took effect and what it took back, in words; `next` is the page of that task."""
    values = {"was": was, "number": undone.number, "now": now_says}
    if now_says:
        message = _("Undone: %(was)s on %(number)d; it is now %(now)s.") % values
    else:
        message = _("Undone: %(was)s on %(number)d.") % values
    return {"task": str(undone.uid), "message": message, "next": page_of(kind, undone.uid)}


def answers(act: Act) -> Callable[[HttpRequest, UUID], HttpResponse]:
    """Give an act the person's task and the time, and tell what came of it; `next` in it is where a form goes."""

    @wraps(act)
    def view(request: HttpRequest, uid: UUID) -> HttpResponse:
        tasks = OwnTask(request.user.pk or 0, uid)
        try:
            _ensure_same_task(request, uid)
            told, status = act(request, tasks, timezone.now()), 200
        except LabelTask.DoesNotExist:
            told, status = {"code": "not_found", "message": _("There is no such task of yours.")}, 404
        except BadAct as problem:
            told, status = {"code": "invalid", "message": str(problem)}, 400
        except TaskRefused as refusal:
            told, status = {"code": refusal.code, "message": str(refusal)}, 409
        except (OperationalError, InterfaceError):
            # A full disk, a lock held too long, a lost connection: the browser keeps the act and tries again.
            logger.exception("an act on task %s could not be stored", uid)
            told, status = {"code": "unavailable", "message": _("It could not be stored just now.")}, 503
        if request.headers.get("Accept") == "application/json":
            return JsonResponse(told, status=status, headers={"Cache-Control": "no-store"})
        return _to_page(request, tasks, told, status)

    return view


def _ensure_same_task(request: HttpRequest, uid: UUID) -> None:
    """The form says which task it shows: an answer to another one than it is sent to is not stored."""
    if request.POST.get("task", str(uid)) != str(uid):
        raise TaskRefused("other_task", _("This was meant for another task than the one on the screen."))


def _to_page(request: HttpRequest, tasks: OwnTask, told: dict[str, Any], status: int) -> HttpResponse:
    task = tasks.rows().select_related("study").first()
    if task is None:
        raise Http404
    if status != 200:
        messages.error(request, told["message"])
    elif told.get("nothing"):
        messages.info(request, _("Nothing to undo."))
    elif "message" in told:
        messages.info(request, told["message"])
    place = f"#q-{told['insight']}" if "insight" in told else ""
    return redirect(told.get("next") or page_of(task.study.kind, task.uid) + place)
