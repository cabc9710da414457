"""What the page of a linking task shows, in a fixed number of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotation.linking.bullets import bullets_of
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
    def is_missing_line(self) -> bool:
        """Whether something is covered and nothing says where."""
        return self.answer.coverage in COVERED and not self.answer.lines

    @property
    def is_answered(self) -> bool:
        """Whether the answer is complete, so that it counts as done."""
        return LINK.counts(self.answer)


def page_context(task: LabelTask) -> dict[str, Any]:
    """The summary's bullets, and the insights with the annotator's answers."""
    summary = task.item.summary
    bullets, questions = bullets_of(summary), questions_of(task)
    linkable = [bullet for bullet in bullets if bullet.is_linkable]
    is_training = task.item.role == LabelItem.Role.TRAINING
    asks_unlinked = task.study.linking_plan.asks_unlinked and not is_training
    return {
        "subtopic": summary.subtopic,
        "haystack": summary.haystack,
        "bullets": bullets,
        "linkable": linkable,
        "questions": questions,
        "n_answered": sum(question.is_answered for question in questions),
        "is_training": is_training,
        "unlinked": rows_of(task, linkable) if asks_unlinked else [],
        "allows_several": task.study.linking_plan.allow_several_lines,
    }


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
