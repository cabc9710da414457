"""The page on which an annotator answers a task: what a kind of study says of it, and what all of them show."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone

from annotation.labelling.activity import CONTACT_EVERY_S, LONGEST_GAP
from annotation.labelling.position import Position, next_open, page_of, position_of, tasks_beside
from annotation.labelling.recording import AnswerKind, Outcome
from annotation.models import LabelTask, Study
from annotation.pane import Pane
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.guidelines import current_guideline, render_markdown


@dataclass(frozen=True, kw_only=True)
class TaskPage:
    """What one kind of study has of its own where annotators answer its tasks.

    `parse` reads an answer from a form, or raises BadAct or TaskRefused; `in_words` names an answer as the page
    does, a cleared one with nothing; `feedback` is what an annotator gets to read about an answer, if anything.
    """

    answers: AnswerKind[Any]
    parse: Callable[[QueryDict], Any]
    in_words: Callable[[LabelTask, Any], str]
    feedback: Callable[[Outcome[Any]], str] | None = None
    template: str
    rows: Callable[[LabelTaskQuerySet], LabelTaskQuerySet]
    """The tasks of this kind among others, with what the page shows."""
    context: Callable[[LabelTask], dict[str, Any]]
    """What the template shows beside what every kind does."""
    opening: Callable[[HttpRequest, LabelTask], HttpResponse | None] | None = None
    """Called before a task is shown; its response, if there is one, is shown instead."""
    pane: Callable[[dict[str, Any]], Pane] | None = None
    """Texts to put in place of the page's marker, made from the context."""


def context_of(page: TaskPage, task: LabelTask) -> dict[str, Any]:
    """What the template of a task's page shows, in a fixed number of queries."""
    study = task.study
    guideline, position = current_guideline(study), position_of(task)
    return {
        "task": task,
        "study": study,
        "position": position,
        "guideline": guideline,
        "guideline_html": render_markdown(guideline.body) if guideline else "",
        "is_open": study.state == Study.State.OPEN,
        **_addresses(task, position),
        "config_json": _config_json(task, position, version=guideline.version if guideline else None),
        **page.context(task),
    }


def _addresses(task: LabelTask, position: Position) -> dict[str, str]:
    """The task before, the one after, and onward: the next open one, or the end of the study if none is left."""
    study = task.study
    previous, following = position.previous, position.next
    near = (row.uid for row in position.near if row.number > position.number and row.is_open)
    onward = next(near, None) or next_open(tasks_beside(task).exclude(pk=task.pk), task)
    end = reverse("annotation:label-go", args=[study.uid])
    return {
        "previous_url": page_of(study.kind, previous.uid) if previous else "",
        "next_url": page_of(study.kind, following.uid) if following else "",
        "onward_url": page_of(study.kind, onward) if onward else f"{end}?after={position.number}",
    }


def _config_json(task: LabelTask, position: Position, *, version: int | None) -> str:
    """What the scripts of the page get: addresses of its acts, and how the task stands."""
    kind = task.study.kind
    acts = {name: reverse(f"annotation:label-{name}", args=[kind, task.uid]) for name in ("choice", "undo")}
    acts |= {name: reverse(f"annotation:label-{name}", args=[task.uid]) for name in ("seen", "skip", "remark")}
    return json.dumps(
        {
            "kind": kind,
            "task": str(task.uid),
            "person": str(task.annotator.uid),
            "urls": acts | {"login": reverse("login")},
            "guideline": version,
            "time_zone": timezone.get_current_timezone_name(),
            "contact_every_s": CONTACT_EVERY_S,
            "longest_gap_s": LONGEST_GAP.total_seconds(),
            "is_open": task.study.state == Study.State.OPEN,
            "n_done_besides": position.n_done - (task.state == LabelTask.State.DONE),
        }
    )
