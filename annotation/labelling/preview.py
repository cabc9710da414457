"""Label work of any kind as researchers preview it: real items, and a task that is in no table."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from annotation import pane as panes
from annotation.labelling.acts import BadAct, question_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.position import ListedTask, Position
from annotation.labelling.recording import Outcome
from annotation.labelling.task_page import ACTS, Place, TaskPage, context_of, payload_of
from annotation.models import Annotator, LabelTask
from annotation.studies.preview import PreviewPlace

NEAR = 15
NOBODY = 0
"""The key of rows that are not stored."""


def page(kind: TaskPage, request: HttpRequest, at: PreviewPlace) -> HttpResponse:
    """The page of the task that somebody would get for an item."""
    context = context_of(kind, _task(at), place=_place(at)) | {"preview": at}
    pane, shown = kind.pane(context), render(request, kind.task_template, context)
    return shown if pane is None else panes.respond(request, shown, pane)


def act(kind: TaskPage, request: HttpRequest, at: PreviewPlace, name: str) -> tuple[dict[str, Any], int]:
    """What the page would get in reply, had it stored something."""
    if name not in ACTS or request.method != "POST":
        raise Http404
    task = _task(at)
    if name == "undo":
        return {"nothing": True}, 200
    if name == "skip":
        return _state(task) | {"next": at.next_url or at.study_url}, 200
    if name in {"seen", "remark"}:
        return _state(task) | {"is_flagged": request.POST.get("flag") == "1"}, 200
    try:
        return _answered(kind, task, request), 200
    except BadAct as problem:
        return {"code": "invalid", "message": str(problem)}, 400
    except TaskRefused as refusal:
        return {"code": refusal.code, "message": str(refusal)}, 409


def _answered(kind: TaskPage, task: LabelTask, request: HttpRequest) -> dict[str, Any]:
    answers = kind.answers_in(request.POST)
    answer = answers.checked(task, answers.parse(request.POST))
    if answers.counts(answer) and task.n_questions == 1:
        task.n_answered, task.state = 1, LabelTask.State.DONE
    return payload_of(kind, Outcome(task, answer, question_in(request.POST) if answers.by_insight else None))


def _state(task: LabelTask) -> dict[str, Any]:
    return {"state": task.state, "n_answered": 0, "n_questions": task.n_questions, "is_flagged": False}


def _task(at: PreviewPlace) -> LabelTask:
    item = at.study.label_items.order_by("pk")[at.number - 1]
    return LabelTask(
        pk=NOBODY,
        study=at.study,
        annotator=Annotator(pk=NOBODY, label=""),
        item=item,
        position=at.number,
        n_questions=item.n_questions,
    )


def _place(at: PreviewPlace) -> Place:
    near = range(max(1, at.number - NEAR), min(at.n, at.number + NEAR) + 1)
    uid = LabelTask().uid
    rows = tuple(ListedTask(number, uid, LabelTask.State.TODO, is_flagged=False) for number in near)
    return Place(
        name=at.name,
        person="preview",
        position=Position(at.number, at.n, 0, rows),
        previous_url=at.previous_url,
        next_url=at.next_url,
        end_url=at.next_url or at.study_url,
        acts={name: at.act(name) for name in ACTS},
        is_open=True,
    )
