"""The page on which an annotator answers a task: what a kind of study has of its own, and what all show."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
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
from annotation.studies.guidelines import current_guideline, render_markdown


class TaskPage:
    """How annotators answer the tasks of one kind of label work; without a template they can't."""

    value: str
    answers: AnswerKind[Any]
    beside: AnswerKind[Any] | None = None
    """Something optional that is answered on the same page; its form says `beside=1`."""
    task_template = ""
    task_rows: tuple[str, ...] = ()
    """What the page shows of a task beside its study and annotator, as `select_related` names it."""

    def page_context(self, task: LabelTask) -> dict[str, Any]:
        """What the template shows beside what every kind does."""
        return {}

    def page_instead(self, request: HttpRequest, task: LabelTask) -> HttpResponse | None:
        """What is shown instead of a task; called before one is shown."""
        return None

    def pane(self, context: dict[str, Any]) -> Pane | None:
        """Texts to put in place of the page's marker, made from the context."""
        return None

    def feedback(self, outcome: Outcome[Any]) -> str:
        """What an annotator gets to read about an answer, if anything."""
        return ""

    def question_in_words(self, task: LabelTask, question: UUID) -> str:
        """The question that an answer is about, if a task asks several."""
        return ""

    def answers_in(self, data: QueryDict) -> AnswerKind[Any]:
        """The kind of the answer that a form holds."""
        return self.beside if self.beside and data.get("beside") == "1" else self.answers


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
        **page.page_context(task),
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


def payload_of(page: TaskPage, outcome: Outcome[Any]) -> dict[str, Any]:
    """An outcome as plain values, for the scripts of the page."""
    task, feedback = outcome.task, page.feedback(outcome)
    return {
        **asdict(outcome.answer),
        **({"question": str(outcome.question)} if outcome.question else {}),
        "is_complete": outcome.answer.is_complete,
        "state": task.state,
        "n_answered": task.n_answered,
        "n_questions": task.n_questions,
        "revision": task.revision,
        **({} if outcome.is_changed else {"unchanged": True}),
        **({"feedback": feedback} if feedback else {}),
    }
