"""What the page of a linking task shows, in a fixed number of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.guidelines import current_guideline, render_markdown
from annotation.labelling.answers import page_of
from annotation.labelling.config import config_json
from annotation.labelling.course import course_of
from annotation.linking.bullets import bullets_of
from annotation.linking.recording import Choice
from annotation.models import CoverageLabel, LabelItem, LabelKey, LabelTask, Study
from benchmarks.models import Insight
from benchmarks.scoring.summhay import COVERED, Coverage


@dataclass(frozen=True, slots=True)
class Question:
    """One insight with the person's own answer."""

    number: int
    insight: Insight
    coverage: str
    lines: frozenset[int]
    is_unsure: bool
    feedback: str = ""

    @property
    def lacks_line(self) -> bool:
        """Whether something is covered and nothing says where."""
        return self.coverage in COVERED and not self.lines

    @property
    def is_answered(self) -> bool:
        """Whether it counts."""
        return bool(self.coverage) and not self.lacks_line


def page_context(task: LabelTask) -> dict[str, Any]:
    """The summary's bullets, the questions with answers, the way through the study, the guidelines."""
    summary, study = task.item.summary, task.study
    guideline = current_guideline(study)
    bullets = bullets_of(summary)
    way = course_of(study=study, annotator=task.annotator, at=task)
    questions = questions_of(task)
    return {
        "task": task,
        "study": study,
        "subtopic": summary.subtopic,
        "haystack": summary.haystack,
        "bullets": bullets,
        "linkable": [bullet for bullet in bullets if bullet.is_linkable],
        "questions": questions,
        "n_answered": sum(question.is_answered for question in questions),
        "way": way,
        "previous_url": page_of(study.kind, way.previous.uid) if way.previous else "",
        "next_url": page_of(study.kind, way.next.uid) if way.next else "",
        "guideline": guideline,
        "guideline_html": render_markdown(guideline.body) if guideline else "",
        "is_open": study.state == Study.State.OPEN,
        "is_training": task.item.role == LabelItem.Role.TRAINING,
        "allows_several": study.linking_plan.allow_several_lines,
        "config_json": config_json(task, version=guideline.version if guideline else None),
    }


def questions_of(task: LabelTask) -> list[Question]:
    """The insights of the summary's subtopic with what this person says of them now; two queries."""
    labels = {
        label.insight_id: label
        for label in CoverageLabel.objects.filter(
            study=task.study_id, annotator=task.annotator_id, summary=task.item.summary_id, is_current=True
        )
    }
    keys = keys_of(task)
    names = {bullet.number: bullet.key or bullet.name for bullet in bullets_of(task.item.summary)}
    questions = []
    for number, insight in enumerate(task.item.summary.subtopic.insights.order_by("number"), 1):
        label = labels.get(insight.pk)
        questions.append(
            Question(
                number=number,
                insight=insight,
                coverage=label.coverage if label else "",
                lines=frozenset(label.lines if label else ()),
                is_unsure=bool(label and label.is_unsure),
                feedback=(
                    feedback_of(keys[insight.pk], names)
                    if label and insight.pk in keys and label.coverage and label.is_complete
                    else ""
                ),
            )
        )
    return questions


def keys_of(task: LabelTask) -> dict[int, LabelKey]:
    """The agreed answers of a training item by insight; of any other item none."""
    if task.item.role != LabelItem.Role.TRAINING:
        return {}
    return {key.insight_id: key for key in task.item.keys.all()}


def in_words(choice: Choice, names: dict[int, str]) -> str:
    """An answer as the page names it, with the letters of its bullets; a cleared one is empty."""
    if not choice.coverage:
        return ""
    parts = [{"none": _("none"), "partial": _("partial"), "full": _("full")}[choice.coverage]]
    if choice.lines:
        lines = ", ".join(names.get(line, str(line)) for line in choice.lines)
        parts.append(_("bullet %(lines)s") % {"lines": lines})
    if choice.is_unsure:
        parts.append(_("not sure"))
    return ", ".join(parts)


def feedback_of(key: LabelKey | Choice, names: dict[int, str]) -> str:
    """The agreed answer in words."""
    levels = {Coverage.NONE: _("none"), Coverage.PARTIAL: _("partial"), Coverage.FULL: _("full")}
    level = levels[Coverage(key.coverage)]
    lines = ", ".join(names.get(line, str(line)) for line in key.lines)
    if not lines:
        return _("Agreed answer: %(level)s.") % {"level": level}
    return _("Agreed answer: %(level)s, in bullet %(lines)s.") % {
        "level": levels[Coverage(key.coverage)],
        "lines": lines,
    }
