"""Answers of coverage linking: how far does a summary cover an insight, and in which bullets?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.labelling.acts import BadAct, unsure_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.recording import AnswerKind, Outcome
from annotation.linking.bullets import linkable_numbers, quoted
from annotation.models import CoverageLabel, LabelItem, LabelKey
from benchmarks.models import Summary
from benchmarks.scoring.summhay import COVERAGES, COVERED, Coverage

CLEARED = ""
MAX_LINES = 200


@dataclass(frozen=True, slots=True)
class LinkingAnswer:
    """The answer to one question: coverage ("" clears it) and the lines that cover, counted from 1."""

    coverage: str = CLEARED
    lines: tuple[int, ...] = ()
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left open: something covered needs a line."""
        return bool(self.coverage) and (self.coverage not in COVERED or bool(self.lines))


def question_in_words(task: Any, question: UUID) -> str:
    """An insight by its number on the page."""
    uids = list(task.item.summary.subtopic.insights.order_by("number").values_list("uid", flat=True))
    return _("insight %(number)d") % {"number": uids.index(question) + 1}


def feedback(outcome: Outcome[LinkingAnswer]) -> str:
    """The agreed answer in words, once a question of a training item is answered."""
    item = outcome.task.item
    if item.role != LabelItem.Role.TRAINING or outcome.question is None or not LINK.counts(outcome.answer):
        return ""
    key = item.keys.filter(insight__uid=outcome.question).first()
    return agreed_in_words(key, item.summary) if key else ""


def agreed_in_words(key: LabelKey, summary: Summary) -> str:
    """The agreed answer as an annotator in training reads it."""
    words = {"level": _level(key.coverage), "lines": quoted(summary, key.lines)}
    if not key.lines:
        return _("Agreed answer: %(level)s.") % words
    return _("Agreed answer: %(level)s, in bullet %(lines)s.") % words


def _level(coverage: str) -> str:
    return {Coverage.NONE: _("none"), Coverage.PARTIAL: _("partial"), Coverage.FULL: _("full")}[Coverage(coverage)]


class Links(AnswerKind[LinkingAnswer]):
    """Answers about the insights of a summary."""

    model = CoverageLabel
    by_insight = True

    def parse(self, data: QueryDict) -> LinkingAnswer:
        """The answer in a form: `coverage, line*, unsure?`.

        Raises:
            BadAct: a line is not a whole number.
            TaskRefused: "not sure" without an answer.
        """
        coverage, lines = data.get("coverage", ""), data.getlist("line")[:MAX_LINES]
        if not all(re.fullmatch("[0-9]{1,9}", line) for line in lines):
            raise BadAct(_("Lines are whole numbers."))
        return LinkingAnswer(coverage, tuple(map(int, lines)), unsure_in(data, answer=coverage))

    def checked(self, task: Any, answer: LinkingAnswer) -> LinkingAnswer:
        if answer.coverage not in (*COVERAGES, CLEARED):
            raise TaskRefused("invalid", _("Coverage is none, partial or full."))
        if answer.coverage not in COVERED:
            return LinkingAnswer(answer.coverage, (), answer.is_unsure and answer.coverage != CLEARED)
        lines = set(answer.lines)
        if len(lines) > 1 and not task.study.linking_plan.allow_several_lines:
            raise TaskRefused("one_line", _("Choose the one bullet that covers the insight best."))
        if not lines <= linkable_numbers(task.item.summary):
            raise TaskRefused("no_such_line", _("The summary has no such bullet."))
        return LinkingAnswer(answer.coverage, tuple(sorted(lines)), answer.is_unsure)

    def columns(self, task: Any, answer: LinkingAnswer) -> dict[str, Any]:
        return {
            "summary_id": task.item.summary_id,
            "coverage": answer.coverage,
            "lines": list(answer.lines),
            "is_linked": bool(answer.lines),
            "is_check": task.item.role == LabelItem.Role.TRAINING,
        }

    def answer_of(self, label: CoverageLabel | None) -> LinkingAnswer:
        """The answer in a row; the cleared one of None."""
        return (
            LinkingAnswer()
            if label is None
            else LinkingAnswer(label.coverage, tuple(label.lines), label.is_unsure)
        )

    def in_words(self, task: Any, answer: LinkingAnswer) -> str:
        """An answer as the page names it, with the first words of its bullets; a cleared one is empty."""
        if answer.coverage == CLEARED:
            return ""
        parts = [_level(answer.coverage)]
        if answer.lines:
            parts.append(_("bullet %(lines)s") % {"lines": quoted(task.item.summary, answer.lines)})
        if answer.is_unsure:
            parts.append(_("not sure"))
        return ", ".join(parts)


LINK = Links()
