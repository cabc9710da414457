"""Answers to an item, or to one question of it, of every kind: one row per act, the newest is current.

Nothing is ever changed or lost. A subclass of `AnswerKind` has what one kind has of its own: model, columns, and
what it accepts. `record` is asked more than anything else, so it reads few columns in few queries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Q
from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.labelling.activity import AT_ONCE, Told
from annotation.labelling.handling import TaskRefused, Tasks, keep_contact, locked, take_answers
from annotation.labelling.undoing import Undone, last_act, newest_act, undone_on
from annotation.models import LabelTask
from benchmarks.models import Insight


class Answer(Protocol):
    """An answer, a frozen dataclass; equal ones mean the same. The cleared answer is one of them."""

    @property
    def is_unsure(self) -> bool:
        """Whether the annotator marked it so."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing of what is asked is left open; any other counts for nothing, as does a cleared one."""


A = TypeVar("A", bound=Answer)


class AnswerKind(ABC, Generic[A]):
    """One kind of answer: how it is read from a form, checked, stored and named.

    With `by_insight` an answer is about one of the insights of the item's summary, otherwise about the item. An
    optional kind stands beside what a task asks: a task is done without it, and its answers do not count as those
    of the task.
    """

    model: Any
    by_insight = False
    is_optional = False

    @abstractmethod
    def parse(self, data: QueryDict) -> A:
        """The answer in a form; raises BadAct or TaskRefused."""

    @abstractmethod
    def checked(self, task: Any, answer: A) -> A:
        """The answer as it is to be stored; raises TaskRefused."""

    @abstractmethod
    def columns(self, task: Any, answer: A) -> dict[str, Any]:
        """The fields of the row that no other kind has."""

    @abstractmethod
    def answer_of(self, row: Any) -> A:
        """The answer in a row; the cleared one of None."""

    @abstractmethod
    def in_words(self, task: Any, answer: A) -> str:
        """An answer as the page names it; a cleared one is empty."""

    def plain(self, answer: A) -> dict[str, Any]:
        """An answer as values of JSON: what scripts are told and trials store."""
        return asdict(answer)  # type: ignore[call-overload,no-any-return]

    def differing(self, first: A, second: A) -> tuple[A, A]:
        """What differs in two answers, where an answer has parts that are given one by one."""
        return first, second

    def current(self, task: LabelTask) -> A:
        """The answer to a task that holds now, of a kind without questions; one query."""
        return self.answer_of(self.model.objects.filter(task=task, is_current=True).first())

    def counts(self, answer: A) -> bool:
        """Whether it answers its question."""
        return not self.is_optional and answer.is_complete


@dataclass(frozen=True, slots=True)
class Outcome(Generic[A]):
    """The task after an act, and what its answer is now, to which `question` if its kind has several an item.

    `undone` says what an undo took back.
    """

    task: LabelTask
    answer: A
    question: UUID | None = None
    is_changed: bool = True
    undone: Undone | None = None


@transaction.atomic
def record(
    *,
    kind: AnswerKind[A],
    tasks: Tasks,
    answer: A,
    op_id: str,
    now: datetime,
    question: UUID | None = None,
    guideline_version: int | None = None,
    told: Told = AT_ONCE,
) -> Outcome[A]:
    """Store one answer; the same `op_id` again, or the answer that holds already, stores nothing more.

    `told` is what the browser says of an answer that it could not send at once.

    Raises:
        LabelTask.DoesNotExist: `tasks` holds no task, for instance because it is another person's.
        TaskRefused: the study is closed, the item has no such question, or the kind does not accept the answer.
    """
    task = locked(tasks)
    op_id = op_id or uuid4().hex
    about: dict[str, Any] = {}
    if kind.by_insight:
        summary = task.item.summary
        insights = Insight._base_manager.filter(uid__in=[question], subtopic=summary and summary.subtopic_id)
        about["insight_id"] = insights.order_by().values_list("pk", flat=True).first()
        if about["insight_id"] is None:
            raise TaskRefused("not_asked", _("This task does not ask about that."))
    rows = list(kind.model.objects.filter(Q(op_id=op_id) | Q(is_current=True, **about), task=task).order_by())
    current = next((row for row in rows if row.is_current and about.items() <= vars(row).items()), None)
    if any(row.op_id == op_id for row in rows):
        return Outcome(task, kind.answer_of(current), question)
    answer = kind.checked(task, answer)
    if kind.answer_of(current) == answer:
        task.save(update_fields=keep_contact(task, now, told))
        return Outcome(task, answer, question, is_changed=False)
    versions = dict(task.study.guidelines.order_by("version").values_list("version", "pk"))
    newest = max(versions, default=0)
    guideline = versions.get(newest if guideline_version is None else guideline_version, versions.get(newest))
    made = new_row(kind, task, answer, about=about, guideline=guideline, op_id=op_id, now=now)
    _replace(kind, task, current, made, told)
    return Outcome(task, answer, question)


@transaction.atomic
def undo(
    *, kind: AnswerKind[A], tasks: Tasks, op_id: str, now: datetime, only_here: bool = False
) -> Outcome[A] | None:
    """Take back the person's last act in the study that was not taken back yet, on whatever task it was.

    A row restores what was before; the outcome is that of the task it is on. With `only_here` acts on other tasks
    stay. None when there is nothing to take back; the same `op_id` again takes back nothing more.
    """
    act = last_act(model=kind.model, tasks=tasks, op_id=op_id, only_here=only_here, now=now)
    if act is None:
        return None
    task = locked(act.tasks)
    last = act.row.undoes if act.is_repeated else newest_act(kind.model.objects.filter(task=task))
    question, about = (last.insight.uid, {"insight_id": last.insight_id}) if kind.by_insight else (None, {})
    current = kind.model.objects.filter(task=task, is_current=True, **about).first()
    undone = undone_on(task, kind.answer_of(last))
    if act.is_repeated:
        return Outcome(task, kind.answer_of(current), question, undone=undone)
    answer, op_id = kind.answer_of(last.supersedes), op_id or uuid4().hex
    made = new_row(kind, task, answer, about=about, guideline=last.guideline_id, op_id=op_id, now=now)
    made.undoes = last
    _replace(kind, task, current, made)
    return Outcome(task, answer, question, undone=undone)


def new_row(
    kind: AnswerKind[A],
    task: LabelTask,
    answer: A,
    *,
    about: Mapping[str, int | None],
    guideline: int | None,
    op_id: str,
    now: datetime,
) -> Any:
    """The row of an answer, not stored; `about` names the insight, if the kind asks by insight."""
    return kind.model(
        study_id=task.study_id,
        annotator_id=task.annotator_id,
        task=task,
        guideline_id=guideline,
        is_complete=answer.is_complete,
        is_unsure=answer.is_unsure,
        op_id=op_id,
        made_at=now,
        **about,
        **kind.columns(task, answer),
    )


def _replace(kind: AnswerKind[A], task: LabelTask, current: Any, made: Any, told: Told = AT_ONCE) -> None:
    if current is not None:
        current.is_current = False
        current.save(update_fields=["is_current"])
    made.supersedes = current
    made.save(force_insert=True)
    gained = int(kind.counts(kind.answer_of(made))) - int(kind.counts(kind.answer_of(current)))
    changed = keep_contact(task, made.made_at, told)
    changed += take_answers(task, n_answered=task.n_answered + gained, now=made.made_at)
    task.save(update_fields=changed)
