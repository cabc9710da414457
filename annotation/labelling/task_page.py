"""The page on which an annotator answers a task: where that is among their tasks, its keys, what a kind has of its
own there, and what all show.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, Sum
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.kinds import Text
from annotation.labelling.handling import CONTACT_EVERY_S, LONGEST_GAP
from annotation.labelling.recording import AnswerKind, Outcome
from annotation.labelling.trial import TrialKind
from annotation.models import LabelItem, LabelTask, Study
from annotation.pane import Pane, respond
from annotation.querysets import LabelTaskQuerySet
from annotation.studies.amounts import pay
from annotation.studies.guidelines import current_guideline, guideline_html
from annotation.studies.rhythm import (
    NEW_UNTIL,
    OFFER_AFTER,
    PACE_AFTER_MS,
    SWITCHES,
    Preferences,
    day_of,
    goal_of,
    items_an_hour,
    preferences_of,
)


@dataclass(frozen=True, slots=True)
class Key:
    """Something that a key does: its name, its usual key, what it does in words, and what else does the same."""

    name: str
    usual: str
    does: Text
    also: str = ""


COMMON = (
    Key("next", "Enter", gettext_lazy("go on to the next item")),
    Key("undo", "u", gettext_lazy("undo")),
    Key("unsure", "x", gettext_lazy("not sure")),
    Key("flag", "f", gettext_lazy("flag")),
    Key("comment", "F", gettext_lazy("comment")),
    Key("skip", "s", gettext_lazy("skip")),
)
"""What one does in every kind of label work."""
FIXED = "J?"
"""Keys that mean the same everywhere and cannot be changed, beside arrows and the like."""


def keys_in_use(keys: Sequence[Key], chosen: Mapping[str, str]) -> dict[str, str]:
    """The key of each name, a person's own where there is one."""
    return {key.name: chosen.get(key.name) or key.usual for key in keys}


def own_keys(keys: Sequence[Key], wanted: Mapping[str, str]) -> dict[str, str]:
    """Of the keys that somebody wants those that differ from the usual ones."""
    return {key.name: wanted[key.name] for key in keys if wanted.get(key.name, "") not in {"", key.usual}}


def problems_of(keys: Sequence[Key], chosen: Mapping[str, str], *, fixed: str) -> dict[str, str]:
    """Why keys cannot be used, by name: not one character, the same twice, or one that means something else.

    `fixed` are the characters that stand for something else on the page.
    """
    fixed += "".join(key.also for key in keys)
    problems: dict[str, str] = {}
    taken: dict[str, Text] = {}
    for key in keys:
        pressed = chosen.get(key.name) or key.usual
        is_own = pressed != key.usual
        if is_own and (len(pressed) != 1 or not pressed.isprintable() or pressed.isspace()):
            problems[key.name] = _("One letter, digit or sign.")
        elif is_own and pressed in fixed and pressed not in key.also:
            problems[key.name] = _("“%(key)s” does something else on this page.") % {"key": pressed}
        elif pressed in taken:
            problems[key.name] = _("“%(key)s” is taken: %(does)s.") % {"key": pressed, "does": taken[pressed]}
        taken.setdefault(pressed, key.does)
    return problems


def usual_of(keys: Sequence[Key], chosen: Mapping[str, str]) -> dict[str, str]:
    """For scripts: the usual key that each own one stands for, and "" for usual ones that do nothing now."""
    moved = {key.usual: "" for key in keys if chosen.get(key.name, key.usual) != key.usual}
    return moved | {chosen[key.name]: key.usual for key in keys if key.name in chosen}


OPEN_STATES = (LabelTask.State.TODO, LabelTask.State.BEGUN)
NEAR = 15
"""Tasks listed on either side."""
AHEAD = 10
"""Open tasks whose pages a browser holds, so that work goes on without a connection."""

_COLUMNS = ("uid", "state", "is_flagged", "revision")


