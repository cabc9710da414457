"""Answers of researchers to flags and comments, which the annotator sees beside the item and marks as read."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.labelling.handling import MAX_TEXT, Tasks, rows_of
from annotation.models import LabelTask, RemarkReply
from benchmarks import audit


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
