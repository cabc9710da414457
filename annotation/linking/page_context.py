"""What the page of a linking task shows, in a fixed number of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.linking.bullets import Bullet, bullets_of
from annotation.linking.recording import LINK, LinkingAnswer, agreed_in_words
from annotation.linking.unlinked import rows_of
from annotation.models import CoverageLabel, LabelItem, LabelTask
from benchmarks.models import Insight
from benchmarks.scoring.summhay import COVERED


@dataclass(frozen=True, slots=True)
class Question:
    """One insight with the annotator's own answer, and in training with the agreed one in words."""

    number: int
    insight: Insight
    answer: LinkingAnswer
    feedback: str = ""

    @property
    def is_covered(self) -> bool:
        """Whether the insight is there, at least in part."""
        return self.answer.coverage in COVERED

    @property
    def is_missing_line(self) -> bool:
        """Whether something is covered and nothing says where."""
        return self.is_covered and not self.answer.lines

    @property
    def is_answered(self) -> bool:
        """Whether the answer is complete, so that it counts as done."""
        return LINK.counts(self.answer)


def page_context(task: LabelTask) -> dict[str, Any]:
    """The summary's bullets, and the insights with the annotator's answers."""
    is_training = task.item.role == LabelItem.Role.TRAINING
    shown = laid_out(task, questions_of(task)) | {"is_training": is_training}
    if task.study.linking_plan.asks_unlinked and not is_training:
        shown["unlinked"] = rows_of(task, shown["linkable"])
    return shown


def laid_out(task: LabelTask, questions: list[Question]) -> dict[str, Any]:
    """A summary and what is asked about it, stored or not.

    What scripts draw when they begin is there before, so that nothing moves: the insight at hand, and where links
    lead.
    """
    summary = task.item.summary
    bullets = [(bullet, _used(bullet, questions)) for bullet in bullets_of(summary)]
    return {
        "subtopic": summary.subtopic,
        "haystack": summary.haystack,
        "bullets": bullets,
        "linkable": [bullet for bullet, _used_by in bullets if bullet.is_linkable],
        "questions": questions,
        "current": next((each for each in questions if not each.is_answered), questions[0] if questions else None),
        "n_answered": sum(question.is_answered for question in questions),
        "linked": {line for question in questions for line in question.answer.lines},
        "is_training": False,
        "unlinked": [],
        "allows_several": task.study.linking_plan.allow_several_lines,
    }


def _used(bullet: Bullet, questions: list[Question]) -> str:
    """The insights that a bullet covers, as the page names them beside it."""
    numbers = ", ".join(str(each.number) for each in questions if bullet.number in each.answer.lines)
    return "← " + _("insight {numbers}").format(numbers=numbers) if numbers else ""


def questions_of(task: LabelTask) -> list[Question]:
    """The insights of the summary's subtopic with what this annotator says of them now; two queries."""
    item = task.item
    rows = CoverageLabel.objects.filter(task=task, is_current=True)
    answers = {row.insight_id: LINK.answer_of(row) for row in rows}
    is_training = item.role == LabelItem.Role.TRAINING
    keys = {key.insight_id: key for key in item.keys.all()} if is_training else {}
    questions = []
    for number, insight in enumerate(item.summary.subtopic.insights.order_by("number"), 1):
        answer, key = answers.get(insight.pk, LINK.answer_of(None)), keys.get(insight.pk)
        feedback = agreed_in_words(key, item.summary) if key and LINK.counts(answer) else ""
        questions.append(Question(number, insight, answer, feedback))
    return questions
