"""Answers of validation: does this response entail this key point, and which passage says so?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.labelling import recording
from annotation.labelling.handling import TaskRefused, Tasks
from annotation.labelling.recording import AnswerKind, Outcome
from annotation.models import EntailmentLabel
from benchmarks.models import Entailment

CLEARED = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """The whole answer to one pair: "" clears it; `snippet` is (start, end) in code points of the response."""

    answer: str = CLEARED
    snippet: tuple[int, int] | None = None
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether it says all that is asked."""
        return self.answer != CLEARED


def record(
    *, tasks: Tasks, choice: Answered, op_id: str, now: datetime, guideline_version: int | None = None
) -> Outcome[Answered]:
    """Store an answer; a cleared one keeps no passage.

    Raises:
        LabelTask.DoesNotExist: not a task of this person.
        TaskRefused: study closed, not an answer, or a passage outside the response.
    """
    return recording.record(
        kind=PAIR, tasks=tasks, choice=choice, op_id=op_id, now=now, guideline_version=guideline_version
    )


def undo(*, tasks: Tasks, op_id: str, now: datetime, only_here: bool = False) -> Outcome[Answered] | None:
    """Take the person's last act in the study back, on whatever pair; None when there is nothing."""
    return recording.undo(kind=PAIR, tasks=tasks, op_id=op_id, now=now, only_here=only_here)


def in_words(choice: Answered) -> str:
    """An answer as the page names it; a cleared one is empty."""
    if choice.answer == CLEARED:
        return ""
    parts = [{"yes": _("yes"), "no": _("no"), "neutral": _("neutral")}[choice.answer]]
    if choice.snippet is not None:
        parts.append(_("with a passage"))
    if choice.is_unsure:
        parts.append(_("not sure"))
    return ", ".join(parts)


def said(label: Any) -> Answered:
    """What a row says; None says nothing."""
    if label is None:
        return Answered()
    snippet = None if label.snippet_start is None else (label.snippet_start, label.snippet_end)
    return Answered(label.answer, snippet, label.is_unsure)


def _checked(task: Any, choice: Answered) -> Answered:
    if task.item.response_id is None:
        raise TaskRefused("not_asked", _("This is no pair to validate."))
    if choice.answer not in {CLEARED, *Entailment.values}:
        raise TaskRefused("invalid", _("Answers are yes, no or neutral."))
    if choice.answer == CLEARED:
        return Answered()
    if choice.snippet is not None:
        start, end = choice.snippet
        if not 0 <= start < end <= len(task.item.response.text):
            raise TaskRefused("no_such_passage", _("The response has no such passage."))
    return choice


def _columns(task: Any, choice: Answered) -> dict[str, Any]:
    start, end = choice.snippet or (None, None)
    return {
        "response_id": task.item.response_id,
        "key_point_id": task.item.key_point_id,
        "answer": choice.answer,
        "snippet_start": start,
        "snippet_end": end,
        "verdict_shown": task.study.validation_plan.shows_verdict,
    }


PAIR: AnswerKind[Answered] = AnswerKind(
    model=EntailmentLabel,
    needed=("item__response__text", "item__key_point", "study__validation_plan__shows_verdict"),
    said=said,
    checked=_checked,
    columns=_columns,
)
