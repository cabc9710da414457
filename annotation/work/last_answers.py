"""A person's last answers to label tasks of every kind, to read again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.kinds import label_kinds
from annotation.labelling.kind import task_page_of
from annotation.labelling.recording import AnswerKind
from annotation.labelling.task_page import QuestionText, page_of
from annotation.models import Annotator, LabelTask, Study

SHOWN = 20


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """What was asked and answered when; `url` is the item, which takes changes while the study is open."""

    study: Study
    question: QuestionText
    answer: str
    made_at: datetime
    url: str

    @property
    def can_be_changed(self) -> bool:
        """Whether the study still takes answers."""
        return bool(self.study.state == Study.State.OPEN)


def last_answers(annotator: Annotator, *, back: str = "") -> list[LastAnswer]:
    """The last twenty answers that hold, optional ones too, the newest first; a few queries for each kind.

    Their items lead `back`, as `page_of` takes it.
    """
    visible = LabelTask.objects.filter(annotator=annotator).visible()
    rows: list[tuple[AnswerKind[Any], Callable[[Any], QuestionText], Any]] = []
    for value in label_kinds():
        kind = task_page_of(value)
        if kind is None:
            continue
        parts = (
            (kind.answers, kind.question_of, kind.question_rows),
            (kind.beside, kind.question_beside, kind.beside_rows),
        )
        for answers, question_of, joined in parts:
            if answers is None:
                continue
            current = answers.model.objects.filter(is_current=True, annotator=annotator, task__in=visible)
            shown = current.select_related("task__study", "task__item__summary", *joined)
            rows += [(answers, question_of, row) for row in shown.order_by("-made_at", "-pk")[: 2 * SHOWN]]
    rows.sort(key=lambda each: each[2].made_at, reverse=True)
    read = (_read(*each, back=back) for each in rows)
    return [each for each in read if each.answer][:SHOWN]  # a cleared answer says nothing


def _read(
    answers: AnswerKind[Any], question_of: Callable[[Any], QuestionText], row: Any, *, back: str
) -> LastAnswer:
    task = row.task
    insight = row.insight.uid if answers.by_insight else None
    return LastAnswer(
        study=task.study,
        question=question_of(row),
        answer=answers.in_words(task, answers.answer_of(row)),
        made_at=row.made_at,
        url=page_of(task.study.kind, task.uid, insight, back=back),
    )
