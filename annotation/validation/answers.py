"""Answers of validation: does this response entail this key point, and which passage says so?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.labelling.acts import BadAct, number_in, unsure_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.recording import AnswerKind
from annotation.models import EntailmentLabel, WhyNot
from benchmarks.scoring.keypoints import ENTAILMENTS, Entailment

CLEARED = ""
FITTING = {
    Entailment.NEUTRAL.value: (WhyNot.INCOMPLETE.value, WhyNot.GENERAL.value),
    Entailment.NO.value: (WhyNot.MISSING.value, WhyNot.CONTRADICTED.value),
}
"""The reasons that an answer can have."""


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """The answer to one pair: "" clears it; `snippet` is (start, end) in code points of the response.

    `why_not` is the reason for an answer other than yes, where the study asks for one; it is optional.
    """

    answer: str = CLEARED
    snippet: tuple[int, int] | None = None
    is_unsure: bool = False
    why_not: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether it says all that is asked."""
        return self.answer != CLEARED


def reason_in_words(why_not: str) -> str:
    """A reason as the page names it."""
    words = {
        WhyNot.INCOMPLETE: _("incomplete"),
        WhyNot.GENERAL: _("too general"),
        WhyNot.MISSING: _("not mentioned"),
        WhyNot.CONTRADICTED: _("contradicted"),
    }
    return words[WhyNot(why_not)]


def _stands(task: Any, answer: PairAnswer) -> bool:
    """Whether the current answer has this reason already, from when any could be given."""
    rows = EntailmentLabel.objects.filter(task=task, is_current=True)
    return rows.filter(answer=answer.answer, why_not=answer.why_not).exists()


class PairAnswers(AnswerKind[PairAnswer]):
    """Answers about a response and a key point."""

    model = EntailmentLabel

    def parse(self, data: QueryDict) -> PairAnswer:
        """The answer in a form: `answer, start?, end?, unsure?, why?`; places in code points.

        Raises:
            BadAct: a passage without a start or an end.
            TaskRefused: "not sure" without an answer.
        """
        start, end = number_in(data, "start"), number_in(data, "end")
        if (start is None) != (end is None):
            raise BadAct(_("A passage has a start and an end."))
        answer = data.get("answer", "")
        snippet = None if start is None or end is None else (start, end)
        return PairAnswer(answer, snippet, unsure_in(data, answer=answer), data.get("why", ""))

    def checked(self, task: Any, answer: PairAnswer) -> PairAnswer:
        if task.item.response_id is None:
            raise TaskRefused("not_asked", _("This is no pair to validate."))
        if answer.answer not in {CLEARED, *ENTAILMENTS}:
            raise TaskRefused("invalid", _("Answers are yes, no or neutral."))
        if answer.answer == CLEARED:
            return PairAnswer()
        if answer.snippet is not None:
            start, end = answer.snippet
            if not 0 <= start < end <= len(task.item.response.text):
                raise TaskRefused("no_such_passage", _("The response has no such passage."))
        if answer.why_not not in {"", *WhyNot.values}:
            raise TaskRefused("invalid", _("Reasons are incomplete, too general, not mentioned or contradicted."))
        if answer.answer == Entailment.YES or not task.study.validation_plan.asks_why_not:
            return replace(answer, why_not="")
        if answer.why_not and answer.why_not not in FITTING[answer.answer] and not _stands(task, answer):
            raise TaskRefused(
                "reason_of_another_answer",
                _("Incomplete and too general go with neutral; not mentioned and contradicted go with no."),
            )
        return answer

    def columns(self, task: Any, answer: PairAnswer) -> dict[str, Any]:
        start, end = answer.snippet or (None, None)
        return {
            "response_id": task.item.response_id,
            "key_point_id": task.item.key_point_id,
            "answer": answer.answer,
            "snippet_start": start,
            "snippet_end": end,
            "verdict_shown": task.study.validation_plan.shows_verdict,
            "why_not": answer.why_not,
        }

    def answer_of(self, label: EntailmentLabel | None) -> PairAnswer:
        """The answer in a row; the cleared one of None."""
        if label is None:
            return PairAnswer()
        start, end = label.snippet_start, label.snippet_end
        snippet = None if start is None or end is None else (start, end)
        return PairAnswer(label.answer, snippet, label.is_unsure, label.why_not)

    def in_words(self, task: Any, answer: PairAnswer) -> str:
        """An answer as the page names it; a cleared one is empty."""
        if answer.answer == CLEARED:
            return ""
        parts = [{"yes": _("yes"), "no": _("no"), "neutral": _("neutral")}[answer.answer]]
        if answer.why_not:
            parts.append(reason_in_words(answer.why_not))
        if answer.snippet is not None:
            parts.append(_("with a passage"))
        if answer.is_unsure:
            parts.append(_("not sure"))
        return ", ".join(parts)


PAIR = PairAnswers()
