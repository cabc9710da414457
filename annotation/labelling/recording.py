"""Answers to an item, or to one question of it, of every kind: one row per act, the newest is current.

Nothing is ever changed or lost. A subclass of `AnswerKind` has what one kind has of its own: model, columns, and
what it accepts. `record` is the hot path: what it asks the database is in `annotation.hot`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID, uuid4

from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation import hot
from annotation.hot import Before
from annotation.labelling.handling import (
    AT_ONCE,
    OwnTask,
    TaskRefused,
    Tasks,
    Told,
    contact,
    ensure_open,
    keep_contact,
    rows_of,
    take_answers,
    taking_answers,
    unskip,
)
from annotation.models import Annotator, LabelTask


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
        """Differing parts of two answers, where an answer has parts that are given one by one."""
        return first, second

    def current(self, task: LabelTask) -> A:
        """The answer to a task that holds now, of a kind without questions; one query."""
        return self.answer_of(self.model.objects.filter(task=task, is_current=True).first())

    def counts(self, answer: A) -> bool:
        return not self.is_optional and answer.is_complete

    def before(self, task: LabelTask, *, op_id: str, version: int | None, question: UUID | None) -> Before:
        """Read what is there before an act on a locked task, which is told the time of the last contact."""
        there = hot.before(
            task, model=self.model, op_id=op_id, version=version or 0, by_insight=self.by_insight, insight=question
        )
        task.contact_at = there.contact_at  # type: ignore[attr-defined]
        return there


@dataclass(frozen=True, slots=True)
class Outcome(Generic[A]):
    """The task after an act, and what its answer is now, to which `question` if its kind has several an item."""

    task: LabelTask
    answer: A
    question: UUID | None = None
    is_changed: bool = True


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
    task = _locked(tasks)
    op_id = op_id or uuid4().hex
    before = kind.before(task, op_id=op_id, version=guideline_version, question=question)
    if kind.by_insight and before.insight_id is None:
        raise TaskRefused("not_asked", _("This task does not ask about that."))
    if before.delivered is not None:
        return Outcome(task, kind.answer_of(before.current), question)
    answer = kind.checked(task, answer)
    if kind.answer_of(before.current) == answer:
        task.save(update_fields=keep_contact(task, now, told))
        return Outcome(task, answer, question, is_changed=False)
    _replace(kind, task, answer, before, op_id=op_id, now=now, told=told)
    return Outcome(task, answer, question)


@dataclass(frozen=True, slots=True)
class Undone:
    """An undo: an answer of a kind that `was` so, with the outcome, or else a skip."""

    task: LabelTask
    kind: AnswerKind[Any] | None = None
    was: Any = None
    outcome: Outcome[Any] | None = None

    @property
    def number(self) -> int:
        """The number of the task that the page shows for it, in the annotator's order."""
        of_person = LabelTask.objects.filter(study=self.task.study_id, annotator=self.task.annotator_id)
        return of_person.filter(position__lte=self.task.position).count()


@transaction.atomic
def undo(
    *, kinds: Sequence[AnswerKind[Any]], tasks: Tasks, op_id: str, now: datetime, only_here: bool = False
) -> Undone | None:
    """Take back the person's last act in the study that was not taken back yet, on whatever task it was.

    That is an answer of one of these kinds, whose row restores what was before, or a skip; answers on the task
    stay then. With `only_here` acts on other tasks than that of `tasks` stay. None when there is nothing to take
    back; the same `op_id` again takes back nothing more. The time since the last contact belongs to the page the
    person is on.

    Raises:
        LabelTask.DoesNotExist: no such task of this person.
        TaskRefused: the study does not take answers now.
    """
    here: LabelTask = rows_of(tasks).select_related("study").get()
    ensure_open(here.study)
    # Undos of one person wait for each other, so that the row found stays the last one but for new answers.
    # NO KEY: storing an answer takes a key share of this row while it holds a task that is locked after it here.
    Annotator.objects.select_for_update(no_key=True).get(pk=here.annotator_id)
    of_person = LabelTask.objects.filter(study=here.study_id, annotator=here.annotator_id)
    if op_id:  # delivered before, on whatever task, also with `only_here`
        before = of_person.filter(unskip_op_id=op_id).select_related("study").first()
        if before is not None:
            return Undone(before)
        for kind in kinds:
            row = kind.model.objects.filter(task__in=of_person, op_id=op_id).first()
            if row is not None:
                return _undo_answer(kind, row.task_id, op_id=op_id, now=now, repeated=row)
    about = of_person.filter(pk=here.pk) if only_here else of_person
    skips = about.filter(state=LabelTask.State.SKIPPED, skipped_at__isnull=False).order_by("-skipped_at")
    acts: list[tuple[Any, int, AnswerKind[Any] | None]] = [(row.skipped_at, row.pk, None) for row in skips[:1]]
    newest = [(_newest_act(kind.model.objects.filter(task__in=about)), kind) for kind in kinds]
    acts += [(row.made_at, row.task_id, kind) for row, kind in newest if row is not None]
    if not acts:
        return None
    _made_at, pk, last = max(acts, key=lambda act: act[0])
    if pk != here.pk:
        contact(tasks=LabelTask.objects.filter(pk=here.pk), now=now)
    if last is None:
        return Undone(unskip(tasks=LabelTask.objects.filter(pk=pk), op_id=op_id, now=now))
    return _undo_answer(last, pk, op_id=op_id, now=now)


