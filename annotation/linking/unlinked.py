"""Bullets that cover no insight: why, as an annotator may say beside the coverage labels where a study asks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.labelling.handling import TaskRefused
from annotation.labelling.recording import AnswerKind
from annotation.linking.bullets import Bullet, bullets_of, linkable_numbers, quoted
from annotation.models import LabelItem, LabelTask, Study, UnlinkedLabel, UnlinkedReason
from benchmarks.models import Summary

FIELD = re.compile(r"reason-([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class UnlinkedReasons:
    """All reasons of one person on a summary, as (line, reason); lines without one are left out."""

    reasons: tuple[tuple[int, str], ...] = ()
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        """Nothing has to be said."""
        return True


def reason_in_words(reason: str) -> str:
    """A reason as the page names it."""
    words = {
        UnlinkedReason.SUBTOPIC: _("another subtopic"),
        UnlinkedReason.GENERAL: _("too general"),
        UnlinkedReason.UNSUPPORTED: _("unsupported"),
    }
    return words[UnlinkedReason(reason)]


class Unlinked(AnswerKind[UnlinkedReasons]):
    """Reasons, beside the coverage labels of a task."""

    model = UnlinkedLabel
    is_optional = True

    def parse(self, data: QueryDict) -> UnlinkedReasons:
        """The reasons in a form, as fields `reason-LINE`."""
        fields = [(FIELD.fullmatch(name), str(data[name])) for name in data]
        return UnlinkedReasons(
            tuple(sorted((int(match[1]), reason) for match, reason in fields if match and reason))
        )

    def checked(self, task: Any, answer: UnlinkedReasons) -> UnlinkedReasons:
        if not task.study.linking_plan.asks_unlinked:
            raise TaskRefused("not_asked", _("This is not asked about here."))
        if not {reason for _line, reason in answer.reasons} <= set(UnlinkedReason.values):
            raise TaskRefused("invalid", _("Reasons are another subtopic, too general or unsupported."))
        if not {line for line, _reason in answer.reasons} <= linkable_numbers(task.item.summary):
            raise TaskRefused("no_such_line", _("The summary has no such bullet."))
        return answer

    def columns(self, task: Any, answer: UnlinkedReasons) -> dict[str, Any]:
        reasons = {str(line): reason for line, reason in answer.reasons}
        return {"summary_id": task.item.summary_id, "reasons": reasons}

    def answer_of(self, label: UnlinkedLabel | None) -> UnlinkedReasons:
        """The reasons in a row; none of None."""
        reasons = label.reasons if label else {}
        return UnlinkedReasons(tuple(sorted((int(line), reason) for line, reason in reasons.items())))

    def in_words(self, task: Any, answer: UnlinkedReasons) -> str:
        """The reasons with the first words of their bullets."""
        summary = task.item.summary
        return ", ".join(f"{quoted(summary, [line])} {reason_in_words(reason)}" for line, reason in answer.reasons)

    def differing(
        self, first: UnlinkedReasons, second: UnlinkedReasons
    ) -> tuple[UnlinkedReasons, UnlinkedReasons]:
        """The reasons that differ."""
        same = {*first.reasons} & {*second.reasons}

        def rest(answer: UnlinkedReasons) -> UnlinkedReasons:
            return UnlinkedReasons(tuple(each for each in answer.reasons if each not in same))

        return rest(first), rest(second)


UNLINKED = Unlinked()


def bullets_in_words(summary: Summary, answer: UnlinkedReasons) -> str:
    """The bullets that have a reason, each on a line."""
    reasons = dict(answer.reasons)
    shown = (bullet for bullet in bullets_of(summary) if bullet.number in reasons)
    return "\n".join(bullet.text for bullet in shown)


def rows_of(task: LabelTask, bullets: list[Bullet]) -> list[tuple[Bullet, str]]:
    """The bullets of a task with the reason that this annotator gave for each, for its page; one query."""
    reasons = dict(UNLINKED.current(task).reasons)
    return [(bullet, reasons.get(bullet.number, "")) for bullet in bullets]


@dataclass(frozen=True, slots=True)
class UnlinkedBullet:
    """A bullet that one person linked to no insight, in a task that is done; without a reason it is empty."""

    annotator: int
    summary: Summary
    line: int
    reason: str
    guideline_version: int | None
    made_at: datetime | None


def unlinked_of(study: Study) -> Iterator[UnlinkedBullet]:
    """All of a study, without training; three queries."""
    linked: dict[tuple[int, int], set[int]] = defaultdict(set)
    labels = study.coveragelabels.for_figures()
    for person, summary, lines in labels.values_list("annotator_id", "summary_id", "lines"):
        linked[person, summary].update(lines)
    answers = {
        row.task_id: row for row in study.unlinkedlabels.filter(is_current=True).select_related("guideline")
    }
    tasks = study.label_tasks.filter(state=LabelTask.State.DONE).exclude(item__role=LabelItem.Role.TRAINING)
    for task in tasks.select_related("item__summary__system", "item__summary__subtopic__haystack"):
        summary, row = task.item.summary, answers.get(task.pk)
        reasons = dict(UNLINKED.answer_of(row).reasons)
        for line in sorted(linkable_numbers(summary) - linked[task.annotator_id, summary.pk]):
            reason = reasons.get(line, "")
            version = row.guideline.version if reason and row and row.guideline else None
            made_at = row.made_at if reason and row else None
            yield UnlinkedBullet(task.annotator_id, summary, line, reason, version, made_at)
