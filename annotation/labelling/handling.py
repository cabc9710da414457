"""Acts on a task of any kind of label work, and the time they take. Each is safe to repeat."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import LabelTask, RemarkReply, Study, Trial
from annotation.querysets import LabelTaskQuerySet
from benchmarks import audit

LONGEST_GAP = timedelta(seconds=120)
CONTACT_EVERY_S = 20
"""While there are keys, pointer or scrolling, a page makes contact about this often."""


@dataclass(frozen=True, slots=True)
class Told:
    """A browser's account of a contact that may come late.

    That is how long ago it was; and of the time between the one before and this one, how much was active and how
    long the clock stood, as while a tour of the page was open (all in ms).
    """

    ago_ms: int = 0
    worked_ms: int = 0
    stood_ms: int = 0


AT_ONCE = Told()


def worked_ms(*, since: datetime | None, now: datetime, told: Told = AT_ONCE) -> int:
    """Active time (ms) between a person's last contact and this one.

    Of a gap of over 120 s counts only what the browser measured without a connection, at most all of it; in no gap
    counts how long the clock stood.
    """
    if since is None or since >= now:
        return 0
    gap = (now - since) // timedelta(milliseconds=1)
    gap = max(0, gap - max(0, told.stood_ms))
    return gap if now <= since + LONGEST_GAP else min(told.worked_ms, gap)


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


def comes_first(task: LabelTask) -> bool:
    """Whether the trial has to be passed before a task, whose study is at hand, is begun.

    Whoever was at work in the study before it had a trial goes on. At most two queries, none in most cases.
    """
    if not task.study.has_trial or task.begun_at is not None:
        return False
    if Trial.objects.filter(study=task.study_id, annotator=task.annotator_id, is_passed=True).exists():
        return False
    others = LabelTask.objects.filter(study=task.study_id, annotator=task.annotator_id)
    return not others.exclude(begun_at=None).exists()


def locked(tasks: Tasks) -> LabelTask:
    """The one task of `tasks` for writing, with its study and the time of the person's last contact.

    Raises:
        LabelTask.DoesNotExist: no such task of this person.
        TaskRefused: the study does not take answers now.
    """
    rows = rows_of(tasks).with_contact().select_related("study", "item__summary")
    task: LabelTask = rows.select_for_update(of=("self",)).get()
    return taking_answers(task, tasks)


def taking_answers(task: LabelTask, tasks: Tasks) -> LabelTask:
    """The task that was found among `tasks`, if its study takes answers now; raises TaskRefused."""
    ensure_open(task.study)
    if isinstance(tasks, OwnTask) and comes_first(task):
        raise TaskRefused("trial_first", _("The trial of this study comes first."))
    return task


def keep_contact(task: Any, now: datetime, told: Told = AT_ONCE) -> list[str]:
    """Count the time since the last contact on a row of `locked`; gives the fields that changed."""
    at = now - timedelta(milliseconds=told.ago_ms)
    if task.contact_at is not None:  # never before the one before
        at = max(at, min(task.contact_at, now))
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
        raise TaskRefused("done", _("What is answered cannot be skipped; flag it to tell the researcher."))
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


class NoRemark(Exception):
    """The task has neither flag nor comment, perhaps not any more."""


@transaction.atomic
def reply(*, task: LabelTask, text: str, by: Any, now: datetime) -> RemarkReply:
    """Answer what somebody remarked on a task; another answer follows the earlier ones.

    Raises:
        NoRemark: nothing is remarked.
        ValueError: the answer says nothing.
    """
    row = LabelTask.objects.select_for_update(of=("self",)).select_related("study").get(pk=task.pk)
    if not row.has_remark:
        raise NoRemark
    text = text.strip()[:MAX_TEXT]
    if not text:
        raise ValueError("an answer says something")
    made = RemarkReply.objects.create(task=row, comment=row.comment, text=text, by=by, made_at=now)
    audit.record(actor=by, action="remark.answered", target=row.study, now=now, task=str(row.uid))
    return made


def have_read(*, tasks: Tasks, now: datetime) -> int:
    """Note that the annotator has read all answers on these tasks; returns how many were new."""
    return RemarkReply.objects.filter(task__in=rows_of(tasks), read_at=None).update(read_at=now)