@dataclass(frozen=True, slots=True)
class ListedTask:
    """A task in the list of numbers; `number` counts from 1 in the annotator's order."""

    number: int
    uid: UUID
    state: str
    is_flagged: bool
    revision: int = 0

    @property
    def label(self) -> str:
        return str(LabelTask.State(self.state).label)

    @property
    def is_open(self) -> bool:
        """Whether something is left to answer that was not skipped."""
        return self.state in OPEN_STATES


@dataclass(frozen=True, slots=True)
class Position:
    """A task's place among the `n` of its annotator; `near` are the tasks around it, itself included.

    `n_skipped` are out of the way; `worked_ms` is the active time of all.
    """

    number: int
    n: int
    n_done: int
    near: tuple[ListedTask, ...]
    n_skipped: int = 0
    worked_ms: int = 0

    @property
    def n_open(self) -> int:
        """How many tasks have something left to answer and were not skipped."""
        return self.n - self.n_done - self.n_skipped

    @property
    def n_before(self) -> int:
        return self.near[0].number - 1

    @property
    def n_after(self) -> int:
        return self.n - self.near[-1].number


def page_of(kind: str, uid: UUID, question: UUID | str | None = None, *, back: str = "") -> str:
    """The address of a task's page, or of one question on it; with `back`, the page leads there and not on."""
    address = reverse("annotation:label-task", args=[kind, uid]) + (f"?back={back}" if back else "")
    return f"{address}#q-{question}" if question else address


def tasks_beside(task: LabelTask) -> LabelTaskQuerySet:
    """All tasks of the same annotator in the same study, in order."""
    rows: LabelTaskQuerySet = LabelTask.objects.filter(study=task.study_id, annotator=task.annotator_id)
    return rows.order_by("position")


def listed(tasks: LabelTaskQuerySet) -> list[ListedTask]:
    return [ListedTask(number, *row) for number, row in enumerate(tasks.values_list(*_COLUMNS), 1)]


def position_of(task: LabelTask) -> Position:
    """Where a task is; three queries, as quick among two thousand as among ten."""
    tasks = tasks_beside(task)
    counts = tasks.order_by().aggregate(
        n=Count("pk"),
        n_done=Count("pk", filter=Q(state=LabelTask.State.DONE)),
        n_skipped=Count("pk", filter=Q(state=LabelTask.State.SKIPPED)),
        worked_ms=Sum("active_ms"),
        number=Count("pk", filter=Q(position__lte=task.position)),
    )
    before = tasks.filter(position__lt=task.position).order_by("-position").values_list(*_COLUMNS)[:NEAR]
    after = tasks.filter(position__gt=task.position).values_list(*_COLUMNS)[:NEAR]
    rows = [*reversed(before), (task.uid, task.state, task.is_flagged, task.revision), *after]
    near = tuple(ListedTask(number, *row) for number, row in enumerate(rows, counts["number"] - len(before)))
    return Position(near=near, **counts)


def ahead_of(task: LabelTask) -> list[UUID]:
    """The open tasks to go on to after this one, from the last on the first again; one query."""
    rows = tasks_beside(task).exclude(pk=task.pk).unfinished().with_blocked().filter(is_blocked=False)
    is_before = ExpressionWrapper(Q(position__lt=task.position), output_field=BooleanField())
    ordered = rows.annotate(is_before=is_before).order_by("is_before", "position")
    return list(ordered.values_list("uid", flat=True)[:AHEAD])


def next_open(tasks: LabelTaskQuerySet, at: LabelTask | None) -> UUID | None:
    """The next task that can be opened with something left to answer, from the last on the first again."""
    uids = tasks.unfinished().with_blocked().filter(is_blocked=False).values_list("uid", flat=True)
    after = uids.filter(position__gt=at.position).first() if at else None
    return after or uids.first()


