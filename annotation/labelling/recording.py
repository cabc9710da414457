"""Whole answers to an item, for every kind whose model extends `Answer`: one row per act, the newest is current.

Nothing is ever changed or lost. What a kind has of its own comes in an `AnswerKind`: its model, its columns, and
what it accepts. `record` is the hot path, so its queries are prepared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar
from uuid import uuid4

from django.db import transaction

from annotation.labelling.handling import Tasks, keep_contact, take_answers
from annotation.labelling.reading import AnswerReads
from annotation.labelling.undoing import Undone, last_act, standing, undone_on
from annotation.models import LabelItem, LabelTask
from benchmarks import prepared


class Choice(Protocol):
    """One whole answer, a frozen dataclass; equal ones say the same. The cleared answer is one of them."""

    @property
    def is_unsure(self) -> bool:
        """Whether the person marked it so."""

    @property
    def is_complete(self) -> bool:
        """Whether it says all that is asked; any other counts for nothing."""


C = TypeVar("C", bound=Choice)


@dataclass(frozen=True)
class AnswerKind(Generic[C]):
    """What one kind of answer has of its own.

    `said` reads a choice from a row, None giving the cleared one; `checked` gives the choice as it is to be stored
    or raises TaskRefused; `columns` are the fields of the row that no other kind has. The task that both get holds
    study, item and what `needed` names (like "item__key_point").
    """

    model: Any
    needed: tuple[str, ...]
    said: Callable[[Any], C]
    checked: Callable[[Any, C], C]
    columns: Callable[[Any, C], dict[str, Any]]
    reads: AnswerReads = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the reads; they are compiled at their first use."""
        object.__setattr__(self, "reads", AnswerReads(self.model, needed=self.needed))


@dataclass(frozen=True, slots=True)
class Outcome(Generic[C]):
    """How a task stands after an act, and what its answer is now; `undone` says what an undo took back."""

    choice: C
    state: str
    n_answered: int
    n_questions: int
    active_ms: int
    is_changed: bool = True
    undone: Undone | None = None


def told(outcome: Outcome[Any]) -> dict[str, Any]:
    """An outcome as plain values, for the scripts of the page."""
    return {
        **asdict(outcome.choice),
        "is_complete": outcome.choice.is_complete,
        "state": outcome.state,
        "n_answered": outcome.n_answered,
        "n_questions": outcome.n_questions,
        **({} if outcome.is_changed else {"unchanged": True}),
    }


@transaction.atomic
def record(
    *,
    kind: AnswerKind[C],
    tasks: Tasks,
    choice: C,
    op_id: str,
    now: datetime,
    guideline_version: int | None = None,
) -> Outcome[C]:
    """Store one whole answer; the same `op_id` again, or the answer that holds already, stores nothing more.

    Raises:
        LabelTask.DoesNotExist: `tasks` holds no task, for instance because it is another person's.
        TaskRefused: the study is closed, or the kind does not accept the choice.
    """
    reads = kind.reads
    task = reads.task(tasks)
    facts = reads.around(task, op_id=op_id, guideline_version=guideline_version)
    task.contact_at = facts.contact_at
    current = reads.current(task)
    if facts.delivered is not None:
        return _outcome(task, kind.said(current))
    choice = kind.checked(task, choice)
    if kind.said(current) == choice:
        prepared.update(task, *keep_contact(task, now))
        return _outcome(task, choice, is_changed=False)
    _replace(kind, task, current, choice, op_id=op_id, now=now, guideline_id=facts.guideline_id)
    return _outcome(task, choice)


@transaction.atomic
def undo(
    *, kind: AnswerKind[C], tasks: Tasks, op_id: str, now: datetime, only_here: bool = False
) -> Outcome[C] | None:
    """Take back the person's last act in the study that was not taken back yet, on whatever task it was.

    A row restores what was before; the outcome is that of the task it is on. With `only_here` acts on other tasks
    stay. None when there is nothing to take back; the same `op_id` again takes back nothing more.
    """
    found = last_act(model=kind.model, tasks=tasks, op_id=op_id, only_here=only_here, now=now)
    if found is None:
        return None
    task = kind.reads.task(found.tasks)
    task.contact_at = kind.reads.around(task, op_id=op_id, guideline_version=None).contact_at
    current = kind.reads.current(task)
    if found.is_repeated:
        return _outcome(task, kind.said(current), undone=undone_on(task, kind.said(found.row.undoes)))
    last = standing(kind.model.objects.filter(task=task))
    before = kind.said(last.supersedes)
    _replace(kind, task, current, before, op_id=op_id, now=now, guideline_id=last.guideline_id, undoes=last)
    return _outcome(task, before, undone=undone_on(task, kind.said(last)))


def _replace(
    kind: AnswerKind[C],
    task: LabelTask,
    current: Any,
    choice: C,
    *,
    op_id: str,
    now: datetime,
    guideline_id: int | None,
    undoes: Any = None,
) -> None:
    if current is not None:
        current.is_current = False
        prepared.update(current, "is_current")
    made = kind.model(
        study_id=task.study_id,
        annotator_id=task.annotator_id,
        task=task,
        guideline_id=guideline_id,
        is_complete=choice.is_complete,
        is_unsure=choice.is_unsure,
        is_check=task.item.role == LabelItem.Role.GOLD,
        supersedes=current,
        undoes=undoes,
        op_id=op_id or uuid4().hex,
        made_at=now,
        **kind.columns(task, choice),
    )
    prepared.insert(made)
    n_answered = task.n_questions if choice.is_complete else 0
    changed = keep_contact(task, now) + take_answers(task, n_answered=n_answered, now=now)
    prepared.update(task, *changed)


def _outcome(task: LabelTask, choice: C, *, is_changed: bool = True, undone: Undone | None = None) -> Outcome[C]:
    return Outcome(
        choice, task.state, task.n_answered, task.n_questions, task.active_ms, is_changed=is_changed, undone=undone
    )
