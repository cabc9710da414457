"""The page on which an annotator answers a task: what a kind of study says of it, and what all of them show."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone

from annotation.labelling.activity import CONTACT_EVERY_S, LONGEST_GAP
from annotation.labelling.position import Position, ahead_of, page_of, position_of
from annotation.labelling.recording import AnswerKind, Outcome
from annotation.models import LabelItem, LabelTask, Study
from annotation.pane import Pane
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.guidelines import current_guideline, render_markdown


def both(first: Any, second: Any) -> tuple[Any, Any]:
    """Two answers as they are: for a kind whose answer is one thing."""
    return first, second


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Something optional that is answered on the same page; its form says `beside=1`."""

    answers: AnswerKind[Any]
    parse: Callable[[QueryDict], Any]
    in_words: Callable[[LabelTask, Any], str]
    apart: Callable[[Any, Any], tuple[Any, Any]] = both


@dataclass(frozen=True, kw_only=True)
class TaskPage:
    """What one kind of study has of its own where annotators answer its tasks.

    `parse` reads an answer from a form, or raises BadAct or TaskRefused; `in_words` names an answer as the page
    does, a cleared one with nothing, and `question_in_words` the question it is about, if a task asks several.
    `apart` leaves in two answers only what differs, where an answer has parts that are given one by one.
    `feedback` is what an annotator gets to read about an answer, if anything.
    """

    answers: AnswerKind[Any]
    parse: Callable[[QueryDict], Any]
    in_words: Callable[[LabelTask, Any], str]
    question_in_words: Callable[[LabelTask, UUID], str] | None = None
    apart: Callable[[Any, Any], tuple[Any, Any]] = both
    beside: Beside | None = None
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

    def asked_in(self, data: QueryDict) -> TaskPage | Beside:
        return self.beside if self.beside and data.get("beside") == "1" else self


ACTS = ("choice", "undo", "seen", "skip", "remark")
"""What the page of a task sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a task is, and the addresses of its page and its acts: the task before, the one after, and `end_url`,
    which leads to the next open one or the end of the study. `onward` are the next open tasks, in order. `name` is
    a part of the page's own address.
    """

    name: str
    person: str
    position: Position
    previous_url: str
    next_url: str
    end_url: str
    onward: tuple[tuple[str, str], ...] = ()
    """The name and the address of each."""
    acts: dict[str, str]
    is_open: bool


def context_of(page: TaskPage, task: LabelTask, *, place: Place | None = None) -> dict[str, Any]:
    """What the template of a task's page shows, in a fixed number of queries; `place` if it is not stored."""
    study = task.study
    guideline, place = current_guideline(study), place or place_of(task)
    return {
        "task": task,
        "study": study,
        "position": place.position,
        "guideline": guideline,
        "guideline_html": render_markdown(guideline.body) if guideline else "",
        "is_open": place.is_open,
        "previous_url": place.previous_url,
        "next_url": place.next_url,
        "onward_url": place.onward[0][1] if place.onward else place.end_url,
        "config_json": _config_json(task, place, version=guideline.version if guideline else None),
        **page.context(task),
    }


def place_of(task: LabelTask) -> Place:
    """Where a stored task is."""
    study, position = task.study, position_of(task)
    previous, following = position.previous, position.next
    end = reverse("annotation:label-go", args=[study.uid])
    return Place(
        name=str(task.uid),
        person=str(task.annotator.uid),
        position=position,
        previous_url=page_of(study.kind, previous.uid) if previous else "",
        next_url=page_of(study.kind, following.uid) if following else "",
        end_url=f"{end}?after={position.number}",
        onward=tuple((str(uid), page_of(study.kind, uid)) for uid in ahead_of(task)),
        acts={name: _act(name, task) for name in (*ACTS, "near")},
        is_open=study.state == Study.State.OPEN,
    )


def _act(name: str, task: LabelTask) -> str:
    kind = [task.study.kind] if name in {"choice", "undo"} else []
    return reverse(f"annotation:label-{name}", args=[*kind, task.uid])


def _config_json(task: LabelTask, place: Place, *, version: int | None) -> str:
    """What the scripts of the page get: addresses of its acts, and how the task stands."""
    return json.dumps(
        {
            "kind": task.study.kind,
            "task": place.name,
            "person": place.person,
            "urls": place.acts | {"login": reverse("login"), "end": place.end_url},
            "onward": [{"task": name, "url": url} for name, url in place.onward],
            "number": place.position.number,
            "revision": task.revision,
            "states": {value: str(label) for value, label in LabelTask.State.choices},
            "has_feedback": task.item.role == LabelItem.Role.TRAINING,
            "guideline": version,
            "time_zone": timezone.get_current_timezone_name(),
            "contact_every_s": CONTACT_EVERY_S,
            "longest_gap_s": LONGEST_GAP.total_seconds(),
            "is_open": place.is_open,
            "n_done_besides": place.position.n_done - (task.state == LabelTask.State.DONE),
        }
    )
