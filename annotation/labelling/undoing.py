"""Which act an undo takes back: the last one of the person in the study, on whatever item it was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from annotation.labelling.handling import Tasks, contact, ensure_open, rows_of, unskip
from annotation.models import Annotator, LabelTask
from annotation.querysets import LabelTaskQuerySet


@dataclass(frozen=True, slots=True)
class Undone:
    """The task that an undo changed, with its number in the annotator's order, and what was taken back there."""

    uid: UUID
    number: int
    was: Any


@dataclass(frozen=True, slots=True)
class LastAct:
    """The row to take back, not locked yet; with `is_repeated` the row of an undo that was delivered before."""

    row: Any
    is_repeated: bool = False

    @property
    def tasks(self) -> LabelTaskQuerySet:
        """The task of the row."""
        rows: LabelTaskQuerySet = LabelTask.objects.filter(pk=self.row.task_id)
        return rows


def last_act(*, model: Any, tasks: Tasks, op_id: str, only_here: bool, now: datetime) -> LastAct | None:
    """Find what an undo on the page of `tasks` takes back; call it in a transaction, before a task is locked.

    Undos of one person wait for each other, so that the row found stays the last one but for new answers. The time
    since the last contact belongs to the page the person is on.

    Raises:
        LabelTask.DoesNotExist: no such task of this person.
        TaskRefused: the study does not take answers now.
    """
    here = _waited_for(tasks)
    answers = model.objects.filter(task__study=here.study_id, task__annotator=here.annotator_id)
    delivered = answers.filter(op_id=op_id).exclude(op_id="").first()  # on whatever task, also with `only_here`
    if delivered is not None:
        return LastAct(delivered, is_repeated=True)
    row = newest_act(answers.filter(task=here) if only_here else answers)
    if row is None:
        return None
    if row.task_id != here.pk:
        contact(tasks=LabelTask.objects.filter(pk=here.pk), now=now)
    return LastAct(row)


@transaction.atomic
def undo_skip(
    *, models: Iterable[Any], tasks: Tasks, op_id: str, only_here: bool, now: datetime
) -> LabelTask | None:
    """Take back the skip that was the person's last act in the study, later than any answer of these `models`.

    Answers on the task stay. Gives the task; None where the last act is no skip. The same `op_id` again takes back
    nothing more.

    Raises:
        LabelTask.DoesNotExist: no such task of this person.
        TaskRefused: the study does not take answers now.
    """
    here = _waited_for(tasks)
    of_person = LabelTask.objects.filter(study=here.study_id, annotator=here.annotator_id)
    given_before = of_person.filter(unskip_op_id=op_id).exclude(unskip_op_id="")
    delivered: LabelTask | None = given_before.select_related("study").first()
    if delivered is not None:
        return delivered
    about = of_person.filter(pk=here.pk) if only_here else of_person
    skips = about.filter(state=LabelTask.State.SKIPPED, skipped_at__isnull=False)
    skipped = skips.order_by("-skipped_at").first()
    if skipped is None:
        return None
    for model in models:
        if op_id and model.objects.filter(task__in=of_person, op_id=op_id).exists():
            return None
        last = newest_act(model.objects.filter(task__in=about))
        if last is not None and last.made_at > skipped.skipped_at:
            return None
    if skipped.pk != here.pk:
        contact(tasks=LabelTask.objects.filter(pk=here.pk), now=now)
    return unskip(tasks=LabelTask.objects.filter(pk=skipped.pk), op_id=op_id, now=now)


def _waited_for(tasks: Tasks) -> LabelTask:
    """The one task, not locked, once no other undo of the person is under way."""
    here: LabelTask = rows_of(tasks).select_related("study").get()
    ensure_open(here.study)
    # NO KEY: storing an answer takes a key share of this row while it holds a task that is locked after it here.
    Annotator.objects.select_for_update(no_key=True).get(pk=here.annotator_id)
    return here


def is_newer(model: Any, other: Any, *, tasks: Tasks, op_id: str, only_here: bool) -> bool:
    """Whether the act that an undo takes back, or took back by this `op_id`, is of `model` and not of `other`."""
    here = rows_of(tasks).get()
    of_person = {"task__study": here.study_id, "task__annotator": here.annotator_id}
    if op_id and model.objects.filter(**of_person, op_id=op_id).exists():
        return True
    if op_id and other.objects.filter(**of_person, op_id=op_id).exists():
        return False
    about = {"task": here} if only_here else of_person
    answers, beside = model.objects.filter(**about), other.objects.filter(**about)
    last, last_beside = newest_act(answers), newest_act(beside)
    return last is not None and (last_beside is None or last.made_at > last_beside.made_at)


def newest_act(rows: Any) -> Any:
    """The newest of these acts that is no undo and was not taken back; None where there is none."""
    return rows.filter(undoes=None, undone_by=None).select_related("supersedes").order_by("-pk").first()


def undone_on(task: LabelTask, was: Any) -> Undone:
    """What an undo did on a task, with the number that the page shows for it."""
    before = LabelTask.objects.filter(
        study=task.study_id, annotator=task.annotator_id, position__lte=task.position
    )
    return Undone(task.uid, before.count(), was)
