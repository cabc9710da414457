"""Answers of coverage linking: one row per choice, the newest supersedes, nothing is ever changed or lost.

`record` is the hot path: its queries are prepared, as many and as quick whatever the history.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.labelling.handling import TaskRefused, Tasks, keep_contact, locked, take_answers
from annotation.labelling.undoing import Undone, last_act, standing, undone_on
from annotation.linking.bullets import linkable_numbers
from annotation.linking.reading import around, current_label, task_for_choice
from annotation.models import CoverageLabel, LabelItem, LabelTask
from benchmarks import prepared
from benchmarks.scoring.summhay import COVERAGES, COVERED

CLEARED = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """The whole answer to one question: coverage ("" clears it) and the lines that cover, counted from 1."""

    coverage: str
    lines: tuple[int, ...] = ()
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether it says all that is asked: something covered needs a line."""
        return self.coverage not in COVERED or bool(self.lines)

    @property
    def counts(self) -> bool:
        """Whether it is an answer."""
        return self.coverage != CLEARED and self.is_complete


@dataclass(frozen=True, slots=True)
class Outcome:
    """How question and task stand after a choice; `key` is the agreed answer, told only in training.

    `undone` says what an undo took back.
    """

    insight: UUID
    choice: Choice
    state: str
    n_answered: int
    n_questions: int
    active_ms: int
    key: Choice | None = None
    is_changed: bool = True
    undone: Undone | None = None


@transaction.atomic
def record(
    *,
    tasks: Tasks,
    insight: UUID,
    coverage: str,
    lines: Iterable[int],
    op_id: str,
    now: datetime,
    is_unsure: bool = False,
    guideline_version: int | None = None,
) -> Outcome:
    """Store one choice; the same `op_id` again stores nothing more. None of an insight clears its lines.

    Raises:
        LabelTask.DoesNotExist: `tasks` holds no task, for instance because it is another person's.
        TaskRefused: not a question of this task, not a line of the summary, more lines than allowed, study closed.
    """
    task = task_for_choice(tasks)
    facts = around(task, insight=insight, guideline_version=guideline_version, op_id=op_id)
    task.contact_at = facts.contact_at
    if facts.insight_id is None:
        raise TaskRefused("not_asked", _("This insight is not asked about here."))
    current = current_label(task, facts.insight_id)
    if facts.delivered is not None:
        return _outcome(task, insight, _said(current))
    choice = _checked(task, Choice(coverage, tuple(dict.fromkeys(lines)), is_unsure))
    if _said(current) == choice:
        prepared.update(task, *keep_contact(task, now))
        return _outcome(task, insight, choice, is_changed=False)
    guideline_id = facts.guideline_id or facts.newest_guideline_id
    _replace(task, current, choice, op_id=op_id, now=now, insight_id=facts.insight_id, guideline_id=guideline_id)
    return _outcome(task, insight, choice)


@transaction.atomic
def undo(*, tasks: Tasks, op_id: str, now: datetime, only_here: bool = False) -> Outcome | None:
    """Take back the person's last choice in the study that was not taken back yet, on whatever summary it was.

    A row restores what was before; the outcome is that of the task it is on. With `only_here` choices on other
    tasks stay. None when there is nothing to take back; the same `op_id` again takes back nothing more.
    """
    found = last_act(model=CoverageLabel, tasks=tasks, op_id=op_id, only_here=only_here, now=now)
    if found is None:
        return None
    task: Any = locked(found.tasks)
    made = CoverageLabel.objects.filter(task=task).select_related("insight", "supersedes")
    last = found.row.undoes if found.is_repeated else standing(made)
    current = made.get(insight=last.insight_id, is_current=True)
    undone = undone_on(task, _said(last))
    if found.is_repeated:
        return _outcome(task, last.insight.uid, _said(current), undone=undone)
    before = _said(last.supersedes)
    _replace(
        task,
        current,
        before,
        op_id=op_id,
        now=now,
        insight_id=last.insight_id,
        guideline_id=last.guideline_id,
        undoes=last,
    )
    return _outcome(task, last.insight.uid, before, undone=undone)


def _checked(task: LabelTask, choice: Choice) -> Choice:
    if choice.coverage not in (*COVERAGES, CLEARED):
        raise TaskRefused("invalid", _("Coverage is none, partial or full."))
    if choice.coverage not in COVERED:
        return Choice(choice.coverage, (), choice.is_unsure and choice.coverage != CLEARED)
    if len(choice.lines) > 1 and not task.study.linking_plan.allow_several_lines:
        raise TaskRefused("one_line", _("Choose the one bullet that covers the insight best."))
    known = linkable_numbers(task.item.summary)
    if not set(choice.lines) <= known:
        raise TaskRefused("no_such_line", _("The summary has no such bullet."))
    return Choice(choice.coverage, tuple(sorted(choice.lines)), choice.is_unsure)


def _replace(
    task: LabelTask,
    current: CoverageLabel | None,
    choice: Choice,
    *,
    op_id: str,
    now: datetime,
    insight_id: int,
    guideline_id: int | None,
    undoes: CoverageLabel | None = None,
) -> None:
    if current is not None:
        current.is_current = False
        prepared.update(current, "is_current")
    made = CoverageLabel(
        study_id=task.study_id,
        annotator_id=task.annotator_id,
        summary_id=task.item.summary.pk,
        insight_id=insight_id,
        guideline_id=guideline_id,
        task=task,
        coverage=choice.coverage,
        lines=list(choice.lines),
        is_linked=bool(choice.lines),
        is_complete=choice.is_complete,
        is_unsure=choice.is_unsure,
        is_training=task.item.role == LabelItem.Role.TRAINING,
        supersedes=current,
        undoes=undoes,
        op_id=op_id or uuid4().hex,
        made_at=now,
    )
    prepared.insert(made)
    gained = int(choice.counts) - int(_said(current).counts)
    changed = keep_contact(task, now) + take_answers(task, n_answered=task.n_answered + gained, now=now)
    prepared.update(task, *changed)


def _said(label: CoverageLabel | None) -> Choice:
    if label is None:
        return Choice(CLEARED)
    return Choice(label.coverage, tuple(label.lines), label.is_unsure)


def _outcome(
    task: LabelTask, insight: UUID, choice: Choice, *, is_changed: bool = True, undone: Undone | None = None
) -> Outcome:
    key = None
    if choice.counts and task.item.role == LabelItem.Role.TRAINING:
        row = task.item.keys.filter(insight__uid=insight).first()
        key = Choice(row.coverage, tuple(row.lines)) if row is not None else None
    return Outcome(
        insight,
        choice,
        task.state,
        task.n_answered,
        task.n_questions,
        task.active_ms,
        key,
        is_changed=is_changed,
        undone=undone,
    )
