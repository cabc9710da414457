"""Acts on a task: how one is read from a request, and how it responds to a script of the page or a plain form."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.labelling.handling import OwnTask, TaskRefused, Told
from annotation.labelling.task_page import page_of
from annotation.models import LabelTask

logger = logging.getLogger(__name__)
NOBODY = 0
"""The key of rows that are not stored."""


class BadAct(Exception):
    """The request is not what the page sends."""


def number_in(data: QueryDict, name: str) -> int | None:
    """A whole number that may be missing.

    Raises:
        BadAct: it is something else.
    """
    text = data.get(name, "")
    if not re.fullmatch("[0-9]{0,9}", text):
        raise BadAct(_("Places, lines and versions are whole numbers."))
    return int(text) if text else None


def question_in(data: QueryDict) -> UUID:
    """The question that an answer is about.

    Raises:
        BadAct: none is named.
    """
    try:
        return UUID(data.get("question", ""))
    except ValueError as problem:
        raise BadAct(_("A question is named by its id.")) from problem


def unsure_in(data: QueryDict, *, answer: str) -> bool:
    """Whether an answer is marked as not sure.

    Raises:
        TaskRefused: the mark comes without an answer.
    """
    is_unsure = data.get("unsure") == "1"
    if is_unsure and not answer:
        raise TaskRefused("answer_first", _("Answer first, then mark it as not sure."))
    return is_unsure


def told_in(data: QueryDict) -> Told:
    """Read what the browser says of the time before an act, in milliseconds: `ago?, worked?, stood?`.

    Raises:
        BadAct: one is no whole number.
    """
    return Told(*(number_in(data, name) or 0 for name in ("ago", "worked", "stood")))


def act(view: Callable[..., dict[str, Any]]) -> Callable[..., HttpResponse]:
    """Give a view the person's task and the time, and respond with its payload.

    A script gets JSON; a plain form is redirected to `next` of the payload, or to the page of the task.
    """

    @wraps(view)
    def respond(request: HttpRequest, *, uid: UUID, **more: Any) -> HttpResponse:
        tasks = OwnTask(request.user.pk or 0, uid)

        def payload_of_view() -> dict[str, Any]:
            if request.POST.get("task", str(uid)) != str(uid):  # the form says which task it shows
                raise TaskRefused(
                    "other_task", _("This was meant for a different task from the one on the screen.")
                )
            return view(request, tasks=tasks, now=timezone.now(), **more)

        try:
            payload, status = with_status(payload_of_view)
        except LabelTask.DoesNotExist:
            payload, status = {"code": "not_found", "message": _("You have no such task.")}, 404
        except (OperationalError, InterfaceError):
            # A full disk, a lock held too long, a lost connection: the browser keeps the act and tries again.
            logger.exception("an act on task %s could not be stored", uid)
            payload, status = {"code": "unavailable", "message": _("It could not be saved right now.")}, 503
        if wants_json(request):
            return plain(payload, status)
        task = tasks.rows().select_related("study").first()
        if task is None:
            raise Http404
        if status != 200:
            messages.error(request, payload["message"])
        elif payload.get("nothing"):
            messages.info(request, _("Nothing to undo."))
        elif "message" in payload:
            messages.info(request, payload["message"])
        return redirect(payload.get("next") or page_of(task.study.kind, task.uid, payload.get("question")))

    return respond


def with_status(act: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], int]:
    """Do an act; its result, or why it is refused, with the status of the response."""
    try:
        return act(), 200
    except BadAct as problem:
        return {"code": "invalid", "message": str(problem)}, 400
    except TaskRefused as refusal:
        return {"code": refusal.code, "message": str(refusal)}, 409


def wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


def plain(payload: dict[str, Any], status: int = 200) -> JsonResponse:
    return JsonResponse(payload, status=status, headers={"Cache-Control": "no-store"})


def state_of(task: LabelTask) -> dict[str, Any]:
    """How a task stands, for the scripts of its page."""
    return {name: getattr(task, name) for name in ("state", "n_answered", "n_questions", "is_flagged", "revision")}
