"""The page on which an annotator answers a task: what a kind of study has of its own, and what all show."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone

from annotation.labelling.activity import CONTACT_EVERY_S, LONGEST_GAP
from annotation.labelling.keys import COMMON, Key, keys_in_use, own_keys, usual_of
from annotation.labelling.position import OPEN_STATES, Position, ahead_of, page_of, position_of
from annotation.labelling.recording import AnswerKind, Outcome
from annotation.labelling.trial.examples import TrialKind
from annotation.models import LabelItem, LabelTask, RemarkReply, Study
from annotation.pane import Pane
from annotation.studies.amounts import pay
from annotation.studies.guidelines import current_guideline, guideline_html
from annotation.studies.rhythm import (
    NEW_UNTIL,
    OFFER_AFTER,
    SWITCHES,
    Preferences,
    day_of,
    goal_of,
    items_an_hour,
    preferences_of,
)


@dataclass(frozen=True, slots=True)
class QuestionText:
    """What an answer was given to, in the language of the material."""

    text: str
    language: str = ""
    beside: str = ""
    """What it is part of, in the same language."""
    about: str = ""
    """What it is called on the page, in the reader's language, where it is not what the task itself asks."""


class TaskPage:
    """How annotators answer the tasks of one kind of label work; without a template they can't."""

    value: str
    answers: AnswerKind[Any]
    beside: AnswerKind[Any] | None = None
    """Something optional that is answered on the same page; its form says `beside=1`."""
    task_template = ""
    task_rows: tuple[str, ...] = ()
    """What the page shows of a task beside its study and annotator, as `select_related` names it."""
    keys: tuple[Key, ...] = ()
    """Keys beside those of all label work, which a person may change."""
    fixed_keys = ""
    """Characters that do something on this page and cannot be changed."""
    question_rows: tuple[str, ...] = ()
    """What `question_of` reads of an answer, as `select_related` names it."""
    beside_rows: tuple[str, ...] = ()
    """The same of `question_beside`."""

    @property
    def all_keys(self) -> tuple[Key, ...]:
        """Every key that a person may change, those of all label work first."""
        return (*COMMON, *self.keys)

    def own_keys(self, preferences: Preferences) -> dict[str, str]:
        """The keys of a person that differ from the usual ones, by name."""
        return own_keys(self.all_keys, preferences.keys.get(self.value, {}))

    def question_of(self, row: Any) -> QuestionText:
        """What an answer was given to, for the list of a person's last answers."""
        return QuestionText(str(row.task.item))

    def question_beside(self, row: Any) -> QuestionText:
        """The same, of what is optional."""
        return self.question_of(row)

    trial: TrialKind[Any] | None = None
    """The worked examples that a study can begin with."""

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


def context_of(
    page: TaskPage,
    task: LabelTask,
    *,
    place: Place | None = None,
    shown: dict[str, Any] | None = None,
    back_url: str = "",
) -> dict[str, Any]:
    """What the template of a task's page shows, in a fixed number of queries.

    It leads to `back_url` where there is one, instead of the next open task. `place` is where a task is that is
    not stored, and `shown` what the kind shows of an item that is not either.
    """
    study, at = task.study, place or place_of(task)
    if back_url:
        at = replace(at, onward=(), end_url=back_url)
    guideline, preferences = current_guideline(study), preferences_of(task.annotator)
    chosen = page.own_keys(preferences)
    return {
        "task": task,
        "study": study,
        "position": at.position,
        "guideline": guideline,
        "guideline_html": guideline_html(guideline),
        "is_open": at.is_open,
        "previous_url": at.previous_url,
        "next_url": at.next_url,
        "back_url": back_url,
        "onward_url": at.onward[0][1] if at.onward else at.end_url,
        "choice_url": at.acts["choice"],
        "undo_url": at.acts["undo"],
        "preferences": preferences,
        "keys": keys_in_use(page.all_keys, chosen),
        "config_json": json.dumps(
            _config(task, at, version=guideline.version if guideline else None)
            | {"keys": usual_of(page.all_keys, chosen)}
            | {name: getattr(preferences, name) for name in SWITCHES}
        ),
        **({} if place else {"rhythm": rhythm_of(task, at.position), "replies": _replies(task)}),
        **(page.page_context(task) if shown is None else shown),
    }


def _replies(task: LabelTask) -> Iterable[RemarkReply]:
    """Answers of researchers, beside a remark that still stands; all are on a page of their own."""
    return task.replies.all() if task.has_remark else ()


def rhythm_of(task: LabelTask, position: Position) -> dict[str, Any]:
    """What the quiet line on the page of a task says, as the person wants it; three queries, or none."""
    study, preferences = task.study, preferences_of(task.annotator)
    if not preferences.shows_pace:
        return {"is_shown": False}
    day = day_of(task.annotator, timezone.now())
    return {
        "is_shown": True,
        "today": day.earned or ([(study.currency, Decimal(0))] if study.hourly_rate else []),
        "goal": goal_of(preferences, day),
        "per_hour": items_an_hour(task.annotator, study),
        "of_study": pay(position.worked_ms, study.hourly_rate) if study.hourly_rate else None,
        "n_open": position.n_open,
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
        acts={name: _act(name, task) for name in (*ACTS, "near", "rhythm", "read")}
        | {"prefer": reverse("annotation:prefer")},
        is_open=study.state == Study.State.OPEN,
    )


def _act(name: str, task: LabelTask) -> str:
    kind = [task.study.kind] if name in {"choice", "undo"} else []
    return reverse(f"annotation:label-{name}", args=[*kind, task.uid])


def _config(task: LabelTask, place: Place, *, version: int | None) -> dict[str, Any]:
    """What the scripts of the page get: addresses of its acts, and how the task stands."""
    return {
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
        "n_open_besides": place.position.n_open - (task.state in OPEN_STATES),
        "new_until": NEW_UNTIL,
        "offer_after": OFFER_AFTER,
    }


def payload_of(page: TaskPage, outcome: Outcome[Any]) -> dict[str, Any]:
    """An outcome as plain values, for the scripts of the page."""
    task, feedback = outcome.task, page.feedback(outcome)
    return {
        **page.answers.plain(outcome.answer),
        **({"question": str(outcome.question)} if outcome.question else {}),
        "is_complete": outcome.answer.is_complete,
        "state": task.state,
        "n_answered": task.n_answered,
        "n_questions": task.n_questions,
        "revision": task.revision,
        **({} if outcome.is_changed else {"unchanged": True}),
        **({"feedback": feedback} if feedback else {}),
    }
