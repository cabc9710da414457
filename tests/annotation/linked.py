"""Answers to a linking task."""

from datetime import datetime
from typing import Any
from uuid import uuid4

from annotation.labelling.recording import record
from annotation.linking.answers import LINK, LinkingAnswer
from annotation.models import CoverageLabel, LabelTask
from benchmarks.models import Insight


def own(task: LabelTask):
    return LabelTask.objects.filter(pk=task.pk)


def insights_of(task: LabelTask) -> list[Insight]:
    return list(task.item.summary.subtopic.insights.order_by("number"))


def say(task: LabelTask, coverage: str, *lines: int, at: int = 0, now: datetime, **more):
    values: dict[str, Any] = {"op_id": uuid4().hex, **more}
    answer = LinkingAnswer(coverage, lines, values.pop("is_unsure", False))
    question = insights_of(task)[at].uid
    return record(kind=LINK, tasks=own(task), question=question, answer=answer, now=now, **values)


def current(task: LabelTask, at: int = 0) -> CoverageLabel:
    return CoverageLabel.objects.get(task=task, insight=insights_of(task)[at], is_current=True)
