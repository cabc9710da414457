"""What is done with a task of any kind of label work: contact, skip, flag, comment. Each is safe to repeat."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.labelling.activity import AT_ONCE, Told, contact_time, worked_ms
from annotation.labelling.trial.progress import comes_first
from annotation.models import LabelTask, Study
from annotation.querysets import LabelTaskQuerySet

MAX_TEXT = 2_000


class TaskRefused(Exception):
    """A task cannot take this; `code` names why, the message says so."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class OwnTask:
    """A task among a person's own, by its public id; looked up when it is locked."""

    user_id: int
    uid: UUID

    def rows(self) -> LabelTaskQuerySet:
        """The same as a queryset."""
        rows: LabelTaskQuerySet = LabelTask.objects.filter(annotator__user=self.user_id, uid=self.uid)
        return rows


Tasks = OwnTask | LabelTaskQuerySet


def rows_of(tasks: Tasks) -> LabelTaskQuerySet:
    """A task that was not looked up yet, as a queryset."""
    return tasks.rows() if isinstance(tasks, OwnTask) else tasks


def ensure_open(study: Study) -> None:
    """Raise TaskRefused if a study does not take answers now."""
    if study.state != Study.State.OPEN:
        raise TaskRefused("closed", _("The study is closed; nothing more can be stored in it."))


def ensure_trial_is_passed(task: LabelTask) -> None:
    """Raise TaskRefused if a person sends something to a task that the trial of its study comes before."""
    if comes_first(task):
        raise TaskRefused("trial_first", _("First comes the trial of this study. Nothing was stored."))


def locked(tasks: Tasks) -> LabelTask:
    """The one task of `tasks` for writing, with its study and the time of the person's last contact.

    Raises:
        LabelTask.DoesNotExist: no such task of this person.
        TaskRefused: the study does not take answers now.
    """
    rows = rows_of(tasks).with_contact().select_related("study", "item__summary")
    task: LabelTask = rows.select_for_update(of=("self",)).get()
    ensure_open(task.study)
    if isinstance(tasks, OwnTask):
        ensure_trial_is_passed(task)
    return task


def keep_contact(task: Any, now: datetime, told: Told = AT_ONCE) -> list[str]:
    """Count the time since the last contact on a row of `locked`; gives the fields that changed."""
    at = contact_time(since=task.contact_at, now=now, told=told)
    task.active_ms += worked_ms(since=task.contact_at, now=at, told=told)
    task.last_seen_at = at if task.contact_at is None else max(at, task.contact_at)
    if task.begun_at is None:
        task.begun_at = at
    return ["active_ms", "last_seen_at", "begun_at"]


def take_answers(task: LabelTask, *, n_answered: int, now: datetime) -> list[str]:
    """Set how many questions are answered and what state follows; gives the fields that changed."""
    task.n_answered = n_answered
    is_done = n_answered >= task.n_questions
    if is_done and task.state != LabelTask.State.DONE:
        task.done_at = now
    elif not is_done:
        task.done_at = None
    task.state = LabelTask.State.DONE if is_done else LabelTask.State.BEGUN
    task.skip_reason, task.skipped_at = "", None
    return ["n_answered", "done_at", "state", "skip_reason", "skipped_at", *revised(task)]


def revised(task: LabelTask) -> list[str]:
    """Something on a locked task changes; gives the field that says so."""
    task.revision += 1
    return ["revision"]


@transaction.atomic
def contact(*, tasks: Tasks, now: datetime, told: Told = AT_ONCE) -> LabelTask:
    """The person is at work on this task."""
    task = locked(tasks)
    task.save(update_fields=keep_contact(task, now, told))
    return task


@transaction.atomic
def skip(*, tasks: Tasks, reason: str, now: datetime) -> LabelTask:
    """Put a task out of the way with a reason; answers given stay, and an answer brings it back."""
    task = locked(tasks)
    reason = reason.strip()[:MAX_TEXT]
    if not reason:
        raise TaskRefused("no_reason", _("Give a reason for skipping; the researcher reads it."))
    if task.state == LabelTask.State.DONE:
        raise TaskRefused(
            "done", _("Everything here is answered. Flag it to point something out to the researcher.")
        )
    changed = keep_contact(task, now)
    task.state, task.skip_reason, task.skipped_at = LabelTask.State.SKIPPED, reason, now
    task.save(update_fields=[*changed, "state", "skip_reason", "skipped_at", *revised(task)])
    return task


@transaction.atomic
def unskip(*, tasks: Tasks, now: datetime, op_id: str = "") -> LabelTask:
    """Take a skipped task up after all; any other stays as it is. `op_id` is that of an undo."""
    task = locked(tasks)
    changed = keep_contact(task, now)
    if task.state == LabelTask.State.SKIPPED:
        changed += [*take_answers(task, n_answered=task.n_answered, now=now), "unskip_op_id"]
        task.unskip_op_id = op_id
    task.save(update_fields=changed)
    return task


@transaction.atomic
def remark(
    *, tasks: Tasks, now: datetime, is_flagged: bool | None = None, comment: str | None = None
) -> LabelTask:
    """Set flag or comment, which reach the researcher; what is not given stays as it is."""
    task = locked(tasks)
    changed = keep_contact(task, now)
    if is_flagged is not None:
        task.is_flagged = is_flagged
        changed.append("is_flagged")
    if comment is not None:
        task.comment = comment.strip()[:MAX_TEXT]
        changed.append("comment")
    task.save(update_fields=[*changed, *revised(task)])
    return task