def _newest_act(rows: Any) -> Any:
    """The newest of these acts that is no undo and was not taken back; None where there is none."""
    return rows.filter(undoes=None, undone_by=None).select_related("supersedes").order_by("-pk").first()


def _undo_answer(kind: AnswerKind[A], task_pk: int, *, op_id: str, now: datetime, repeated: Any = None) -> Undone:
    task = _locked(LabelTask.objects.filter(pk=task_pk))
    last = repeated.undoes if repeated else _newest_act(kind.model.objects.filter(task=task))
    question = last.insight.uid if kind.by_insight else None
    before = kind.before(task, op_id=op_id, version=None, question=question)
    answer = kind.answer_of(before.current if repeated else last.supersedes)
    if not repeated:
        before = replace(before, guideline_id=last.guideline_id)
        _replace(kind, task, answer, before, op_id=op_id or uuid4().hex, now=now, undoes=last)
    return Undone(task, kind, kind.answer_of(last), Outcome(task, answer, question))


def _locked(tasks: Tasks) -> LabelTask:
    """The one task, locked, with what kinds read to accept an answer.

    Raises:
        LabelTask.DoesNotExist: no such task of this person.
        TaskRefused: the study does not take answers now.
    """
    if isinstance(tasks, OwnTask):
        task = hot.task_of(user_id=tasks.user_id, uid=tasks.uid)
    else:
        task = hot.task_by_key(tasks.values_list("pk", flat=True).get())
    if task is None:
        raise LabelTask.DoesNotExist
    return taking_answers(task, tasks)


def new_row(
    kind: AnswerKind[A],
    task: LabelTask,
    answer: A,
    *,
    question: int | None,
    guideline: int | None,
    op_id: str,
    now: datetime,
) -> Any:
    """The row of an answer, not stored; question and guideline are given by their primary keys."""
    return kind.model(
        study_id=task.study_id,
        annotator_id=task.annotator_id,
        task=task,
        guideline_id=guideline,
        is_complete=answer.is_complete,
        is_unsure=answer.is_unsure,
        op_id=op_id,
        made_at=now,
        **({"insight_id": question} if kind.by_insight else {}),
        **kind.columns(task, answer),
    )


def _replace(
    kind: AnswerKind[A],
    task: LabelTask,
    answer: A,
    before: Before,
    *,
    op_id: str,
    now: datetime,
    undoes: Any = None,
    told: Told = AT_ONCE,
) -> None:
    current, insight, guideline = before.current, before.insight_id, before.guideline_id
    if current is not None:
        current.is_current = False
        current.save(update_fields=["is_current"])
    made = new_row(kind, task, answer, question=insight, guideline=guideline, op_id=op_id, now=now)
    made.supersedes, made.undoes = current, undoes
    made.save(force_insert=True)
    gained = int(kind.counts(answer)) - int(kind.counts(kind.answer_of(current)))
    changed = keep_contact(task, now, told) + take_answers(task, n_answered=task.n_answered + gained, now=now)
    task.save(update_fields=changed)