@dataclass(frozen=True, slots=True)
class QuestionText:
    """Text that an answer was given to, in the language of the material."""

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
        return own_keys(self.all_keys, preferences.keys.get(self.value, {}))

    def question_of(self, row: Any) -> QuestionText:
        """Question that was answered, for the list of a person's last answers."""
        return QuestionText(str(row.task.item))

    def question_beside(self, row: Any) -> QuestionText:
        """The same, of what is optional."""
        return self.question_of(row)

    trial: TrialKind[Any] | None = None
    """The worked examples that a study can begin with."""

    def page_context(self, task: LabelTask) -> dict[str, Any]:
        """Context of the template beyond that of every kind."""
        return {}

    def page_instead(self, request: HttpRequest, task: LabelTask) -> HttpResponse | None:
        """Page instead of a task; called before one is shown."""
        return None

    def pane(self, context: dict[str, Any]) -> Pane | None:
        """Texts to put in place of the page's marker, made from the context."""
        return None

    def feedback(self, outcome: Outcome[Any]) -> str:
        """Feedback on an answer for its annotator, if any."""
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
    """Context of the template of a task's page, in a fixed number of queries.

    It leads to `back_url` where there is one, instead of the next open task. `place` is where a task is that is
    not stored, and `shown` what the kind shows of an item that is not either.
    """
    study, at = task.study, place or place_of(task)
    if back_url:
        at = replace(at, onward=(), end_url=back_url)
    guideline, preferences = current_guideline(study), preferences_of(task.annotator).of_kind(study.kind)
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
        **({} if place else {"rhythm": rhythm_of(task, at.position)}),
        # beside a remark that still stands; all answers of researchers are on a page of their own
        "replies": task.replies.all() if not place and task.has_remark else (),
        **(page.page_context(task) if shown is None else shown),
    }


def shown_in(request: HttpRequest, kind: TaskPage, context: dict[str, Any], pane: Pane | None) -> HttpResponse:
    """The page of a task, with texts in the place of its marker where there are some."""
    response = render(request, kind.task_template, context)
    return response if pane is None else respond(request, response, pane)


def rhythm_of(task: LabelTask, position: Position) -> dict[str, Any]:
    """Quiet line on the page of a task, as the person wants it; three queries, or none."""
    study, preferences = task.study, preferences_of(task.annotator)
    if not preferences.shows_pace:
        return {"is_shown": False}
    day = day_of(task.annotator, timezone.now())
    return {
        "is_shown": True,
        "today": day.earned or ([(study.currency, Decimal(0))] if study.hourly_rate else []),
        "goal": goal_of(preferences, day),
        "per_hour": items_an_hour(task.annotator, study) if position.worked_ms >= PACE_AFTER_MS else None,
        "of_study": pay(position.worked_ms, study.hourly_rate) if study.hourly_rate else None,
        "n_open": position.n_open,
    }


def place_of(task: LabelTask) -> Place:
    study, position = task.study, position_of(task)
    beside = {each.number - position.number: each for each in position.near}
    previous, following = beside.get(-1), beside.get(1)
    end = reverse("annotation:label-go", args=[study.uid])
    acts = [
        (name, [study.kind] if name in {"choice", "undo"} else []) for name in (*ACTS, "near", "rhythm", "read")
    ]
    return Place(
        name=str(task.uid),
        person=str(task.annotator.uid),
        position=position,
        previous_url=page_of(study.kind, previous.uid) if previous else "",
        next_url=page_of(study.kind, following.uid) if following else "",
        end_url=f"{end}?after={position.number}",
        onward=tuple((str(uid), page_of(study.kind, uid)) for uid in ahead_of(task)),
        acts={name: reverse(f"annotation:label-{name}", args=[*of_kind, task.uid]) for name, of_kind in acts}
        | {"prefer": reverse("annotation:prefer")},
        is_open=study.state == Study.State.OPEN,
    )


def _config(task: LabelTask, place: Place, *, version: int | None) -> dict[str, Any]:
    """Data for the scripts of the page: addresses of its acts, and how the task stands."""
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
