"""The two judgments on a key point: can it be found in the text, and, after a yes, is it a key point?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.labelling.acts import unsure_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.recording import AnswerKind
from annotation.models import Grounded, Keyness, LabelItem, PointLabel

CLEARED = ""


@dataclass(frozen=True, slots=True)
class Judgments:
    """The answer to one key point: `grounded` "" clears it, `keyness` "" leaves the second question open."""

    grounded: str = CLEARED
    keyness: str = ""
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether it says all that is asked: nothing more after a no, keyness after a yes."""
        return self.grounded == Grounded.NO or (self.grounded == Grounded.YES and bool(self.keyness))


class PointJudgments(AnswerKind[Judgments]):
    """Answers about a key point."""

    model = PointLabel

    def parse(self, data: QueryDict) -> Judgments:
        """The answer in a form: `grounded, keyness?, unsure?`.

        Raises:
            TaskRefused: "not sure" without an answer.
        """
        grounded = data.get("grounded", "")
        return Judgments(grounded, data.get("keyness", ""), unsure_in(data, answer=grounded))

    def checked(self, task: Any, judgments: Judgments) -> Judgments:
        if task.item.question_id is None or task.item.key_point_id is None:
            raise TaskRefused("not_asked", _("This is no key point to verify."))
        if judgments.grounded not in {CLEARED, *Grounded.values} or judgments.keyness not in {"", *Keyness.values}:
            raise TaskRefused("invalid", _("Answers are yes or no, then agree, neutral or disagree."))
        if judgments.grounded == Grounded.YES:
            return judgments
        if judgments.keyness and judgments.grounded == CLEARED:
            raise TaskRefused("yes_first", _("Answer yes to the first question before the second."))
        return Judgments(judgments.grounded, "", judgments.is_unsure and judgments.grounded != CLEARED)

    def columns(self, task: Any, judgments: Judgments) -> dict[str, Any]:
        return {
            "key_point_id": task.item.key_point_id,
            "grounded": judgments.grounded,
            "keyness": judgments.keyness,
            "is_check": task.item.role == LabelItem.Role.GOLD,
        }

    def answer_of(self, label: PointLabel | None) -> Judgments:
        """The answer in a row; the cleared one of None."""
        return Judgments() if label is None else Judgments(label.grounded, label.keyness, label.is_unsure)

    def in_words(self, task: Any, judgments: Judgments) -> str:
        """An answer as the page names it; a cleared one is empty."""
        words: dict[str, str] = {
            Grounded.YES: _("yes"),
            Grounded.NO: _("no"),
            Keyness.AGREE: _("agree"),
            Keyness.NEUTRAL: _("neutral"),
            Keyness.DISAGREE: _("disagree"),
        }
        parts = [words[value] for value in (judgments.grounded, judgments.keyness) if value]
        return ", ".join([*parts, _("not sure")] if judgments.is_unsure else parts)


POINT = PointJudgments()
