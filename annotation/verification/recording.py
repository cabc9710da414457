"""The two judgments on a key point: can it be found in the text, and, after a yes, is it a key point?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from annotation.labelling import recording
from annotation.labelling.handling import TaskRefused, Tasks
from annotation.labelling.recording import AnswerKind, Outcome
from annotation.models import Grounded, Keyness, PointLabel

CLEARED = ""


@dataclass(frozen=True, slots=True)
class Judgments:
    """The whole answer to one key point: `grounded` "" clears it, `keyness` "" leaves the second question open."""

    grounded: str = CLEARED
    keyness: str = ""
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether it says all that is asked: nothing more after a no, keyness after a yes."""
        return self.grounded == Grounded.NO or (self.grounded == Grounded.YES and bool(self.keyness))


def record(
    *,
    tasks: Tasks,
    choice: Judgments,
    op_id: str,
    now: datetime,
    guideline_version: int | None = None,
) -> Outcome[Judgments]:
    """Store both judgments; whatever keyness comes with a no is not kept.

    Raises:
        LabelTask.DoesNotExist: not a task of this person.
        TaskRefused: study closed, not an answer, or keyness before a yes.
    """
    return recording.record(
        kind=POINT, tasks=tasks, choice=choice, op_id=op_id, now=now, guideline_version=guideline_version
    )


def undo(*, tasks: Tasks, op_id: str, now: datetime, only_here: bool = False) -> Outcome[Judgments] | None:
    """Take the person's last act in the study back, on whatever key point; None when there is nothing."""
    return recording.undo(kind=POINT, tasks=tasks, op_id=op_id, now=now, only_here=only_here)


def in_words(choice: Judgments) -> str:
    """An answer as the page names it; a cleared one is empty."""
    words = {
        "yes": _("yes"),
        "no": _("no"),
        "agree": _("agree"),
        "neutral": _("neutral"),
        "disagree": _("disagree"),
    }
    parts = [words[value] for value in (choice.grounded, choice.keyness) if value]
    return ", ".join([*parts, _("not sure")] if choice.is_unsure else parts)


def said(label: Any) -> Judgments:
    """What a row says; None says nothing."""
    return Judgments() if label is None else Judgments(label.grounded, label.keyness, label.is_unsure)


def _checked(task: Any, choice: Judgments) -> Judgments:
    if not _is_verification(task):
        raise TaskRefused("not_asked", _("This is no key point to verify."))
    if choice.grounded not in {CLEARED, *Grounded.values} or choice.keyness not in {"", *Keyness.values}:
        raise TaskRefused("invalid", _("Answers are yes or no, then agree, neutral or disagree."))
    if choice.grounded == Grounded.YES:
        return choice
    if choice.keyness and choice.grounded == CLEARED:
        raise TaskRefused("yes_first", _("Say first that the point can be found in the text."))
    return Judgments(choice.grounded, "", choice.is_unsure and choice.grounded != CLEARED)


def _is_verification(task: Any) -> bool:
    return task.item.question_id is not None and task.item.key_point_id is not None


def _columns(task: Any, choice: Judgments) -> dict[str, Any]:
    return {
        "key_point_id": task.item.key_point_id,
        "grounded": choice.grounded,
        "keyness": choice.keyness,
    }


POINT = AnswerKind(
    model=PointLabel,
    needed=("item__key_point", "item__question"),
    said=said,
    checked=_checked,
    columns=_columns,
)
